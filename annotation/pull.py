"""Annotations from the server into the task store: only what has changed, and nothing twice.

The cursor of a pull is the server's own time before it lists anything. Annotations and cursor are written
in one transaction: an interrupted pull is repeated and does no harm.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from annotation.answers import AnnotatedTask, Annotation, OddAnswer, User, fitted
from annotation.api import Filter, list_tasks, project_counts
from annotation.client import Client, Gone
from annotation.project import gone
from annotation.reconcile import reconcile, withdrawn
from annotation.store import TaskStore
from annotation.tasks import RawAnnotation, raw_of
from toolkit.errors import WarmkitError

OVERLAP = timedelta(seconds=3)  # a write may show later than its time, which is in whole seconds
ANNOTATED: Filter = ("total_annotations", "greater", "Number", 0)
SKIPPED: Filter = ("cancelled_annotations", "greater", "Number", 0)
BEGINNING = "1970-01-01T00:00:00.000Z"
NOTHING = (0, 0)


@dataclass(frozen=True)
class Pulled:
    new: int  # annotations that were added, changed or deleted
    warnings: tuple[str, ...] = ()


def pull(client: Client, store: TaskStore) -> Pulled:
    """Bring the task store up to date."""
    project = store.project
    if project is None:
        raise WarmkitError(
            f"{store.folder}: nothing was sent to Label Studio yet, so there is nothing to fetch."
        )
    try:
        with store.lock():
            return _pull(client, store, project)
    except Gone:
        raise gone(client, store) from None


def _pull(client: Client, store: TaskStore, project: int) -> Pulled:
    server, now = project_counts(client, project)
    counts = (server.total_annotations_number, server.skipped_annotations_number)
    since: Filter = ("updated_at", "greater", "Datetime", store.fact("cursor") or BEGINNING)
    seen = _Seen(client, store.latest())
    seen.take(list_tasks(client, project, AnnotatedTask, (since, ANNOTATED)))
    if counts[1] != seen.counts()[1]:
        seen.take(list_tasks(client, project, AnnotatedTask, (since, SKIPPED)))
    warnings: list[str] = []
    if (server.task_number, *counts) != (store.count_tasks(), *seen.counts()):  # deleted, or added meanwhile
        warnings, listed = reconcile(client, store)
        seen.withdraw(raw for raw in seen.latest.values() if listed.get(raw.task_id, NOTHING) == NOTHING)
        if seen.by_task() != {number: both for number, both in listed.items() if both != NOTHING}:
            seen.take(list_tasks(client, project, AnnotatedTask, (ANNOTATED,)))
            seen.take(list_tasks(client, project, AnnotatedTask, (SKIPPED,)))
    with store.transaction():
        store.add(seen.rows)
        store.set_fact("cursor", f"{now - OVERLAP:%Y-%m-%dT%H:%M:%S.%fZ}")
    return Pulled(len(seen.rows), (*warnings, *seen.skipped))


class _Seen:
    """The annotations of the task store, and the rows that bring them up to date."""

    def __init__(self, client: Client, latest: dict[int, RawAnnotation]) -> None:
        self.client, self.latest = client, latest
        self.rows: list[RawAnnotation] = []
        self.names: dict[int, str] = {}
        self.skipped: dict[str, None] = {}  # sentences about annotations that can't be used

    def take(self, listed: Iterable[AnnotatedTask]) -> None:
        """Of tasks with all of their annotations: add what is new or changed, withdraw what is gone.

        An annotation that can't be used is skipped. Then nothing of its task is withdrawn: it may be any of
        those that seem gone.
        """
        of_task: dict[int, list[int]] = defaultdict(list)
        for raw in self.latest.values():
            of_task[raw.task_id].append(raw.id)
        for task in listed:
            current = [self._read(item, task.id) for item in task.annotations]
            for annotation in filter(None, current):
                self._add(raw_of(annotation, task.id, self._names(annotation)))
            if None not in current:
                ids = {annotation.id for annotation in filter(None, current)}
                self.withdraw([self.latest[number] for number in of_task[task.id] if number not in ids])

    def _read(self, item: object, task: int) -> Annotation | None:
        try:
            annotation = fitted(Annotation, item)
            before = self.latest.get(annotation.id)
            if before is not None and before.task_id != task:
                raise OddAnswer(f"id: annotation {annotation.id} belongs to task {before.task_id}")
            return annotation
        except OddAnswer as error:
            odd = self.client.quoted(error)
            self.skipped[f"{self.client.url}: task {task}: an annotation is skipped ({odd})."] = None
            return None

    def withdraw(self, rows: Iterable[RawAnnotation]) -> None:
        for row in withdrawn(list(rows)):
            self._add(row)

    def _add(self, row: RawAnnotation) -> None:
        before = self.latest.get(row.id)
        if before is not None:  # somebody who is removed loses their name in Label Studio, and here keeps it
            row = replace(row, annotator=before.annotator)
        if self.latest.get(row.id) != row:
            self.latest[row.id] = row
            self.rows.append(row)

    def _names(self, annotation: Annotation) -> Mapping[int, str]:
        """The e-mail of each user, by id; fetched when an annotation has a new user."""
        number = annotation.completed_by
        if isinstance(number, int) and number not in self.names:
            users = self.client.call("asking who annotates", list[User], "GET", "api/users/")
            self.names |= {user.id: user.email or f"user {user.id}" for user in users}
            self.names.setdefault(number, f"user {number}")
        return self.names

    def counts(self) -> tuple[int, int]:
        """Annotations and skips that are not deleted."""
        both = self.by_task().values()
        return sum(annotated for annotated, _ in both), sum(skipped for _, skipped in both)

    def by_task(self) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for raw in self.latest.values():
            if raw.result is not None:
                annotated, skipped = found.get(raw.task_id, NOTHING)
                found[raw.task_id] = (annotated + (not raw.cancelled), skipped + raw.cancelled)
        return found
