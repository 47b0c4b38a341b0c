"""The book against the server, task by task: what is there, what is gone, what is there twice."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from annotation.book import Book
from annotation.client import Client, Gone
from annotation.tasks import Key, Raw, key_in
from annotation.wire import request, tasks

FIELDS = ("id", "data", "total_annotations", "cancelled_annotations")


def reconcile(client: Client, book: Book) -> tuple[list[str], dict[int, tuple[int, int]]]:
    """Make the book say which tasks the server has. Warnings for people, and how many annotations and skips
    each task has.

    Tasks that were not recorded are, deleted ones are taken out with what was said in them. Of several
    tasks of one key the first counts; the others are removed where nobody has annotated them yet.
    """
    project = book.project
    assert project is not None
    listed = {task["id"]: task for task in tasks(client, project, FIELDS)}
    found = {number: key_in(task.get("data")) for number, task in listed.items()}
    first: dict[Key, int] = {}
    for number, key in found.items():
        if key is None:
            continue
        empty = not listed[number].get("total_annotations") and not listed[number].get(
            "cancelled_annotations"
        )
        if first.setdefault(key, number) != number and empty:
            with suppress(Gone):
                request(
                    client, f"removing task {number}, which is there twice", "DELETE", f"api/tasks/{number}/"
                )
            listed.pop(number)
    known = book.tasks()
    lost = [number for number in known if number not in listed]
    with book.transaction():
        book.add_tasks({number: found[number] for number in listed if number not in known})
        book.remove_tasks(lost)
        book.add(withdrawn(raw for raw in book.latest().values() if raw.task_id not in listed))
    counted = {
        number: (int(task.get("total_annotations") or 0), int(task.get("cancelled_annotations") or 0))
        for number, task in listed.items()
    }
    return [_sentence(client, number, key) for number in lost if (key := known[number])], counted


def withdrawn(rows: Iterable[Raw]) -> list[Raw]:
    """The rows that say that these annotations were deleted."""
    now = datetime.now(UTC).isoformat()
    return [replace(raw, result=None, updated_at=now) for raw in rows if raw.result is not None]


def _sentence(client: Client, task: int, key: Key) -> str:
    return (
        f"{client.url}: task {task} (problem {key.problem_id}) was deleted; what was said in it counts no "
        "more. It is asked again if its round still waits for it."
    )
