"""A small HTTP server that Label Studio calls: for the webhook and the backend. It listens on loopback,
unless it is told to listen elsewhere.

Callers must know the secret, which is compared in constant time before anything is read. Bodies have a limit,
so has the time for a request, and so has the number of callers at once. Nothing of a request is ever logged,
and a caller that breaks off disturbs nobody.
"""

import hmac
import json
import socket
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from annotation.keys import Connection, clean_url, is_loopback
from toolkit.errors import WarmkitError

HOST = "127.0.0.1"
USER = "warmkit"  # the secret is the password of HTTP's basic authentication: Label Studio can send that
SLOW = 10.0  # seconds that a caller may take for its next byte
SLOWEST = 60.0  # seconds that it may take for its whole request
MOST_CALLERS = 64  # at once; Label Studio is one

Answer = Callable[[str, str, Any], "dict[str, Any] | None"]  # method, path, body → body; None: 404


def authorization(secret: str) -> str:
    """The header that authorizes a request."""
    return "Basic " + b64encode(f"{USER}:{secret}".encode()).decode()


@dataclass(frozen=True)
class Listen:
    """Where to listen, and the URL at which Label Studio reaches that: a proxy with https, for instance."""

    host: str = HOST
    port: int = 0
    public_url: str | None = None

    def check(self, connection: Connection) -> None:
        """Raise an error if the server of this connection can't reach it."""
        if self.public_url is not None:
            clean_url(self.public_url)
        elif is_loopback(self.host) and not connection.is_local:
            raise WarmkitError(
                f"{connection.url}: it can't reach this machine: warmkit listens on loopback alone.",
                "not-reachable",
            )
        elif self.host in ("0.0.0.0", "::"):
            raise WarmkitError(
                f"{self.host} is every address of this machine: which of them reaches it is not known.",
                "not-reachable",
            )

    @property
    def warning(self) -> str | None:
        """What the user should know about who can listen in."""
        url = self.public_url or f"http://{self.host}"
        if url.startswith("https://") or is_loopback(urlsplit(url).hostname or ""):
            return None
        return f"{url} is plain http: whoever is on the way can read what is sent, and the secret."


LOOPBACK = Listen()


@contextmanager
def listening(answer: Answer, secret: str, largest: int, listen: Listen = LOOPBACK) -> Iterator[str]:
    """Answers requests while the block runs; gives the URL at which others reach it."""

    class Handler(_Handler):
        pass

    Handler.answer, Handler.expected, Handler.largest = staticmethod(answer), authorization(secret), largest
    try:
        server = _Server((listen.host, listen.port), Handler)
    except OSError as error:
        place = f"Port {listen.port}" + ("" if listen.host == HOST else f" of {listen.host}")
        raise WarmkitError(f"{place} can't be used: {error.strerror}. Take another one.") from None
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield clean_url(listen.public_url or f"http://{listen.host}:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    request_queue_size = MOST_CALLERS

    def __init__(self, address: tuple[str, int], handler: type["_Handler"]) -> None:
        self._callers = threading.BoundedSemaphore(MOST_CALLERS)
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._callers.acquire(blocking=False):
            return self.shutdown_request(request)
        try:
            return super().process_request(request, client_address)
        except RuntimeError:  # no more threads
            self._callers.release()
            return self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._callers.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that breaks off is its own affair: nothing is printed."""


class _Handler(BaseHTTPRequestHandler):
    answer: Answer
    expected: str
    largest: int
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "warmkit", ""
    timeout = SLOW

    def setup(self) -> None:
        super().setup()
        self._watch = threading.Timer(SLOWEST, self._cut_off)
        self._watch.daemon = True
        self._watch.start()

    def _cut_off(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)

    def finish(self) -> None:
        self._watch.cancel()
        super().finish()

    def log_message(self, *_: object) -> None:
        """Requests carry texts, and once a key: none of it is written anywhere."""

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        self.close_connection = True  # an unread body must not become the next request
        given = self.headers.get("Authorization") or ""
        if not hmac.compare_digest(given.encode("latin-1", "replace"), self.expected.encode()):
            return self._send(401, {"error": "The secret is wrong."})
        length = self.headers.get("Content-Length") or "0"
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            return self._send(411, {"error": "The length of the body is missing."})
        if len(length) > len(str(self.largest)) or int(length) > self.largest:
            return self._send(413, {"error": "The body is too large."})
        read = self.rfile.read(int(length))
        self._watch.cancel()
        try:
            body = json.loads(read) if read else None
        except (ValueError, RecursionError):
            return self._send(400, {"error": "The body is not JSON."})
        try:
            found = type(self).answer(self.command, self.path.partition("?")[0], body)
        except WarmkitError as error:
            return self._send(400, {"error": str(error)})
        except Exception as error:  # the caller gets an answer, but not the text of the error
            return self._send(500, {"error": f"It failed: {type(error).__name__}."})
        return self._send(404 if found is None else 200, found or {"error": "There is no such page."})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        written = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(written)
