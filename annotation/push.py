"""Questions to the server: each once, whatever breaks on the way.

What is about to be sent is written down first. A write is never repeated blindly: when its outcome is not
known, what the server has is read, and only what is missing is sent. That is also how a push begins after
a kill, or when the server's count is not ours.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotation.book import Book
from annotation.client import Client, Gone, Unreachable
from annotation.project import gone, set_model_version
from annotation.reconcile import reconcile
from annotation.tasks import Key, key_of, model_version, task_of
from annotation.wire import answered, counts
from toolkit.errors import WarmkitError
from toolkit.loop.annotator import Question

CHUNK = 1_000  # tasks of one request: each costs the server a while, and yet a bar should move
TRIES = 4


@dataclass(frozen=True)
class Pushed:
    sent: int
    there: int  # were on the server already
    warnings: tuple[str, ...] = ()


def push(
    client: Client,
    book: Book,
    questions: Sequence[Question],
    on_chunk: Callable[[int], object] = lambda count: None,
    sleep: Callable[[float], None] = time.sleep,
    chunk: int = CHUNK,
) -> Pushed:
    """Make a task of each question that has none."""
    project = book.project
    if project is None:
        raise WarmkitError(f"{book.folder}: it has no project yet.")
    wanted = {key_of(question): question for question in questions}
    try:
        with book.lock():
            warnings: list[str] = []
            if not _is_settled(client, book, project):
                warnings += reconcile(client, book)[0]
            sent = book.sent()
            missing = [question for key, question in wanted.items() if key not in sent]
            book.ask(missing)
            for first in range(0, len(missing), chunk):
                part = missing[first : first + chunk]
                _send(client, book, project, part, sleep)
                on_chunk(len(part))
            if missing:
                after, _ = counts(client, project)
                if after[0] != book.count_tasks():  # one was doubled on the way, or others are at work
                    warnings += reconcile(client, book)[0]
            if wanted:
                set_model_version(client, book, model_version(max(key.round for key in wanted)))
    except Gone:
        raise gone(client, book) from None
    return Pushed(len(missing), len(wanted) - len(missing), tuple(warnings))


def _is_settled(client: Client, book: Book, project: int) -> bool:
    """Whether the book knows what the server has: nothing yet, or as many tasks as there are."""
    count = book.count_tasks()
    return not book.is_unsure() and (not count or counts(client, project)[0][0] == count)


def _send(
    client: Client, book: Book, project: int, questions: Sequence[Question], sleep: Callable[[float], None]
) -> None:
    left = {key_of(question): question for question in questions}
    for attempt in range(TRIES):
        try:
            ids = _import(client, project, list(left.values()))
        except Unreachable:
            if attempt == TRIES - 1:
                raise
            sleep(0.5 * 2**attempt)
            ids = []
        if len(ids) == len(left):
            with book.transaction():
                book.add_tasks(dict(zip(ids, left, strict=True)))
            return
        reconcile(client, book)
        sent = book.sent()
        left = {key: question for key, question in left.items() if key not in sent}
        if not left:
            return
    raise Unreachable(f"{client.url}: {len(left)} tasks don't arrive in project {project}.")


def _import(client: Client, project: int, questions: Sequence[Question]) -> list[int]:
    """The ids of the new tasks, in order; none where the server imports in its own time."""
    answer = answered(
        client,
        f"sending {len(questions)} tasks to project {project}",
        "POST",
        f"api/projects/{project}/import",
        params={"return_task_ids": "true"},
        json=[task_of(question) for question in questions],
    )
    return list(answer.get("task_ids") or ())


def missing_keys(book: Book, questions: Sequence[Question]) -> list[Key]:
    """What a push would send, as far as the book knows."""
    sent = book.sent()
    return [key for key in dict.fromkeys(map(key_of, questions)) if key not in sent]
