"""What annotators said, from the server into the book: only what has changed, and nothing twice.

The mark of the last pull is the server's own time, from before it listed anything. Annotations and mark
are written in one transaction: a pull that is interrupted is repeated and does no harm.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from annotation.book import Book
from annotation.client import Client, Gone
from annotation.project import gone
from annotation.reconcile import reconcile, withdrawn
from annotation.tasks import Raw, raw_of
from annotation.wire import Filter, answered, counts, tasks
from toolkit.errors import WarmkitError

OVERLAP = timedelta(seconds=3)  # a write may show a little later than its time says, which has no fractions
ANNOTATION = (
    "id",
    "annotations",
    "result",
    "completed_by",
    "was_cancelled",
    "created_at",
    "updated_at",
    "lead_time",
)
ANNOTATED: Filter = ("total_annotations", "greater", "Number", 0)
SKIPPED: Filter = ("cancelled_annotations", "greater", "Number", 0)
BEGINNING = "1970-01-01T00:00:00.000Z"
NOTHING = (0, 0)


@dataclass(frozen=True)
class Pulled:
    new: int  # annotations that came, changed or went
    warnings: tuple[str, ...] = ()


def pull(client: Client, book: Book) -> Pulled:
    """Bring the book up to date."""
    project = book.project
    if project is None:
        raise WarmkitError(
            f"{book.folder}: nothing was sent to Label Studio yet, so there is nothing to fetch."
        )
    try:
        with book.lock():
            return _pull(client, book, project)
    except Gone:
        raise gone(client, book) from None


def _pull(client: Client, book: Book, project: int) -> Pulled:
    there, now = counts(client, project)
    since: Filter = ("updated_at", "greater", "Datetime", book.fact("cursor") or BEGINNING)
    seen = _Seen(client, book.latest())
    seen.take(tasks(client, project, ANNOTATION, (since, ANNOTATED), full=True))
    if there[2] != seen.counts()[1]:
        seen.take(tasks(client, project, ANNOTATION, (since, SKIPPED), full=True))
    warnings: list[str] = []
    if there != (book.count_tasks(), *seen.counts()):  # something was deleted, or came while we looked
        warnings, listed = reconcile(client, book)
        seen.withdraw(raw for raw in seen.latest.values() if listed.get(raw.task_id, NOTHING) == NOTHING)
        if seen.by_task() != {number: both for number, both in listed.items() if both != NOTHING}:
            seen.take(tasks(client, project, ANNOTATION, (ANNOTATED,), full=True))
            seen.take(tasks(client, project, ANNOTATION, (SKIPPED,), full=True))
    with book.transaction():
        book.add(seen.rows)
        book.set_fact("cursor", f"{now - OVERLAP:%Y-%m-%dT%H:%M:%S.%fZ}")
    return Pulled(len(seen.rows), tuple(warnings))


class _Seen:
    """The annotations as the book has them, and the rows that bring them up to date."""

    def __init__(self, client: Client, latest: dict[int, Raw]) -> None:
        self.client, self.latest = client, latest
        self.rows: list[Raw] = []
        self.names: dict[int, str] = {}

    def take(self, listed: Iterable[Mapping[str, Any]]) -> None:
        """Tasks with all of their annotations: what is new or changed, and what is there no more."""
        of_task: dict[int, list[int]] = defaultdict(list)
        for raw in self.latest.values():
            of_task[raw.task_id].append(raw.id)
        for task in listed:
            there = [one for one in task.get("annotations") or () if isinstance(one.get("id"), int)]
            for annotation in there:
                self._add(raw_of(annotation, task["id"], self._names(annotation)))
            ids = {annotation["id"] for annotation in there}
            self.withdraw([self.latest[number] for number in of_task[task["id"]] if number not in ids])

    def withdraw(self, rows: Iterable[Raw]) -> None:
        for row in withdrawn(list(rows)):
            self._add(row)

    def _add(self, row: Raw) -> None:
        if self.latest.get(row.id) != row:
            self.latest[row.id] = row
            self.rows.append(row)

    def _names(self, annotation: Mapping[str, Any]) -> Mapping[int, str]:
        """Who annotators are, by their e-mail; asked when somebody new turns up."""
        user = annotation.get("completed_by")
        if isinstance(user, int) and user not in self.names:
            users = answered(self.client, "asking who annotates", "GET", "api/users/")
            self.names |= {one["id"]: one.get("email") or f"user {one['id']}" for one in users}
            self.names.setdefault(user, f"user {user}")
        return self.names

    def counts(self) -> tuple[int, int]:
        """Annotations and skips that are not deleted."""
        both = self.by_task().values()
        return sum(said for said, _ in both), sum(skipped for _, skipped in both)

    def by_task(self) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for raw in self.latest.values():
            if raw.result is not None:
                said, skipped = found.get(raw.task_id, NOTHING)
                found[raw.task_id] = (said + (not raw.cancelled), skipped + raw.cancelled)
        return found
