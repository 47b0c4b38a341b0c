"""The listener among callers that mean no good: it goes on serving, and is quiet."""

import json
import socket
import struct
import threading
from contextlib import ExitStack, suppress
from http.client import HTTPConnection

import pytest

import annotation.listener
from annotation.backend import Backend
from annotation.listener import MOST_CALLERS, authorization, listening

AUTHORIZED = f"Authorization: {authorization('sesame')}\r\n".encode()
LARGEST = 1_000_000


class Listener:
    """Callers of a listener that says hello to everybody who knows the secret."""

    def __init__(self, url):
        self.port = int(url.rpartition(":")[2])

    def call(self, body=b"{}"):
        caller = HTTPConnection("127.0.0.1", self.port, timeout=60)
        caller.request("POST", "/here", body, {"Authorization": authorization("sesame")})
        answer = caller.getresponse()
        said = answer.read()
        caller.close()
        return answer.status, json.loads(said)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def send(self, sent):
        """What it answers to these bytes, up to where it hangs up."""
        answer = bytearray()
        with self.connect() as caller, suppress(OSError):
            caller.sendall(sent)
            caller.shutdown(socket.SHUT_WR)
            while part := caller.recv(65536):
                answer += part
        return bytes(answer)


@pytest.fixture
def listener(capfd):
    with listening(lambda method, path, body: {"hello": body}, "sesame", LARGEST) as url:
        listener = Listener(url)
        yield listener
        assert listener.call(b"[1]") == (200, {"hello": [1]})  # whatever happened before
    assert capfd.readouterr() == ("", "")


POST = b"POST /here HTTP/1.1\r\n" + AUTHORIZED


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # somebody tries TLS
        b"GET",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost",
        b"\xff" * 1_000 + b"\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"DELETE /here HTTP/1.1\r\n\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n: \r\nno colon\r\n\x00: \x00\r\n\r\n",
        POST + b"\r\n",
        POST + b"Content-Length: 5\r\n\r\n{",
        POST + b"Content-Length: -5\r\n\r\n",
        POST + b"Content-Length: 1e9\r\n\r\n",
        POST + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n",
        POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n",
        POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
        POST + b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
        POST + b"Content-Length: 5000\r\n\r\n" + b"9" * 5_000,
        POST + b"Content-Length: 8\r\n\r\n" + b'"\\ud800"',
    ],
    ids=range(24),
)
def test_no_request_is_its_end(listener, sent):
    assert b"Traceback" not in listener.send(sent)


def test_callers_that_hang_up_are_no_trouble(listener):
    reset = struct.pack("ii", 1, 0)
    for sent in (b"", b"GET / HT", POST + b"Content-Length: 9\r\n\r\n{", POST + b"\r\n"):
        for _ in range(5):
            with listener.connect() as caller:
                caller.sendall(sent)
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)


def test_more_callers_than_it_takes_are_turned_away_and_the_others_served(listener):
    with ExitStack() as crowd:
        callers = [crowd.enter_context(listener.connect()) for _ in range(MOST_CALLERS + 20)]
        turned_away = sum(caller.recv(1) == b"" for caller in callers[MOST_CALLERS:])
        assert turned_away == 20
        for caller in callers[:MOST_CALLERS]:
            caller.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert all(caller.recv(12) == b"HTTP/1.1 401" for caller in callers[:MOST_CALLERS])
    while listener.send(b"GET / HTTP/1.1\r\n\r\n") == b"":  # until it has noticed that they are gone
        pass


@pytest.mark.parametrize("start", [b"GET / HTTP/1.1\r\n", POST + b"Content-Length: 500000\r\n\r\n"])
def test_a_caller_that_trickles_is_cut_off(listener, start, monkeypatch):
    monkeypatch.setattr(annotation.listener, "SLOWEST", 0.5)
    over = threading.Event()
    with listener.connect() as caller:
        caller.sendall(start)

        def trickle():
            with suppress(OSError):
                while not over.wait(0.02):
                    caller.sendall(b"x")

        thread = threading.Thread(target=trickle)
        thread.start()
        with suppress(ConnectionResetError):
            while caller.recv(4096):
                pass
        over.set()
        thread.join()


def test_a_caller_that_says_nothing_is_cut_off(listener, monkeypatch):
    monkeypatch.setattr(annotation.listener._Handler, "timeout", 0.1)
    with listener.connect() as caller:
        assert caller.recv(1) == b""


class Suggester:
    version = "1"

    def refresh(self):
        pass

    def __call__(self, texts, answers):
        assert all(text.isprintable() for text in texts)
        return [("1 + 1", 0.5) for _ in texts]


@pytest.mark.parametrize(
    "fields",
    [
        *({"problem": "a", "answer": value} for value in (10**400, float("nan"), float("-inf"), "1", None)),
        *({"problem": value, "answer": 1} for value in (None, [], 5, "", " ", "x" * 20_001)),
    ],
    ids=range(11),
)
def test_a_task_of_any_shape_gets_an_answer_beside_the_others(fields):
    tasks = [{"data": fields}, {"data": {"problem": "a \ud800 \x1b[2J", "answer": 2}}]
    found = Backend(Suggester(), {}).answer("POST", "/predict", {"tasks": tasks})
    assert [bool(prediction["result"]) for prediction in found["results"]] == [False, True]
