"""The requests that are made in several places: how much a project holds, and its tasks."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from json import dumps
from typing import Any, TypeVar

from annotation.answers import (
    AnnotatedTask,
    Annotation,
    CountsPage,
    NumberedTask,
    OddAnswer,
    ProjectCounts,
    TaskPage,
    fitted,
)
from annotation.client import Client, Gone

PAGE = 500  # tasks of one answer
MOST_PAGES = 2_000  # of one list: a million tasks
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Filter = tuple[str, str, str, Any]  # column, operator, type, value
Listed = TypeVar("Listed", bound=NumberedTask)


def project_counts(client: Client, project: int) -> tuple[ProjectCounts, datetime]:
    """How much a project holds, and the time by the server's own clock."""
    what = f"looking at project {project}"
    query = {"ids": project, "include": ",".join(ProjectCounts.model_fields)}
    answer = client.request(what, "GET", "api/projects/counts/", query)
    found = [row for row in client.read(what, CountsPage, answer).results if row.id == project]
    if not found:
        raise Gone(f"{client.url}: {what}: it does not exist, or was deleted.")
    return found[0], _time(answer.headers.get("date", ""))


def _time(date: str) -> datetime:
    """The time in an answer's header. In doubt it is too early: then the next pull looks at more."""
    now = datetime.now(UTC)
    try:
        time = parsedate_to_datetime(date)
        return max(EPOCH, min(now, time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)))
    except (ValueError, TypeError, IndexError, OverflowError):
        return EPOCH


def list_tasks(
    client: Client, project: int, kind: type[Listed], filters: Sequence[Filter] = ()
) -> Iterator[Listed]:
    """The tasks of a project by id, with the fields of `kind` alone.

    Continues after the last id seen instead of by pages, so tasks that vanish meanwhile shift nothing.
    """
    what = f"listing the tasks of project {project}"
    full = issubclass(kind, AnnotatedTask)
    fields = [*kind.model_fields, *(Annotation.model_fields if full else ())]
    last = 0
    for _ in range(MOST_PAGES):
        above: Filter = ("id", "greater", "Number", last)
        items = [
            {"filter": f"filter:tasks:{column}", "operator": operator, "type": type_, "value": value}
            for column, operator, type_, value in (*filters, above)
        ]
        query = {"filters": {"conjunction": "and", "items": items}, "ordering": ["tasks:id"]}
        params = {
            "project": project,
            "fields": "all" if full else "task_only",
            "include": ",".join(dict.fromkeys(fields)),
            "page_size": PAGE,
            "query": dumps(query),
        }
        page = client.call(what, TaskPage, "GET", "api/tasks/", params).tasks
        for item in page:
            try:
                task = fitted(kind, item)
            except OddAnswer as error:
                raise client.odd(what, f"after task {last}: {error}") from None
            if task.id <= last:
                raise client.odd(what, f"task {task.id} comes after task {last}")
            last = task.id
            yield task
        if len(page) < PAGE:
            return
    raise client.odd(what, f"it has no end after {MOST_PAGES:,} pages")
