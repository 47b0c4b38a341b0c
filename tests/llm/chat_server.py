"""A real HTTP server of the OpenAI chat protocol, on loopback. It answers as a test tells it to."""

import json
import re
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[dict[str, Any], int], "str | Fault"]  # body and number of a request → what is replied


@dataclass(frozen=True)
class Fault:
    """Something else than a good answer: a status, headers, raw bytes, a pause, a dropped connection."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    pause: float = 0.0
    dropped: bool = False
    endless: bool = False


@dataclass
class ChatServer:
    url: str
    script: Script
    requests: list[dict[str, Any]] = field(default_factory=list)  # bodies, as they came
    keys: list[str | None] = field(default_factory=list)
    together: int = 0  # most requests at a time
    usage: dict[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 50, "completion_tokens": 10}
    )

    def questions(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.requests]


@contextmanager
def chat_server(script: Script):
    lock, now = threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                served.requests.append(body)
                served.keys.append(self.headers.get("Authorization"))
                number = len(served.requests)
                now[0] += 1
                served.together = max(served.together, now[0])
            try:
                self.reply(served.script(body, number))
            finally:
                with lock:
                    now[0] -= 1

        def reply(self, what):
            if isinstance(what, str):
                choice = {
                    "index": 0,
                    "message": {"role": "assistant", "content": what},
                    "finish_reason": "stop",
                }
                answer = {"object": "chat.completion", "choices": [choice], "usage": served.usage}
                what = Fault(body=json.dumps(answer).encode())
            time.sleep(what.pause)
            if what.dropped:
                self.close_connection = True
                return
            self.send_response(what.status)
            for name, value in what.headers.items():
                self.send_header(name, value)
            if what.endless:
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                while True:
                    self.wfile.write(b" " * 2**20)
            self.send_header("Content-Length", str(len(what.body)))
            self.end_headers()
            self.wfile.write(what.body)

        def log_message(self, *arguments):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request, client_address):
            pass  # a client that hangs up

    server = Server(("127.0.0.1", 0), Handler)
    served = ChatServer(f"http://127.0.0.1:{server.server_port}/v1", script)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()


def unmarked(body: Any) -> str:
    """The question of a request, without the marks of its numbers."""
    text: str = body["messages"][-1]["content"]
    return re.sub(r" \[N\d+\]", "", text)


def says(equation: str) -> str:
    return json.dumps({"equation": equation})
