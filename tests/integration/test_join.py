"""A project that exists is joined: only tasks are added to it."""

import pytest
from integration.annotators import Annotators, call, picked, question

from annotation.annotator import LabelStudio
from annotation.interface import page
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.store import TaskStore
from toolkit.errors import WarmkitError

OWN = '<View><Choices name="level" toName="own"><Choice value="easy"/></Choices>{0}</View>'
TEXT = '<Text name="own" value="{0}"/>'


@pytest.fixture
def made(label_studio):
    """Makes a project as a person makes it: made(label_config="<View/>")."""

    def make(**fields):
        found = call(label_studio.client, "making", "POST", "api/projects/", json={"title": "ours", **fields})
        return found["id"]

    return make


@pytest.fixture
def client(label_studio):
    return label_studio.client


def settings(client, project):
    found = call(client, "looking", "GET", f"api/projects/{project}/")
    fields = (
        "title",
        "description",
        "expert_instruction",
        "maximum_annotations",
        "sampling",
        "model_version",
    )
    return {name: found[name] for name in (*fields, "show_instruction", "color", "label_config")}


def test_a_project_with_our_page_is_joined_and_only_tasks_are_added(client, made, tmp_path):
    project = made(label_config=page(), expert_instruction="As we do it.", maximum_annotations=1)
    theirs = {"problem": "1 and 2", "marked": "1 and 2", "facts": "", "complaint": ""}
    theirs |= {"candidates": [{"value": "own"}], "reasons": [{"value": "x"}]}
    call(client, "adding", "POST", f"api/projects/{project}/import", json=[{"data": theirs}])
    before = settings(client, project)
    store = TaskStore(tmp_path / "store")
    found = ensure_project(client, store, "not used", join=project)
    assert (found.id, found.warnings) == (project, ())
    assert push(client, store, [question("a"), question("b")]).sent == 2
    assert push(client, store, [question("a"), question("b")]).sent == 0
    assert settings(client, project) == before
    tasks = Annotators(client, project).tasks()
    assert len(tasks) == 3 and theirs in tasks.values()
    assert ensure_project(client, store, "not used", join=project).id == project
    with pytest.raises(WarmkitError, match=f"belongs to project {project}, and can't join project 1"):
        ensure_project(client, store, "not used", join=1)


def test_two_loops_ask_the_same_problems_in_one_project_and_read_their_own_answers(client, made, tmp_path):
    project = made(label_config=page())
    first, second = (
        LabelStudio(client, tmp_path / name, "not used", join=project) for name in ("first", "second")
    )
    for annotator in (first, second, first, second):
        annotator.submit([question("a"), question("b")])
        assert annotator.collect() == []
    tasks = Annotators(client, project).tasks()
    assert sorted(data["problem_id"] for data in tasks.values()) == ["a", "a", "b", "b"]
    Annotators(client, project).annotate(first.store.sent()["a", 1, 0], picked("N0 - N1"))
    assert [response.problem_id for response in first.collect()] == ["a"]
    assert second.collect() == []


def test_a_page_without_our_controls_keeps_its_own_and_gets_ours(client, made, tmp_path):
    project = made(label_config=OWN.format(TEXT.format("$problem")))
    store = TaskStore(tmp_path / "store")
    ensure_project(client, store, "not used", join=project)
    shown = settings(client, project)["label_config"]
    assert all(f'name="{name}"' in shown for name in ("level", "pick", "equation", "reason"))
    assert push(client, store, [question("a")]).sent == 1
    (task,) = store.sent().values()
    Annotators(client, project).annotate(task, picked("N0 - N1"))
    pull(client, store)
    assert [response.template for response in store.responses()[0]] == ["N0 - N1"]


def test_a_project_that_can_not_be_joined_is_told_and_left_as_it_is(client, made, tmp_path):
    strange, full = (made(label_config=OWN.format(TEXT.format("$words"))) for _ in range(2))
    call(client, "adding", "POST", f"api/projects/{full}/import", json=[{"data": {"words": "x"}}])
    for project, words in ((full, "has tasks"), (strange, r"shows \$words"), (999_999, "does not exist")):
        before = settings(client, project) if project != 999_999 else None
        store = TaskStore(tmp_path / str(project))
        with pytest.raises(WarmkitError, match=words):
            ensure_project(client, store, "not used", join=project)
        assert store.project is None
        assert before is None or settings(client, project) == before
