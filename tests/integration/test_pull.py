"""Annotations from a real server: nothing lost, nothing twice."""

import os
import signal

import pytest
from integration.annotators import Annotators, bad, call, picked, question, written
from integration.proxy import Proxy

from annotation.client import Client, Gone, Unreachable
from annotation.keys import Connection
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.store import TaskStore
from toolkit.errors import WarmkitError

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def store(tmp_path):
    return TaskStore(tmp_path / "store")


@pytest.fixture
def annotators(label_studio, store):
    annotators = Annotators(label_studio.client, ensure_project(label_studio.client, store, "pull").id)
    push(label_studio.client, store, [question(name) for name in NAMES])
    return annotators


def responses(store):
    """The responses of the store: problem → kind, equation."""
    return {one.problem_id: (one.kind, one.equation) for one in store.responses()[0]}


def test_annotations_come_with_who_when_and_how_long(annotators, store, label_studio):
    assert pull(label_studio.client, store).new == 0
    number = annotators.annotate(annotators.task("a"), picked("N0 - N1"))
    annotators.annotate(annotators.task("b"), written("76 - 20 - 5"))
    annotators.annotate(annotators.task("c"), bad("wrong answer key"))
    annotators.annotate(annotators.task("d"), [], was_cancelled=True)
    assert pull(label_studio.client, store).new == 4
    (a, b, c, d), warnings, _ = store.responses()
    assert (a.problem_id, a.round, a.kind, a.equation) == ("a", 1, "equation", "76 - 25")
    assert (a.template, b.template) == ("N0 - N1", None)
    assert (a.annotator, a.seconds) == (label_studio.user, 5.5)
    assert a.external_id == f"{label_studio.url}/projects/{annotators.project}/annotations/{number}"
    assert a.updated_at.endswith("+00:00")
    assert (b.kind, b.equation) == ("equation", "76 - 20 - 5")
    assert (c.kind, c.note) == ("wrong_answer", "Bad problem: wrong answer key.")
    assert d.kind == "skip"
    assert warnings == []


def test_a_second_pull_brings_only_what_is_new(annotators, store, label_studio):
    annotators.annotate(annotators.task("a"), picked("N0 - N1"))
    assert pull(label_studio.client, store).new == 1
    assert pull(label_studio.client, store).new == 0
    annotators.annotate(annotators.task("b"), picked("N0 - N1"))
    assert pull(label_studio.client, store).new == 1
    assert len(store.responses()[0]) == 2


def test_an_edit_is_a_new_row_of_the_same_annotation(annotators, store, label_studio):
    number = annotators.annotate(annotators.task("a"), picked("N1 + N0 - N1 - N1"))
    pull(label_studio.client, store)
    (before,), _, last = store.responses()
    annotators.edit(number, result=picked("N0 - N1"))
    assert pull(label_studio.client, store).new == 1
    (after,), _, _ = store.responses(last)
    assert after.external_id == before.external_id
    assert (before.equation, after.equation) == ("25 + 76 - 25 - 25", "76 - 25")
    assert store._db.execute("SELECT count(*) FROM annotations").fetchone() == (2,)


def test_an_annotation_that_is_cancelled_afterwards_is_a_skip(annotators, store, label_studio):
    number = annotators.annotate(annotators.task("a"), picked("N0 - N1"))
    pull(label_studio.client, store)
    annotators.edit(number, was_cancelled=True)
    assert pull(label_studio.client, store).new == 1
    assert responses(store) == {"a": ("skip", None)}


def test_a_deleted_annotation_is_withdrawn(annotators, store, label_studio):
    first = annotators.annotate(annotators.task("a"), picked("N0 - N1"))
    second = annotators.annotate(annotators.task("a"), picked("N1 + N0 - N1 - N1"))
    annotators.annotate(annotators.task("b"), picked("N0 - N1"))
    skipped = annotators.annotate(annotators.task("c"), [], was_cancelled=True)
    assert pull(label_studio.client, store).new == 4
    annotators.delete(f"annotations/{first}")  # of two on the task
    assert pull(label_studio.client, store).new == 1
    assert sorted(one.kind for one in store.responses()[0] if one.problem_id == "a") == [
        "equation",
        "withdrawn",
    ]
    annotators.delete(f"annotations/{second}")  # the last one on it
    annotators.delete(f"annotations/{skipped}")
    assert pull(label_studio.client, store).new == 2
    assert responses(store) == {
        "a": ("withdrawn", None),
        "b": ("equation", "76 - 25"),
        "c": ("withdrawn", None),
    }
    assert pull(label_studio.client, store).new == 0


def test_annotations_deleted_in_bulk_in_the_data_manager_are_withdrawn(annotators, store, label_studio):
    for name in NAMES:
        annotators.annotate(annotators.task(name), picked("N0 - N1"))
    pull(label_studio.client, store)
    call(
        label_studio.client,
        "deleting in bulk",
        "POST",
        "api/dm/actions/",
        params={"id": "delete_tasks_annotations", "project": annotators.project},
        json={"selectedItems": {"all": False, "included": [annotators.task("a"), annotators.task("b")]}},
    )
    assert pull(label_studio.client, store).new == 2
    assert [responses(store)[name][0] for name in NAMES] == ["withdrawn", "withdrawn", "equation", "equation"]


def test_deleted_tasks_take_what_was_said_in_them_with_them(annotators, store, label_studio):
    annotators.annotate(annotators.task("a"), picked("N0 - N1"))
    annotators.annotate(annotators.task("b"), picked("N0 - N1"))
    pull(label_studio.client, store)
    annotators.delete(f"tasks/{annotators.task('a')}")
    done = pull(label_studio.client, store)
    assert done.new == 0 or done.new == 1
    assert "(problem a) was deleted" in done.warnings[0]
    assert responses(store) == {"a": ("withdrawn", None), "b": ("equation", "76 - 25")}
    assert pull(label_studio.client, store) == type(done)(0)


def test_a_task_deleted_in_the_second_another_is_annotated_is_noticed_all_the_same(
    annotators, store, label_studio
):
    annotators.annotate(annotators.task("a"), picked("N0 - N1"))
    pull(label_studio.client, store)
    annotators.delete(f"tasks/{annotators.task('a')}")
    annotators.annotate(annotators.task("b"), picked("N0 - N1"))
    pull(label_studio.client, store)
    assert responses(store) == {"a": ("withdrawn", None), "b": ("equation", "76 - 25")}


def test_two_annotations_on_one_task_both_come(annotators, store, label_studio):
    task = annotators.task("a")
    annotators.annotate(task, picked("N0 - N1"))
    annotators.annotate(task, picked("N0 - N1"))
    pull(label_studio.client, store)
    assert [one.equation for one in store.responses()[0]] == ["76 - 25", "76 - 25"]


@pytest.mark.parametrize(
    ("result", "equation", "warned"),
    [
        ([], "", "holds no equation"),
        (picked("9 - 9"), "", "'9 - 9' is picked, which is not a candidate"),
        (picked("<script>alert(1)</script>"), "", "'<script>alert(1)</script>' is picked"),
        (written("=HYPERLINK(1)"), "=HYPERLINK(1)", None),
        (written("7" * 5_000_000), "7" * 1_000 + "…", "5,000,000 characters"),
        ([{"from_name": "nobody", "value": 7}], "", "holds no equation"),
    ],
    ids=["empty", "unknown choice", "script", "formula", "5 MB", "unknown control"],
)
def test_strange_annotations_are_rejected_answers_and_no_faults(
    annotators, store, label_studio, result, equation, warned
):
    annotators.annotate(annotators.task("a"), result)
    pull(label_studio.client, store)
    (response,), warnings, _ = store.responses()
    assert (response.kind, response.equation) == ("equation", equation)
    assert (warned is None and warnings == []) or warned in warnings[0]


@pytest.mark.parametrize("how", ["drop", "lose", "cut", "double", "502", "429"])
def test_a_pull_that_breaks_is_repeated_and_nothing_is_lost_or_twice(annotators, store, label_studio, how):
    for name in NAMES:
        annotators.annotate(annotators.task(name), picked("N0 - N1"))
    with Proxy(label_studio.url) as proxy, Client(Connection(proxy.url, label_studio.key)) as client:
        proxy.fail(how, "GET", "/api/tasks", times=10)
        try:
            pull(client, store)
        except Unreachable:
            assert store.responses()[0] == []
        proxy.heal()
        pull(client, store)
        assert pull(client, store).new == 0
    assert responses(store) == dict.fromkeys(NAMES, ("equation", "76 - 25"))
    assert store._db.execute("SELECT count(*) FROM annotations").fetchone() == (4,)
    assert label_studio.url in store.responses()[0][0].external_id  # the proxy's address changes no name


def test_a_pull_killed_before_it_commits_is_repeated(annotators, store, label_studio):
    annotators.annotate(annotators.task("a"), picked("N0 - N1"))
    child = os.fork()
    if child == 0:
        TaskStore._commit = lambda self: os.kill(os.getpid(), signal.SIGKILL)
        try:
            with Client(label_studio.server.connection) as client:
                pull(client, TaskStore(store.folder))
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert store.responses()[0] == []
    assert pull(label_studio.client, store).new == 1
    assert pull(label_studio.client, store).new == 0


def test_a_deleted_project_is_a_sentence_and_what_was_said_stays(annotators, store, label_studio):
    annotators.annotate(annotators.task("a"), picked("N0 - N1"))
    pull(label_studio.client, store)
    annotators.delete(f"projects/{annotators.project}")
    with pytest.raises(Gone, match="Its annotations are kept in"):
        pull(label_studio.client, store)
    assert responses(store) == {"a": ("equation", "76 - 25")}


def test_a_store_without_a_project_says_that_nothing_was_sent(label_studio, store):
    with pytest.raises(WarmkitError, match="nothing was sent"):
        pull(label_studio.client, store)


def test_what_came_in_while_a_push_was_not_written_down_is_not_lost(annotators, store, label_studio):
    annotators.annotate(annotators.task("a"), picked("N0 - N1"))
    with store.transaction():  # as a kill would leave it
        store._db.execute("DELETE FROM tasks")
    pull(label_studio.client, store)
    assert responses(store) == {"a": ("equation", "76 - 25")}
