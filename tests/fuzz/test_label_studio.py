"""Label Studio at random: its answers to warmkit, and what calls the listener.

An answer of any shape is a result or a sentence, and nothing recorded is lost. The listener goes on.
"""

import json
import random
import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from copy import deepcopy
from functools import reduce
from http.client import HTTPConnection
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pretended import KEY, REFRESH, STEPS, PretendedStudio, Raw, client_of, http, question, rows, serving

from annotation.backend import Backend
from annotation.listener import authorization, listening
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.store import TaskStore
from annotation.summary import AnnotationSummary
from toolkit.equations import DEFAULT_CONSTANTS
from toolkit.errors import WarmkitError

ODD = (
    *(None, True, False, 0, -1, 1, 7, 11, 12, 10**30, -(10**30), 2**63, 1e308, float("nan"), float("inf")),
    *(
        "",
        "x",
        "7",
        "\ud800",
        "\x1b[2J",
        "x" * 100_000,
        "<script>",
        KEY,
        "2026-01-01",
        "0001-01-01T00:00:00+14:00",
    ),
    *("9999-12-31T23:59:59-14:00", [], {}, [None], [[]], {"id": 1}, json.loads("[" * 300 + "]" * 300)),
)
STATUS = (
    "200 OK",
    "204 No Content",
    "302 Found",
    "400 Bad",
    "401 No",
    "404 Not Found",
    "409 Conflict",
    "503 Busy",
)
HEADERS = (
    *("Content-Type: text/html", "Content-Encoding: gzip", "Location: http://127.0.0.1:9/", "Date: soon"),
    *("Set-Cookie: a=b; expires=never; domain=..", "Date: Fri, 31 Dec 9999 23:59:59 GMT", "X: \x80"),
)


def places(value: object, path: tuple = ()) -> Iterator[tuple]:
    """The path of each part of a value."""
    yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


def changed(rng: random.Random, value: object) -> object:
    """A value with one change somewhere in it."""
    value = deepcopy(value)
    *path, last = rng.choice([path for path in places(value) if path] or [(None,)])
    if last is None:
        return odd(rng, value)
    part = reduce(getitem, path, value)
    part[last] = odd(rng, part[last])
    if rng.random() < 0.1:
        del part[last]
    return value


def odd(rng: random.Random, value: object) -> object:
    if isinstance(value, list) and value and rng.random() < 0.7:
        return rng.choice((value[1:], value + value, value[::-1], rng.sample(value, len(value))))
    if isinstance(value, int | float) and rng.random() < 0.3:
        return value + rng.choice((-1, 1, 0.5, 10**6))
    if isinstance(value, str) and rng.random() < 0.3:
        place = rng.randrange(len(value) + 1)
        return value[:place] + rng.choice(("\ud800", "9", "\0", "é")) + value[place + 1 :]
    return rng.choice(ODD)


def damaged(rng: random.Random, value: object) -> Raw:
    """The bytes of an answer with some of them wrong."""
    body = bytearray(json.dumps(value).encode())
    for _ in range(rng.randrange(4)):
        body[rng.randrange(len(body))] = rng.randrange(256)
    sent = bytearray(http(bytes(body), rng.choice(STATUS), rng.choice(HEADERS)).sent)
    if rng.random() < 0.3:
        sent[rng.randrange(len(sent))] = rng.randrange(256)
    return Raw(bytes(sent[: rng.randrange(len(sent))] if rng.random() < 0.2 else sent))


def lies(rng: random.Random):
    share = rng.choice((0.05, 0.2, 0.6))

    def lie(method: str, path: str, honest: object) -> object:
        if rng.random() > share or not isinstance(honest, dict | list):
            return honest
        for _ in range(rng.choice((1, 1, 1, 3))):
            honest = changed(rng, honest)
        return damaged(rng, honest) if rng.random() < 0.15 else honest

    return lie


@pytest.fixture
def studio():
    return PretendedStudio()


def test_an_answer_of_any_shape_is_a_sentence_or_a_result(cases, studio):
    with serving(studio) as url:
        for rng in cases(60):
            studio.reset()
            with (
                TemporaryDirectory() as folder,
                closing(TaskStore(Path(folder))) as store,
                client_of(url) as client,
            ):
                store._db.execute("PRAGMA synchronous = OFF")
                ensure_project(client, store, "title")
                push(client, store, [question(name) for name in "abc"])
                studio.annotate(11)
                studio.annotate(12)
                pull(client, store)
                before = rows(store)
                studio.annotate(13)
                studio.lie = lies(rng)
                client.connection = type(client.connection)(url, rng.choice((KEY, KEY, KEY, REFRESH)))
                for name in rng.choices(list(STEPS), k=6):
                    try:
                        STEPS[name](client, store)
                    except WarmkitError as error:
                        assert url in str(error) and client.connection.key not in str(error)
                        assert len(str(error)) < 1_000
                assert before <= rows(store)
                summary = AnnotationSummary(store, DEFAULT_CONSTANTS)
                assert summary.status().tasks >= 0 and summary.table() is not None


def request(rng: random.Random) -> bytes:
    """A request to the listener, changed at random."""
    body = json.dumps(changed(rng, {"tasks": [{"data": {"problem": "a 1", "answer": 2}}]})).encode()
    head = [
        f"{rng.choice(('GET', 'POST', 'PUT', ''))} {rng.choice(('/', '/predict', '/setup'))} HTTP/1.1",
        f"Authorization: {authorization(rng.choice(('sesame', 'sesame', 'wrong')))}",
        f"Content-Length: {rng.choice((len(body), len(body), 0, -1, 10**6, '9' * 5_000))}",
        *rng.choices(HEADERS, k=rng.randrange(3)),
    ]
    sent = bytearray("\r\n".join([*head, "", ""]).encode("latin-1") + body)
    for _ in range(rng.choice((0, 0, 1, 5))):
        sent[rng.randrange(len(sent))] = rng.randrange(256)
    return bytes(sent[: rng.randrange(len(sent))] if rng.random() < 0.2 else sent)


class Suggester:
    version = "1"

    def refresh(self) -> None:
        pass

    def __call__(self, texts, answers):
        return [("1 + 1", 0.5) for _ in texts]


def test_no_caller_stops_the_listener_or_makes_it_talk(cases, capfd):
    with listening(Backend(Suggester(), {}).answer, "sesame", 100_000) as url:
        place = ("127.0.0.1", int(url.rpartition(":")[2]))
        headers = {"Authorization": authorization("sesame")}
        for rng in cases(150):
            with socket.create_connection(place, timeout=60) as caller, suppress(OSError):
                caller.sendall(request(rng))
                if rng.random() < 0.8:
                    caller.shutdown(socket.SHUT_WR)
                    while caller.recv(65536):
                        pass
            with closing(HTTPConnection(*place, timeout=60)) as honest:
                honest.request("GET", "/health", headers=headers)
                assert honest.getresponse().status == 200
    assert capfd.readouterr().err == ""
