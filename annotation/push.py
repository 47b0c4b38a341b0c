"""Questions to the server: each once, whatever fails on the way.

Questions are stored before they are sent. A write is never repeated blindly: if its result is not known, the
tasks of the server are listed, and only the missing ones are sent. A push also begins so after a kill, or if
the server has another number of tasks than the store.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotation.answers import Imported
from annotation.api import project_counts
from annotation.client import Client, Gone, Unreachable
from annotation.interface import fits_page
from annotation.overlap import set_overlaps
from annotation.project import gone, set_model_version
from annotation.reconcile import reconcile
from annotation.store import TaskStore
from annotation.tasks import Key, key_of, model_version, task_of
from toolkit.annotators.questions import Question
from toolkit.errors import WarmkitError

CHUNK = 1_000  # tasks of one request: many, because each request is slow; few, so that a bar moves
TRIES = 4


@dataclass(frozen=True)
class Pushed:
    sent: int
    already_sent: int
    warnings: tuple[str, ...] = ()


def push(
    client: Client,
    store: TaskStore,
    questions: Sequence[Question],
    on_chunk: Callable[[int], object] = lambda count: None,
    sleep: Callable[[float], None] = time.sleep,
    chunk: int = CHUNK,
) -> Pushed:
    """Make a task for each question that has none."""
    project = store.project
    if project is None:
        raise WarmkitError(f"{store.folder}: it has no project yet.")
    wanted = {key_of(question): question for question in questions}
    try:
        with store.lock():
            warnings: list[str] = []
            if not _is_settled(client, store, project):
                warnings += reconcile(client, store)[0]
            sent = store.sent()
            missing = [question for key, question in wanted.items() if key not in sent]
            store.ask(missing)
            for first in range(0, len(missing), chunk):
                part = missing[first : first + chunk]
                _send(client, store, project, part, sleep)
                on_chunk(len(part))
            if missing:
                counts, _ = project_counts(client, project)
                if counts.task_number != store.count_tasks():  # one was sent twice, or others are at work
                    warnings += reconcile(client, store)[0]
            warnings += set_overlaps(client, store, list(wanted.values()))
            if wanted:
                set_model_version(client, store, model_version(max(key.round for key in wanted)))
    except Gone:
        raise gone(client, store) from None
    return Pushed(len(missing), len(wanted) - len(missing), tuple(warnings))


def _is_settled(client: Client, store: TaskStore, project: int) -> bool:
    """Whether the store has the tasks of the server: none yet, or as many as the server has."""
    count = store.count_tasks()
    return not store.is_unsure() and (not count or project_counts(client, project)[0].task_number == count)


def _send(
    client: Client,
    store: TaskStore,
    project: int,
    questions: Sequence[Question],
    sleep: Callable[[float], None],
) -> None:
    left = {key_of(question): question for question in questions}
    for attempt in range(TRIES):
        try:
            joined = bool(store.fact("joined"))
            ids = _import(client, project, list(left.values()), store.mark()[0], joined)
        except Unreachable:
            if attempt == TRIES - 1:
                raise
            sleep(0.5 * 2**attempt)
            ids = []
        if len(ids) == len(left) and store.are_new(ids):
            with store.transaction():
                store.add_tasks(dict(zip(ids, left, strict=True)))
            return
        reconcile(client, store)
        sent = store.sent()
        left = {key: question for key, question in left.items() if key not in sent}
        if not left:
            return
    raise Unreachable(f"{client.url}: {len(left)} tasks don't arrive in project {project}.")


def _import(
    client: Client, project: int, questions: Sequence[Question], source: str, joined: bool
) -> list[int]:
    """The ids of the new tasks, in order; none if the server imports them later."""
    tasks = [task_of(question, source) for question in questions]
    if joined:  # Label Studio would make a project's first prediction its model version
        tasks = [{"data": task["data"]} for task in tasks]
    for question, task in zip(questions, tasks, strict=True):
        if not fits_page(task):
            raise WarmkitError(f"problem {question.problem_id}: its task does not fit the labeling page.")
    answer = client.call(
        f"sending {len(questions)} tasks to project {project}",
        Imported,
        "POST",
        f"api/projects/{project}/import",
        params={"return_task_ids": "true"},
        json=tasks,
    )
    return answer.task_ids or []


def missing_keys(store: TaskStore, questions: Sequence[Question]) -> list[Key]:
    """What a push would send, as far as the store knows."""
    sent = store.sent()
    return [key for key in dict.fromkeys(map(key_of, questions)) if key not in sent]
