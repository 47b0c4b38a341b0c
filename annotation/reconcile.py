"""Compares the task store with the server, task by task: which exist, which are gone, which exist twice."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from annotation.answers import Task
from annotation.api import list_tasks, project_counts
from annotation.client import Client, Gone, Unreachable
from annotation.store import TaskStore
from annotation.tasks import Key, RawAnnotation, key_in


def reconcile(client: Client, store: TaskStore) -> tuple[list[str], dict[int, tuple[int, int]]]:
    """Make the store hold the tasks of the server. Warnings; how many annotations and skips each task has.

    Unknown tasks are added to the store; deleted ones are removed with their annotations. Of several tasks
    with one key the first counts; the others are removed from the server if nobody has annotated them yet.
    """
    project = store.project
    assert project is not None
    listed = {task.id: task for task in list_tasks(client, project, Task)}
    known = store.tasks()
    missing = [number for number in known if number not in listed]
    if missing:
        _check_complete(client, project, len(listed))
    source = store.mark()[0]
    found = {number: key_in(task.data, source) for number, task in listed.items()}
    first: dict[Key, int] = {}
    for number, key in found.items():
        if key is None:
            continue
        task = listed[number]
        empty = not task.total_annotations and not task.cancelled_annotations
        if first.setdefault(key, number) != number and empty:
            with suppress(Gone):
                what = f"removing task {number}, which exists twice"
                client.request(what, "DELETE", f"api/tasks/{number}/")
            listed.pop(number)
    missing = [number for number in known if number not in listed]
    with store.transaction():
        store.add_tasks({number: found[number] for number in listed if number not in known})
        store.remove_tasks(missing)
        store.add(withdrawn(raw for raw in store.latest().values() if raw.task_id not in listed))
    counted = {
        number: (task.total_annotations, task.cancelled_annotations) for number, task in listed.items()
    }
    return [_sentence(client, number, key) for number in missing if (key := known[number])], counted


def _check_complete(client: Client, project: int, listed: int) -> None:
    """Tasks that are missing in a list were deleted, but only if the server counts no more than it lists."""
    counted = project_counts(client, project)[0].task_number
    if counted > listed:
        raise Unreachable(
            f"{client.url}: project {project} has {counted:,} tasks, but only {listed:,} are listed. "
            "Nothing was changed. Try again later."
        )


def withdrawn(rows: Iterable[RawAnnotation]) -> list[RawAnnotation]:
    """Rows that mark these annotations as deleted."""
    now = datetime.now(UTC).isoformat()
    return [replace(raw, result=None, updated_at=now) for raw in rows if raw.result is not None]


def _sentence(client: Client, task: int, key: Key) -> str:
    return (
        f"{client.url}: task {task} (problem {key.problem_id}) was deleted; its annotations no longer "
        "count. It is asked again if its round still waits for it."
    )
