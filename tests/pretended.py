"""A server on loopback that speaks as much of Label Studio's API as warmkit uses, and lies as a test wants.

    studio = PretendedStudio()
    with serving(studio) as url:
        studio.lie = lambda method, path, honest: {"tasks": None} if path == "/api/tasks/" else honest

It stands for servers that no real Label Studio can play: what holds of the real one is in tests/integration.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from annotation.backend import attached
from annotation.check import examine, who
from annotation.client import Client
from annotation.keys import Connection
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.reconcile import reconcile
from annotation.store import TaskStore
from annotation.webhook import webhook
from toolkit.annotators.questions import Question, ShownCandidate

KEY = "0123456789abcdef0123456789abcdef01234567"
REFRESH = "eyJhbGciOiJIUzI1NiJ9.eyJ0b2tlbl90eXBlIjoicmVmcmVzaCJ9.c2lnbmF0dXJl"  # a personal access token
TIME = "2026-01-02T03:04:05.678901Z"
PROJECT = 7
NO_CONTENT = object()


class Raw(NamedTuple):
    """Bytes that are sent instead of an answer. If it `hangs`, nothing follows while the test runs."""

    sent: bytes
    hangs: bool = False


Lie = Callable[[str, str, Any], Any]  # method, path, what is true → what is sent, or Raw


def question(name: str) -> Question:
    text = f"Neha had 76 books ({name}). She gave 25 away. How many are left?"
    candidates = (ShownCandidate("76 - 25", "N0 - N1"),)
    return Question(name, 1, text, 51.0, "en", (Fraction(76), Fraction(25)), candidates, confidence=0.4)


class PretendedStudio:
    """One project. `annotate` is what a person does."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """An empty server that tells the truth."""
        self.project: dict[str, Any] | None = None
        self.tasks: dict[int, dict[str, Any]] = {}
        self.lie: Lie = lambda method, path, honest: honest
        self.asked: list[tuple[str, str, str | None]] = []  # method, path, authorization

    def annotate(self, task: int, equation: str = "76 - 25") -> None:
        value = [{"from_name": "equation", "to_name": "problem", "value": {"text": [equation]}}]
        made = {"id": 100 + task, "result": value, "completed_by": 1, "was_cancelled": False}
        self.tasks[task]["annotations"] = [{**made, "created_at": TIME, "updated_at": TIME, "lead_time": 4.5}]

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        match method, [part for part in path.split("/") if part]:
            case "GET", ["api", "version"]:
                return {"release": "1.23.2", "edition": "Community"}
            case "GET", ["api", "current-user", "whoami"]:
                return {"id": 1, "email": "ann@example.com", "permissions": ["projects.create"]}
            case "POST", ["api", "token", "refresh"]:
                return {"access": "eyJhIjoxfQ.eyJiIjoxfQ.c2lnbmVk"}
            case "GET", ["api", "users"]:
                return [{"id": 1, "email": "ann@example.com"}]
            case "GET", ["api", "webhooks" | "ml"]:
                return [{"id": 4, "url": "http://127.0.0.1:9/warmkit-wake-up", "title": "warmkit"}]
            case "POST", ["api", "webhooks" | "ml"]:
                return {"id": 5}
            case "POST", ["api", "projects"]:
                self.project = {"id": PROJECT, "created_at": TIME, **body}
                return self.project
            case "GET", ["api", "projects"]:
                known = [self.project] if self.project else []
                return {"results": [{"id": PROJECT, "description": one["description"]} for one in known]}
            case "GET", ["api", "projects", "counts"]:
                return {"results": [self._counts()]}
            case "PATCH", ["api", "projects", _]:
                self.project = {**(self.project or {}), **body}
                return self.project
            case "GET", ["api", "projects", _]:
                return self.project
            case "POST", ["api", "projects", _, "import"]:
                first = max(self.tasks, default=10) + 1
                for number, task in enumerate(body, first):
                    self.tasks[number] = {"id": number, "data": task["data"], "annotations": []}
                return {"task_count": len(body), "task_ids": list(range(first, first + len(body)))}
            case "GET", ["api", "tasks"]:
                return {"tasks": self._listed(json.loads(query["query"]), query["include"].split(","))}
            case "DELETE", ["api", "tasks", number]:
                self.tasks.pop(int(number), None)
                return NO_CONTENT
            case "DELETE", _:
                return NO_CONTENT
        return {}

    def _counts(self) -> dict[str, Any]:
        annotated = sum(len(task["annotations"]) for task in self.tasks.values())
        counts = {"task_number": len(self.tasks), "total_annotations_number": annotated}
        return {"id": PROJECT, **counts, "skipped_annotations_number": 0}

    def _listed(self, query: dict[str, Any], include: list[str]) -> list[dict[str, Any]]:
        found = [
            {**task, "total_annotations": len(task["annotations"]), "cancelled_annotations": 0}
            for _, task in sorted(self.tasks.items())
        ]
        for item in query["filters"]["items"]:
            column = item["filter"].removeprefix("filter:tasks:")
            if item["type"] == "Number":
                found = [task for task in found if task[column] > item["value"]]
        return [{name: task[name] for name in include if name in task} for task in found]


@contextmanager
def serving(studio: PretendedStudio) -> Iterator[str]:
    """The URL of the server, while the block runs."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def log_message(self, *_: object) -> None:
            pass

        def _handle(self) -> None:
            given = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            studio.asked.append((self.command, parts.path, self.headers.get("Authorization")))
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            honest = studio.answer(self.command, parts.path, query, json.loads(given) if given else None)
            sent = studio.lie(self.command, parts.path, honest)
            with suppress(OSError):  # the client may have had enough
                self._send(sent)

        def _send(self, sent: object) -> None:
            if isinstance(sent, Raw):
                self.wfile.write(sent.sent)
                self.wfile.flush()
                self.close_connection = True
                if sent.hangs:
                    over.wait()
                return
            written = b"" if sent is NO_CONTENT else json.dumps(sent).encode()
            self.send_response(204 if sent is NO_CONTENT else 200)
            self.send_header("Content-Type", "application/json")
            if sent is not NO_CONTENT:
                self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        do_GET = do_POST = do_PATCH = do_DELETE = _handle

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            over.set()
            server.shutdown()
            thread.join()


def http(body: bytes, status: str = "200 OK", *headers: str) -> Raw:
    """An answer with this body, byte for byte."""
    head = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return Raw("\r\n".join(head).encode() + body)


def no_sleep(seconds: float) -> None:
    pass


def client_of(url: str, key: str = KEY, timeout: float = 20.0) -> Client:
    return Client(Connection(url, key), timeout, no_sleep)


def rows(store: TaskStore) -> set[tuple[Any, ...]]:
    """All that a store has ever written down."""
    tables = {
        "questions": "problem_id, round, attempt, text, candidates",
        "tasks": "task_id, problem_id, round, attempt",
        "annotations": "annotation_id, task_id, annotator, updated_at, result",
    }
    return {
        (table, *row)
        for table, columns in tables.items()
        for row in store._db.execute(f"SELECT {columns} FROM {table}")
    }


def make(client: Client, store: TaskStore) -> None:
    with closing(TaskStore(store.folder / uuid4().hex)) as new:
        new.mark()  # as after a kill
        ensure_project(client, new, "title")


def opened(context: AbstractContextManager[object]) -> None:
    with context:
        pass


# What warmkit does with a server.
STEPS: dict[str, Callable[[Client, TaskStore], object]] = {
    "connect": lambda client, store: (who(client), examine(client)),
    "make": make,
    "open": lambda client, store: ensure_project(client, store, "title"),
    "push": lambda client, store: push(client, store, [question(uuid4().hex)], sleep=no_sleep),
    "pull": pull,
    "reconcile": reconcile,
    "webhook": lambda client, store: opened(webhook(client, 7)),
    "backend": lambda client, store: opened(attached(client, 7, "http://127.0.0.1:9", "secret")),
}
