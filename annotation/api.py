"""Plain requests through the SDK's own HTTP client: building the SDK's types takes as long as the server."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from json import dumps
from typing import Any, NamedTuple

from annotation.client import READ, WRITE, Client, Gone

PAGE = 500  # tasks of one answer


def request(
    client: Client,
    what: str,
    method: str,
    path: str,
    params: dict[str, Any] | None = None,
    json: Any = None,
) -> Any:
    """The httpx.Response of a successful request; `what` says in errors what it was for.

    Only GET is ever sent again.
    """
    from label_studio_sdk.core.api_error import ApiError

    with client.translated(what):
        http = client.sdk._client_wrapper.httpx_client
        if json is None:
            options = READ if method == "GET" else WRITE
            answer = http.request(path, method=method, request_options=options, params=params)
        else:  # without the SDK's encoder, which takes longer than the server
            answer = http.httpx_client.request(
                method,
                f"{client.url}/{path}",
                params=params,
                content=dumps(json),
                headers={**http.base_headers(), "Content-Type": "application/json"},
            )
        if not 200 <= answer.status_code < 300:
            try:
                body = answer.json()
            except ValueError:
                body = answer.text
            raise ApiError(status_code=answer.status_code, headers=dict(answer.headers), body=body)
        return answer


def call(client: Client, what: str, method: str, path: str, **arguments: Any) -> Any:
    """The JSON of the answer to a request."""
    answer = request(client, what, method, path, **arguments)
    with client.translated(what):
        return answer.json()


class Counts(NamedTuple):
    """How much a project holds."""

    tasks: int
    annotations: int
    skips: int


def project_counts(client: Client, project: int) -> tuple[Counts, datetime]:
    """How much a project holds, and the time by the server's own clock."""
    what = f"looking at project {project}"
    names = ("task_number", "total_annotations_number", "skipped_annotations_number")
    query = {"ids": project, "include": ",".join(("id", *names))}
    answer = request(client, what, "GET", "api/projects/counts/", params=query)
    with client.translated(what):
        found = [row for row in answer.json()["results"] if row["id"] == project]
    if not found:
        raise Gone(f"{client.url}: {what}: it does not exist, or was deleted.")
    try:
        now = parsedate_to_datetime(answer.headers.get("date", "")).astimezone(UTC)
    except ValueError:
        now = datetime.now(UTC)
    return Counts(*(int(found[0][name] or 0) for name in names)), now


Filter = tuple[str, str, str, Any]  # column, operator, type, value


def list_tasks(
    client: Client, project: int, include: Sequence[str], filters: Sequence[Filter] = (), full: bool = False
) -> Iterator[Mapping[str, Any]]:
    """The tasks of a project by id, with these fields alone; `full` if annotations are among the fields.

    Continues after the last id seen instead of by pages, so tasks that vanish meanwhile shift nothing.
    """
    last = 0
    while True:
        above: Filter = ("id", "greater", "Number", last)
        items = [
            {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}
            for column, operator, kind, value in (*filters, above)
        ]
        query = {"filters": {"conjunction": "and", "items": items}, "ordering": ["tasks:id"]}
        page = call(
            client,
            f"listing the tasks of project {project}",
            "GET",
            "api/tasks/",
            params={
                "project": project,
                "fields": "all" if full else "task_only",
                "include": ",".join(include),
                "page_size": PAGE,
                "query": dumps(query),
            },
        )["tasks"]
        yield from page
        if len(page) < PAGE:
            return
        last = page[-1]["id"]
