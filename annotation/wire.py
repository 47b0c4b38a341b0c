"""Plain requests through the SDK's own client: its types cost as much time as the server does."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from json import dumps
from typing import Any

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
    """The httpx.Response of a request that went well. Only GET is ever sent again."""
    from label_studio_sdk.core.api_error import ApiError

    with client.translated(what):
        http = client.sdk._client_wrapper.httpx_client
        if json is None:
            options = READ if method == "GET" else WRITE
            answer = http.request(path, method=method, request_options=options, params=params)
        else:  # past the SDK's encoder, which takes longer than the server to look at each value
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


def answered(client: Client, what: str, method: str, path: str, **arguments: Any) -> Any:
    """The JSON of an answer."""
    answer = request(client, what, method, path, **arguments)
    with client.translated(what):
        return answer.json()


def counts(client: Client, project: int) -> tuple[tuple[int, int, int], datetime]:
    """How many tasks, annotations and skips a project has; and the server's time, by its own clock."""
    what = f"looking at project {project}"
    names = ("task_number", "total_annotations_number", "skipped_annotations_number")
    query = {"ids": project, "include": ",".join(("id", *names))}
    answer = request(client, what, "GET", "api/projects/counts/", params=query)
    with client.translated(what):
        found = [row for row in answer.json()["results"] if row["id"] == project]
    if not found:
        raise Gone(f"{client.url}: {what}: it is not there, or was deleted.")
    try:
        now = parsedate_to_datetime(answer.headers.get("date", "")).astimezone(UTC)
    except ValueError:
        now = datetime.now(UTC)
    tasks, annotations, skips = (int(found[0][name] or 0) for name in names)
    return (tasks, annotations, skips), now


Filter = tuple[str, str, str, Any]  # column, operator, type, value


def tasks(
    client: Client, project: int, include: Sequence[str], filters: Sequence[Filter] = (), full: bool = False
) -> Iterator[Mapping[str, Any]]:
    """The tasks of a project by their ids, with these fields alone; `full` where annotations are among them.

    Goes on after the last id seen and not by pages: tasks that vanish meanwhile move nothing.
    """
    last = 0
    while True:
        above: Filter = ("id", "greater", "Number", last)
        items = [
            {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}
            for column, operator, kind, value in (*filters, above)
        ]
        query = {"filters": {"conjunction": "and", "items": items}, "ordering": ["tasks:id"]}
        page = answered(
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
