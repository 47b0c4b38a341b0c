"""A proxy on loopback between a client and a real server, that fails on demand.

with Proxy(label_studio.url) as proxy:
    proxy.fail("lose", method="POST", path="/import")    # the next one arrives, its answer does not
    ...
    assert proxy.count("POST", "/import") == 1
"""

import threading
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, get_args
from urllib.parse import urlsplit

How = Literal[
    "drop",  # the connection closes before anything reaches the server
    "lose",  # the server does it, the answer is lost
    "cut",  # the server does it, the answer ends in its middle
    "double",  # the server does it twice
    "delay",  # the server does it late: after some seconds, or when the proxy lets go of it
    "502",  # a gateway says that the server is down; nothing reaches it
    "429",  # the server is too busy
    "302",  # go elsewhere
]
HOPS = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "server", "date"}


@dataclass
class Fault:
    how: How
    method: str | None
    path: str
    after: int  # so many requests of this kind pass first
    times: int  # how often it strikes
    seconds: float  # of a delay

    def strikes(self, method: str, path: str) -> bool:
        if self.times <= 0 or self.method not in (None, method) or self.path not in path:
            return False
        if self.after > 0:
            self.after -= 1
            return False
        self.times -= 1
        return True


class Proxy:
    """Passes everything on, until it is told to fail. `seen` holds method and path of each request.

    With a prefix, the server seems to live below that path.
    """

    def __init__(self, target: str, prefix: str = "") -> None:
        self.target = urlsplit(target)
        self.seen: list[tuple[str, str]] = []
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self.let_go = threading.Event()
        handler = type("Handler", (_Handler,), {"proxy": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = False  # closing waits for those at work
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.prefix = prefix
        self.url = f"http://127.0.0.1:{self._server.server_port}{prefix}"

    def __enter__(self) -> "Proxy":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def fail(
        self,
        how: How,
        method: str | None = None,
        path: str = "",
        after: int = 0,
        times: int = 1,
        seconds: float = 1.0,
    ) -> None:
        """The next `times` requests of a method (any) whose path has `path` in it fail, `after` some."""
        assert how in get_args(How)
        with self._lock:
            self._faults.append(Fault(how, method, path, after, times, seconds))

    def heal(self) -> None:
        with self._lock:
            self._faults.clear()

    def count(self, method: str, path: str = "") -> int:
        return sum(method == seen and path in url for seen, url in self.seen)

    def fault(self, method: str, path: str) -> Fault | None:
        with self._lock:
            self.seen.append((method, path))
            return next((fault for fault in self._faults if fault.strikes(method, path)), None)


class _Handler(BaseHTTPRequestHandler):
    proxy: Proxy
    protocol_version = "HTTP/1.1"
    timeout = 10  # seconds that a connection may idle

    def log_message(self, *_: object) -> None:
        pass

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.proxy.fault(self.command, self.path)
        how = fault.how if fault else None
        if how == "drop":
            self.close_connection = True
        elif how in ("502", "429", "302"):
            headers = [("Content-Type", "text/html"), ("Location", "http://127.0.0.1:9/elsewhere")]
            self._answer(int(how), headers, f"<h1>{how} from a gateway</h1>".encode())
        else:
            if fault and how == "delay":
                self.proxy.let_go.wait(fault.seconds)
            if how == "double":
                self._ask(body)
            status, headers, answer = self._ask(body)
            if how == "lose":
                self.close_connection = True
            else:
                self._answer(status, headers, answer, len(answer) // 2 if how == "cut" else None)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _handle

    def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        target = self.proxy.target
        upstream = HTTPConnection(target.hostname or "", target.port)
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOPS}
            path = self.path.removeprefix(self.proxy.prefix)
            upstream.request(self.command, path, body, {**headers, "Accept-Encoding": "identity"})
            response = upstream.getresponse()
            kept = [(name, value) for name, value in response.getheaders() if name.lower() not in HOPS]
            return response.status, kept, response.read()
        finally:
            upstream.close()

    def _answer(
        self, status: int, headers: list[tuple[str, str]], body: bytes, cut: int | None = None
    ) -> None:
        with suppress(OSError):  # the client may have given up
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:cut])
        if cut is not None:
            self.close_connection = True
