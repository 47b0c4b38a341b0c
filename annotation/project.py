"""The project of a task store: made once, found again by its id, and checked before it is used."""

from dataclasses import dataclass
from typing import Any

from annotation.answers import ProjectPage, ServerProject
from annotation.api import MOST_PAGES
from annotation.client import Client, Gone
from annotation.interface import instructions, page
from annotation.store import TaskStore
from annotation.tasks import model_version
from toolkit.errors import WarmkitError

SETTINGS: dict[str, Any] = {
    "show_instruction": True,
    "sampling": "Uncertainty sampling",  # the least sure first, by the scores of the model version
    "show_collab_predictions": False,  # a choice that is already made biases annotators
    "enable_empty_annotation": False,
    "color": "#2f6f4f",
}
HIDDEN = [  # columns of the table of tasks that annotators don't need
    *(f"tasks:data.{name}" for name in ("candidates", "reasons", "attempt", "complaint")),
    *(f"tasks:{name}" for name in ("inner_id", "completed_at", "total_predictions", "annotations_results")),
    *(f"tasks:{name}" for name in ("annotations_ids", "predictions_results", "file_upload", "updated_by")),
    *(f"tasks:{name}" for name in ("storage_filename", "created_at", "updated_at", "draft_exists")),
]


@dataclass(frozen=True)
class Project:
    id: int
    url: str
    warnings: tuple[str, ...] = ()


def ensure_project(client: Client, store: TaskStore, title: str) -> Project:
    """The project of the store; a new one if it has none yet. A kill at any time leaves no second project."""
    with store.lock():
        found = _open(client, store) if store.project is not None else _make(client, store, title)
    url = f"{client.url}/projects/{found.id}"
    return Project(found.id, url, tuple(_update_page(client, store, found)))


def _open(client: Client, store: TaskStore) -> ServerProject:
    assert store.project is not None
    try:
        found = _get(client, store.project)
    except Gone:
        raise gone(client, store) from None
    if found.created_at != store.fact("created_at"):
        raise WarmkitError(
            f"{store.folder}: it belongs to project {store.project} of {store.fact('url')}, but {client.url} "
            "has another project of that number. Connect to its own server: warmkit annotate connect URL"
        )
    return found


def gone(client: Client, store: TaskStore) -> Gone:
    """The error for a project that was deleted."""
    return Gone(
        f"{client.url}: project {store.project} was deleted. Its annotations are kept in {store.folder}. "
        f"To ask again in a new project, move that folder away; or begin a new run."
    )


def _get(client: Client, project: int) -> ServerProject:
    what = f"opening project {project}"
    found = client.call(what, ServerProject, "GET", f"api/projects/{project}/")
    if found.id != project:
        raise client.odd(what, f"it is about project {found.id}")
    return found


def _make(client: Client, store: TaskStore, title: str) -> ServerProject:
    mark, before = store.mark()
    found = _marked(client, mark) if before else None  # a kill came before its id was stored
    if found is None:
        found = client.call(
            "making a project",
            ServerProject,
            "POST",
            "api/projects/",
            json={
                **SETTINGS,
                "title": title[:50] if len(title) > 2 else f"warmkit {title}",  # 3 to 50 characters
                "description": f"Made by warmkit: do not delete it while it is in use. ({mark})",
                "label_config": page(),
                "expert_instruction": instructions(),
                "model_version": model_version(1),
            },
        )
        view = {"title": "Problems", "hiddenColumns": {"explore": HIDDEN, "labeling": HIDDEN}}
        columns = {"project": found.id, "data": view}
        client.request("setting up the columns", "POST", "api/dm/views/", json=columns)
    with store.transaction():
        for name, value in (
            ("url", client.url),
            ("project", found.id),
            ("created_at", found.created_at),
            ("title", found.title),
            ("model_version", found.model_version),
            ("page", [page(), found.label_config]),
        ):
            store.set_fact(name, value)
    return found


def _marked(client: Client, mark: str) -> ServerProject | None:
    what = "listing the projects"
    for number in range(1, MOST_PAGES + 1):
        query = {"page": number, "page_size": 100, "include": "id,description"}
        listed = client.call(what, ProjectPage, "GET", "api/projects/", query)
        for project in listed.results:
            if mark in (project.description or ""):
                return _get(client, project.id)
        if not listed.next:
            return None
    raise client.odd(what, f"it has no end after {MOST_PAGES:,} pages")


def _update_page(client: Client, store: TaskStore, found: ServerProject) -> list[str]:
    """Replace an older page of ours by the newest; a page that somebody changed is left, with a warning."""
    ours, theirs = store.fact("page")  # as we wrote it, and as the server then had it
    if found.label_config != theirs:
        return [
            f"{client.url}: the page of project {found.id} was changed in Label Studio. Answers are read "
            "from pick, equation and reason: keep those names."
        ]
    if ours != page():
        changed = {"label_config": page(), "expert_instruction": instructions()}
        what = "bringing the page up to date"
        new = client.call(what, ServerProject, "PATCH", f"api/projects/{found.id}/", json=changed)
        with store.transaction():
            store.set_fact("page", [page(), new.label_config])
    return []


def set_model_version(client: Client, store: TaskStore, version: str) -> None:
    """Order tasks by the scores of this round from now on. Its predictions must be on the server already."""
    if store.fact("model_version") == version:
        return
    change = {"model_version": version}
    client.request("naming the round", "PATCH", f"api/projects/{store.project}/", json=change)
    with store.transaction():
        store.set_fact("model_version", version)
