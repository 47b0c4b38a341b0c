"""Questions to a real server: each once, whatever breaks on the way."""

import os
import signal
import threading

import pytest
from commands import LONGEST
from integration.annotators import Annotators, call, question
from integration.proxy import Proxy

from annotation.client import Client, Gone, Unreachable
from annotation.interface import page
from annotation.keys import Connection
from annotation.project import ensure_project
from annotation.push import push
from annotation.store import TaskStore
from toolkit.errors import WarmkitError


@pytest.fixture
def store(tmp_path):
    return TaskStore(tmp_path / "store")


@pytest.fixture
def annotators(label_studio, store):
    project = ensure_project(label_studio.client, store, "push")
    return Annotators(label_studio.client, project.id)


CHUNK = 20


def questions(count, **changes):
    return [question(f"p{i}", **changes) for i in range(count)]


def quickly(seconds):
    pass


def test_a_project_shows_the_page_and_its_instructions_and_orders_by_uncertainty(
    annotators, store, label_studio
):
    push(label_studio.client, store, [question("sure", confidence=0.9), question("unsure", confidence=0.1)])
    found = call(label_studio.client, "looking", "GET", f"api/projects/{annotators.project}/")
    assert found["label_config"].strip() == page().strip()
    assert "Ctrl+Enter" in found["expert_instruction"] and found["show_instruction"]
    assert found["sampling"] == "Uncertainty sampling"
    assert (found["show_collab_predictions"], found["model_version"]) == (False, "round-01")
    following = call(label_studio.client, "next", "GET", f"api/projects/{annotators.project}/next/")
    assert following["data"]["problem_id"] == "unsure"
    assert following["predictions"] == [] or following["predictions"][0]["result"] == []


def test_a_new_round_is_what_is_ordered_by(annotators, store, label_studio):
    push(label_studio.client, store, questions(2))
    push(label_studio.client, store, [question("a", round=2, confidence=0.9), question("b", round=2)])
    found = call(label_studio.client, "looking", "GET", f"api/projects/{annotators.project}/")
    assert found["model_version"] == "round-02"
    following = call(label_studio.client, "next", "GET", f"api/projects/{annotators.project}/next/")
    assert following["data"]["problem_id"] == "b"


def test_the_same_questions_again_change_nothing(annotators, store, label_studio):
    done = []
    first = push(label_studio.client, store, questions(CHUNK + 3), done.append, chunk=CHUNK)
    again = push(label_studio.client, store, questions(CHUNK + 3))
    assert (first.sent, again.sent, again.already_sent) == (CHUNK + 3, 0, CHUNK + 3)
    assert done == [CHUNK, 3]
    assert len(annotators.tasks()) == CHUNK + 3


def test_a_rejected_answer_comes_back_with_the_complaint(annotators, store, label_studio):
    push(label_studio.client, store, [question("a")])
    push(label_studio.client, store, [question("a", attempt=1, complaint="It gives 101.")])
    assert annotators.names() == [("a", 1, 0), ("a", 1, 1)]
    first, second = annotators.tasks().values()
    assert (first["complaint"], "It gives 101." in second["complaint"]) == ("", True)


@pytest.mark.parametrize("how", ["drop", "lose", "cut", "double", "502", "429"])
def test_whatever_happens_to_a_write_each_task_is_there_once(label_studio, store, how):
    with Proxy(label_studio.url) as proxy, Client(Connection(proxy.url, label_studio.key)) as client:
        annotators = Annotators(label_studio.client, ensure_project(client, store, how).id)
        proxy.fail(how, "POST", "/import", after=1)
        push(client, store, questions(2 * CHUNK), sleep=quickly, chunk=CHUNK)
        assert annotators.names() == [(f"p{i}", 1, 0) for i in range(2 * CHUNK)]
        assert sorted(store.sent().values()) == sorted(annotators.tasks())
        assert push(client, store, questions(2 * CHUNK)).sent == 0


def test_a_server_that_goes_away_in_the_middle_is_a_sentence_and_the_next_push_goes_on(label_studio, store):
    with Proxy(label_studio.url) as proxy, Client(Connection(proxy.url, label_studio.key)) as client:
        annotators = Annotators(label_studio.client, ensure_project(client, store, "away").id)
        proxy.fail("drop", after=1, times=1_000)  # the first chunk passes
        with pytest.raises(Unreachable, match="can't be reached"):
            push(client, store, questions(2 * CHUNK), sleep=quickly, chunk=CHUNK)
        assert len(annotators.tasks()) == CHUNK
        proxy.heal()
        assert push(client, store, questions(2 * CHUNK)).sent == CHUNK
        assert len(annotators.tasks()) == 2 * CHUNK


def test_an_answer_that_comes_too_late_leaves_no_second_task(label_studio, store):
    with Proxy(label_studio.url) as proxy, Client(Connection(proxy.url, label_studio.key), 6.0) as client:
        annotators = Annotators(label_studio.client, ensure_project(client, store, "late").id)
        proxy.fail("delay", "POST", "/import", seconds=LONGEST)
        push(client, store, questions(3))
    # The proxy has let go of the late one and waited until it had arrived.
    push(label_studio.client, store, questions(3))
    assert annotators.names() == [(f"p{i}", 1, 0) for i in range(3)]


def test_two_pushes_at_once_send_everything_once(annotators, store, label_studio):
    def go():
        with Client(label_studio.server.connection) as client:
            own = TaskStore(store.folder)
            push(client, own, questions(40))
            own.close()

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert annotators.names() == [(f"p{i}", 1, 0) for i in range(40)]


def test_two_pushes_from_copies_of_the_store_end_with_everything_once(
    annotators, store, label_studio, tmp_path
):
    with store.transaction():
        facts = {name: store.fact(name) for name in ("url", "project", "created_at", "title", "page", "mark")}
    copy = TaskStore(tmp_path / "copy")
    with copy.transaction():
        for name, value in facts.items():
            copy.set_fact(name, value)
    push(label_studio.client, store, questions(5))
    push(label_studio.client, copy, questions(7))
    push(label_studio.client, store, questions(7))
    assert annotators.names() == [(f"p{i}", 1, 0) for i in range(7)]
    assert store.sent() == copy.sent()


def test_a_push_that_is_killed_before_it_writes_down_what_arrived_is_picked_up(
    annotators, store, label_studio
):
    child = os.fork()
    if child == 0:
        TaskStore.add_tasks = lambda self, tasks: os.kill(os.getpid(), signal.SIGKILL)
        try:
            with Client(label_studio.server.connection) as client:
                push(client, TaskStore(store.folder), questions(10))
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert len(annotators.tasks()) == 10 and store.sent() == {}
    done = push(label_studio.client, store, questions(12))
    assert (done.sent, done.already_sent) == (2, 10)
    assert annotators.names() == [(f"p{i}", 1, 0) for i in range(12)]


def test_a_kill_before_the_project_is_written_down_leaves_one_project(label_studio, store):
    child = os.fork()
    if child == 0:
        store.set_fact("mark", store.mark()[0])
        commit, writes = TaskStore._commit, []

        def killed(self):
            writes.append(1)
            if len(writes) == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            commit(self)

        TaskStore._commit = killed
        try:
            with Client(label_studio.server.connection) as client:
                ensure_project(client, TaskStore(store.folder), "once")
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    mark, before = store.mark()
    assert before and store.project is None
    first = ensure_project(label_studio.client, store, "once")
    listed = call(
        label_studio.client, "listing", "GET", "api/projects/", params={"include": "id,description"}
    )
    assert [one["id"] for one in listed["results"] if mark in one["description"]] == [first.id]


def test_a_task_that_was_deleted_is_asked_again_and_said(annotators, store, label_studio):
    push(label_studio.client, store, questions(3))
    gone = annotators.task("p1")
    annotators.delete(f"tasks/{gone}")
    done = push(label_studio.client, store, questions(3))
    assert done.sent == 1
    assert f"task {gone} (problem p1) was deleted" in done.warnings[0]
    assert sorted(annotators.names()) == [(f"p{i}", 1, 0) for i in range(3)]


def test_tasks_of_others_in_the_project_are_left_alone(annotators, store, label_studio):
    push(label_studio.client, store, questions(1))
    body = [{"problem": "x", "marked": "x", "facts": "", "complaint": "", "candidates": [], "reasons": []}]
    call(label_studio.client, "x", "POST", f"api/projects/{annotators.project}/import", json=body)
    assert push(label_studio.client, store, questions(2)).sent == 1
    assert len(annotators.tasks()) == 3


def test_a_deleted_project_is_a_sentence(annotators, store, label_studio):
    push(label_studio.client, store, questions(1))
    annotators.delete(f"projects/{annotators.project}")
    with pytest.raises(Gone, match=r"project \d+ was deleted"):
        push(label_studio.client, store, questions(2))
    with pytest.raises(Gone, match=r"project \d+ was deleted"):
        ensure_project(label_studio.client, store, "push")


def test_another_project_of_the_same_number_is_not_taken_for_ours(annotators, store, label_studio):
    with store.transaction():
        store.set_fact("created_at", "2001-01-01T00:00:00Z")
    with pytest.raises(WarmkitError, match="another project of that number"):
        ensure_project(label_studio.client, store, "push")


def test_a_page_that_somebody_changed_is_left_with_a_warning(annotators, store, label_studio):
    changed = page().replace('rows="1"', 'rows="2"')
    path = f"api/projects/{annotators.project}/"
    call(label_studio.client, "changing", "PATCH", path, json={"label_config": changed})
    (warning,) = ensure_project(label_studio.client, store, "push").warnings
    assert "was changed in Label Studio" in warning
    assert 'rows="2"' in call(label_studio.client, "x", "GET", path)["label_config"]


def test_an_older_page_of_ours_is_brought_up_to_date(annotators, store, label_studio):
    path = f"api/projects/{annotators.project}/"
    older = page().replace('rows="1"', 'rows="3"')
    had = call(label_studio.client, "x", "PATCH", path, json={"label_config": older})["label_config"]
    with store.transaction():
        store.set_fact("page", [older, had])
    assert ensure_project(label_studio.client, store, "push").warnings == ()
    assert call(label_studio.client, "x", "GET", path)["label_config"].strip() == page().strip()
