"""The project of a book: made once, found again by its id, and looked at before it is used."""

from dataclasses import dataclass
from typing import Any

from annotation.book import Book
from annotation.client import Client, Gone
from annotation.page import instructions, page
from annotation.tasks import model_version
from annotation.wire import answered
from toolkit.errors import WarmkitError

SETTINGS: dict[str, Any] = {
    "show_instruction": True,
    "sampling": "Uncertainty sampling",  # the least sure first, by the scores of the model version
    "show_collab_predictions": False,  # a choice that is made already biases people
    "enable_empty_annotation": False,
    "color": "#2f6f4f",
}
HIDDEN = [  # columns of the table of tasks that say nothing to people
    *(f"tasks:data.{name}" for name in ("candidates", "reasons", "attempt", "complaint")),
    *(f"tasks:{name}" for name in ("inner_id", "completed_at", "total_predictions", "annotations_results")),
    *(f"tasks:{name}" for name in ("annotations_ids", "predictions_results", "file_upload", "updated_by")),
    *(f"tasks:{name}" for name in ("storage_filename", "created_at", "updated_at", "draft_exists")),
]


@dataclass(frozen=True)
class Project:
    id: int
    url: str  # where people find it
    warnings: tuple[str, ...] = ()


def ensure_project(client: Client, book: Book, title: str) -> Project:
    """The book's project; a new one where it has none yet. A kill at any time leaves no second one."""
    with book.lock():
        found = _known(client, book) if book.project is not None else _make(client, book, title)
    url = f"{client.url}/projects/{found['id']}"
    return Project(found["id"], url, tuple(_look_at_page(client, book, found)))


def _known(client: Client, book: Book) -> dict[str, Any]:
    try:
        found = _get(client, book.project)
    except Gone:
        raise gone(client, book) from None
    if found["created_at"] != book.fact("created_at"):
        raise WarmkitError(
            f"{book.folder}: it belongs to project {book.project} of {book.fact('url')}, but {client.url} "
            "has another one of that number. Connect to the one it was made on: warmkit annotate connect URL"
        )
    return found


def gone(client: Client, book: Book) -> Gone:
    """The sentence for a project that was deleted."""
    return Gone(
        f"{client.url}: project {book.project} was deleted. What was said in it is kept in {book.folder}. "
        f"To ask anew in a new project, move that folder away; or begin a new run."
    )


def _get(client: Client, project: int | None) -> dict[str, Any]:
    found: dict[str, Any] = answered(client, f"opening project {project}", "GET", f"api/projects/{project}/")
    return found


def _make(client: Client, book: Book, title: str) -> dict[str, Any]:
    mark, before = book.mark()
    found = _marked(client, mark) if before else None  # killed before the id was written down
    if found is None:
        found = answered(
            client,
            "making a project",
            "POST",
            "api/projects/",
            json={
                **SETTINGS,
                "title": title[:50] if len(title) > 2 else f"warmkit {title}",  # 3 to 50 characters
                "description": f"Made by warmkit: do not delete while it is in use. ({mark})",
                "label_config": page(),
                "expert_instruction": instructions(),
                "model_version": model_version(1),
            },
        )
        view = {"title": "Problems", "hiddenColumns": {"explore": HIDDEN, "labeling": HIDDEN}}
        answered(
            client,
            "setting up the columns",
            "POST",
            "api/dm/views/",
            json={"project": found["id"], "data": view},
        )
    with book.transaction():
        for name, value in (
            ("url", client.url),
            ("project", found["id"]),
            ("created_at", found["created_at"]),
            ("title", found["title"]),
            ("model_version", found["model_version"]),
            ("page", [page(), found["label_config"]]),
        ):
            book.set_fact(name, value)
    return found


def _marked(client: Client, mark: str) -> dict[str, Any] | None:
    number = 1
    while True:
        query = {"page": number, "page_size": 100, "include": "id,description"}
        listed = answered(client, "listing the projects", "GET", "api/projects/", params=query)
        for row in listed["results"]:
            if mark in (row.get("description") or ""):
                return _get(client, row["id"])
        if not listed.get("next"):
            return None
        number += 1


def _look_at_page(client: Client, book: Book, found: dict[str, Any]) -> list[str]:
    """Put a newer page of ours in place of an older one; a page that people changed is left, and told."""
    ours, theirs = book.fact("page")  # as we wrote it, and as the server then had it
    if found["label_config"] != theirs:
        return [
            f"{client.url}: the page of project {found['id']} was changed in Label Studio. Answers are read "
            "from pick, equation and reason; keep those names."
        ]
    if ours != page():
        changed = {"label_config": page(), "expert_instruction": instructions()}
        new = answered(
            client, "bringing the page up to date", "PATCH", f"api/projects/{found['id']}/", json=changed
        )
        with book.transaction():
            book.set_fact("page", [page(), new["label_config"]])
    return []


def set_model_version(client: Client, book: Book, version: str) -> None:
    """Order by the scores of this round from now on. It must have predictions on the server already."""
    if book.fact("model_version") == version:
        return
    change = {"model_version": version}
    answered(client, "naming the round", "PATCH", f"api/projects/{book.project}/", json=change)
    with book.transaction():
        book.set_fact("model_version", version)
