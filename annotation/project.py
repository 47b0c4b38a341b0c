"""The project of a task store: made once or joined, found again by its id, and checked before it is used.

In a project that was joined, only tasks are added. Its settings, people, and everybody else's tasks stay.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from annotation.answers import ProjectPage, ServerProject
from annotation.api import MOST_PAGES, project_counts
from annotation.client import Client, Gone
from annotation.interface import TASK_DATA, has_controls, instructions, page, with_controls
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
SHOWN = ("problem_id", "round", "problem", "answer", "verdict")  # what people look for among the tasks
HIDDEN = [  # columns of the table of tasks that annotators don't need
    *(f"tasks:data.{name}" for name in TASK_DATA if name not in SHOWN),
    *(f"tasks:{name}" for name in ("inner_id", "completed_at", "total_predictions", "annotations_results")),
    *(f"tasks:{name}" for name in ("annotations_ids", "predictions_results", "file_upload", "updated_by")),
    *(f"tasks:{name}" for name in ("predictions_score", "predictions_model_versions", "avg_lead_time")),
    *(f"tasks:{name}" for name in ("storage_filename", "created_at", "updated_at", "draft_exists")),
]


@dataclass(frozen=True)
class Project:
    id: int
    url: str
    warnings: tuple[str, ...] = ()


def ensure_project(
    client: Client,
    store: TaskStore,
    title: str,
    *,
    join: int | None = None,
    langs: Iterable[str] = (),
    overlap: int = 1,
) -> Project:
    """The project of the store; a new one if it has none yet. A kill at any time leaves no second project.

    `join` is the id of a project that exists, to be used instead of a new one. `langs` are the languages of
    the problems, and `overlap` is how many people annotate each.
    """
    said = instructions(langs)
    with store.lock():
        if store.project is not None:
            found = _open(client, store, join)
        elif join is not None:
            found = _join(client, store, join)
        else:
            found = _make(client, store, title, said, overlap)
    url = f"{client.url}/projects/{found.id}"
    return Project(found.id, url, tuple(_update_page(client, store, found, said)))


def _open(client: Client, store: TaskStore, join: int | None) -> ServerProject:
    assert store.project is not None
    if join not in (None, store.project):
        raise WarmkitError(
            f"{store.folder}: it belongs to project {store.project}, and can't join project {join} as well. "
            "Take another folder, or begin a new run."
        )
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


def _join(client: Client, store: TaskStore, project: int) -> ServerProject:
    """A project that exists. If its page lacks the controls that answers are read from, they are added to it;
    but not if somebody's tasks are there, which such a page could not show."""
    store.mark()
    found = _get(client, project)
    if not has_controls(found.label_config):
        if project_counts(client, project)[0].task_number:
            raise WarmkitError(
                f"{client.url}: project {project} has tasks, and its page has none of the controls that "
                "warmkit reads answers from. Join a project without tasks, or one that warmkit has made."
            )
        _check_shown(client, found)
        change = {"label_config": with_controls(found.label_config)}
        what = f"adding the controls to the page of project {project}"
        found = client.call(what, ServerProject, "PATCH", f"api/projects/{project}/", json=change)
    _check_shown(client, found)
    _keep(client, store, found, joined=True)
    return found


def _check_shown(client: Client, found: ServerProject) -> None:
    """Raise an error if a page shows what our tasks do not have: Label Studio would refuse them."""
    strange = sorted(set(re.findall(r"\$(\w+)", found.label_config)) - set(TASK_DATA))
    if strange:
        raise WarmkitError(
            f"{client.url}: the page of project {found.id} shows ${strange[0]}, which no task of ours has. "
            "Join another project, or take that out of its page."
        )


def _make(client: Client, store: TaskStore, title: str, said: str, overlap: int) -> ServerProject:
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
                "expert_instruction": said,
                "maximum_annotations": overlap,
                "model_version": model_version(1),
            },
        )
        view = {"title": "Problems", "hiddenColumns": {"explore": HIDDEN, "labeling": HIDDEN}}
        columns = {"project": found.id, "data": view}
        client.request("setting up the columns", "POST", "api/dm/views/", json=columns)
    _keep(client, store, found, joined=False)
    return found


def _keep(client: Client, store: TaskStore, found: ServerProject, *, joined: bool) -> None:
    with store.transaction():
        for name, value in (
            ("url", client.url),
            ("project", found.id),
            ("created_at", found.created_at),
            ("title", found.title),
            ("model_version", found.model_version),
            ("page", [page(), found.label_config]),
            ("joined", joined),
            ("per_task", found.maximum_annotations),
        ):
            store.set_fact(name, value)


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


def _update_page(client: Client, store: TaskStore, found: ServerProject, said: str) -> list[str]:
    """Replace an older page of ours by the newest; a page that somebody changed is left, with a warning."""
    ours, theirs = store.fact("page")  # as we wrote it, and as the server then had it
    if store.fact("joined") and has_controls(found.label_config):
        return []
    if found.label_config != theirs:
        return [
            f"{client.url}: the page of project {found.id} was changed in Label Studio. Answers are read "
            "from pick, equation and reason: keep those names."
        ]
    if ours != page():
        changed = {"label_config": page(), "expert_instruction": said}
        what = "bringing the page up to date"
        new = client.call(what, ServerProject, "PATCH", f"api/projects/{found.id}/", json=changed)
        with store.transaction():
            store.set_fact("page", [page(), new.label_config])
    return []


def set_model_version(client: Client, store: TaskStore, version: str) -> None:
    """Order tasks by the scores of this round from now on. Its predictions must be on the server already."""
    if store.fact("model_version") == version or store.fact("joined"):
        return
    change = {"model_version": version}
    client.request("naming the round", "PATCH", f"api/projects/{store.project}/", json=change)
    with store.transaction():
        store.set_fact("model_version", version)
