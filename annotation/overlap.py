"""How many people annotate each task, by Label Studio's own setting of a task.

A new task has the number of its project. The loop may want another one: one more after a disagreement, or one
fewer after a skip. A task is offered to people who have not annotated it, until that many have.
"""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress

from annotation.answers import ServerProject
from annotation.client import Client, Gone
from annotation.store import TaskStore
from annotation.tasks import key_of
from toolkit.annotators.questions import Question


def set_overlaps(client: Client, store: TaskStore, questions: Sequence[Question]) -> list[str]:
    """Have each task wait for as many people as its question wants. Returns warnings."""
    warnings = _notice_change(client, store) if any(question.wanted > 1 for question in questions) else []
    tasks, overlaps = store.sent(), store.overlaps()
    people = _people(store)
    for question in questions:
        task = tasks.get(key_of(question))
        if task is None:
            continue
        wanted = len(people[task]) + question.wanted
        if overlaps.get(task, store.fact("per_task")) != wanted:
            with suppress(Gone):
                # Label Studio computes is_labeled when somebody annotates, not when the overlap changes.
                change = {"overlap": wanted, "is_labeled": False}
                what = f"asking {wanted} people about task {task}"
                client.request(what, "PATCH", f"api/tasks/{task}/", json=change)
            with store.transaction():
                store.set_overlaps({task: wanted})
    return warnings


def _people(store: TaskStore) -> dict[int, set[str]]:
    """Who has annotated each task, without those who skipped it."""
    people: dict[int, set[str]] = defaultdict(set)
    for raw in store.latest().values():
        if raw.result is not None and not raw.cancelled:
            people[raw.task_id].add(raw.annotator)
    return people


def _notice_change(client: Client, store: TaskStore) -> list[str]:
    """Somebody who changes the setting of the project changes that of its tasks: they are set again."""
    what = f"opening project {store.project}"
    found = client.call(what, ServerProject, "GET", f"api/projects/{store.project}/")
    before = store.fact("per_task")
    if found.maximum_annotations == before:
        return []
    with store.transaction():
        store.set_fact("per_task", found.maximum_annotations)
        store.set_overlaps(dict.fromkeys(store.tasks(), None))
    return [
        f"{client.url}: project {store.project} now wants {found.maximum_annotations} annotations of a task, "
        f"not {before}. Open tasks keep the number that the run wants."
    ]
