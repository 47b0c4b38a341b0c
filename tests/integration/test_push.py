"""Questions to a real server: each once, whatever breaks on the way."""

import os
import signal
import threading

import pytest
from integration.people import People, question
from integration.proxy import Proxy

from annotation.book import Book
from annotation.client import Client, Gone, Unreachable
from annotation.keys import Connection
from annotation.page import page
from annotation.project import ensure_project
from annotation.push import push
from annotation.wire import answered
from toolkit.errors import WarmkitError


@pytest.fixture
def book(tmp_path):
    return Book(tmp_path / "book")


@pytest.fixture
def people(label_studio, book):
    project = ensure_project(label_studio.client, book, "push")
    return People(label_studio.client, project.id)


CHUNK = 20


def questions(count, **changes):
    return [question(f"p{i}", **changes) for i in range(count)]


def quickly(seconds):
    pass


def test_a_project_shows_the_page_and_its_instructions_and_orders_by_uncertainty(people, book, label_studio):
    push(label_studio.client, book, [question("sure", confidence=0.9), question("unsure", confidence=0.1)])
    found = answered(label_studio.client, "looking", "GET", f"api/projects/{people.project}/")
    assert found["label_config"].strip() == page().strip()
    assert "Ctrl+Enter" in found["expert_instruction"] and found["show_instruction"]
    assert found["sampling"] == "Uncertainty sampling"
    assert (found["show_collab_predictions"], found["model_version"]) == (False, "round-01")
    following = answered(label_studio.client, "next", "GET", f"api/projects/{people.project}/next/")
    assert following["data"]["problem_id"] == "unsure"
    assert following["predictions"] == [] or following["predictions"][0]["result"] == []


def test_a_new_round_is_what_is_ordered_by(people, book, label_studio):
    push(label_studio.client, book, questions(2))
    push(label_studio.client, book, [question("a", round=2, confidence=0.9), question("b", round=2)])
    found = answered(label_studio.client, "looking", "GET", f"api/projects/{people.project}/")
    assert found["model_version"] == "round-02"
    following = answered(label_studio.client, "next", "GET", f"api/projects/{people.project}/next/")
    assert following["data"]["problem_id"] == "b"


def test_the_same_questions_again_change_nothing(people, book, label_studio):
    done = []
    first = push(label_studio.client, book, questions(CHUNK + 3), done.append, chunk=CHUNK)
    again = push(label_studio.client, book, questions(CHUNK + 3))
    assert (first.sent, again.sent, again.there) == (CHUNK + 3, 0, CHUNK + 3)
    assert done == [CHUNK, 3]
    assert len(people.tasks()) == CHUNK + 3


def test_a_rejected_answer_comes_back_with_the_complaint(people, book, label_studio):
    push(label_studio.client, book, [question("a")])
    push(label_studio.client, book, [question("a", attempt=1, complaint="It gives 101.")])
    assert people.names() == [("a", 1, 0), ("a", 1, 1)]
    first, second = people.tasks().values()
    assert (first["complaint"], "It gives 101." in second["complaint"]) == ("", True)


@pytest.mark.parametrize("how", ["drop", "lose", "cut", "double", "502", "429"])
def test_whatever_happens_to_a_write_each_task_is_there_once(label_studio, book, how):
    with Proxy(label_studio.url) as proxy, Client(Connection(proxy.url, label_studio.key)) as client:
        people = People(label_studio.client, ensure_project(client, book, how).id)
        proxy.fail(how, "POST", "/import", after=1)
        push(client, book, questions(2 * CHUNK), sleep=quickly, chunk=CHUNK)
        assert people.names() == [(f"p{i}", 1, 0) for i in range(2 * CHUNK)]
        assert sorted(book.sent().values()) == sorted(people.tasks())
        assert push(client, book, questions(2 * CHUNK)).sent == 0


def test_a_server_that_goes_away_in_the_middle_is_a_sentence_and_the_next_push_goes_on(label_studio, book):
    with Proxy(label_studio.url) as proxy, Client(Connection(proxy.url, label_studio.key)) as client:
        people = People(label_studio.client, ensure_project(client, book, "away").id)
        proxy.fail("drop", after=1, times=1_000)  # the first chunk passes
        with pytest.raises(Unreachable, match="can't be reached"):
            push(client, book, questions(2 * CHUNK), sleep=quickly, chunk=CHUNK)
        assert len(people.tasks()) == CHUNK
        proxy.heal()
        assert push(client, book, questions(2 * CHUNK)).sent == CHUNK
        assert len(people.tasks()) == 2 * CHUNK


def test_an_answer_that_comes_too_late_leaves_no_second_task(label_studio, book):
    with Proxy(label_studio.url) as proxy, Client(Connection(proxy.url, label_studio.key), 2.0) as client:
        people = People(label_studio.client, ensure_project(client, book, "late").id)
        proxy.fail("delay", "POST", "/import", seconds=4.0)
        push(client, book, questions(3))
        threading.Event().wait(5)  # until the late one has arrived
        push(client, book, questions(3))
        assert people.names() == [(f"p{i}", 1, 0) for i in range(3)]


def test_two_pushes_at_once_send_everything_once(people, book, label_studio):
    def go():
        with Client(label_studio.server.connection) as client:
            own = Book(book.folder)
            push(client, own, questions(40))
            own.close()

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert people.names() == [(f"p{i}", 1, 0) for i in range(40)]


def test_two_pushes_from_copies_of_the_book_end_with_everything_once(people, book, label_studio, tmp_path):
    with book.transaction():
        facts = {name: book.fact(name) for name in ("url", "project", "created_at", "title", "page", "mark")}
    copy = Book(tmp_path / "copy")
    with copy.transaction():
        for name, value in facts.items():
            copy.set_fact(name, value)
    push(label_studio.client, book, questions(5))
    push(label_studio.client, copy, questions(7))
    push(label_studio.client, book, questions(7))
    assert people.names() == [(f"p{i}", 1, 0) for i in range(7)]
    assert book.sent() == copy.sent()


def test_a_push_that_is_killed_before_it_writes_down_what_arrived_is_picked_up(people, book, label_studio):
    child = os.fork()
    if child == 0:
        Book.add_tasks = lambda self, tasks: os.kill(os.getpid(), signal.SIGKILL)
        try:
            with Client(label_studio.server.connection) as client:
                push(client, Book(book.folder), questions(10))
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert len(people.tasks()) == 10 and book.sent() == {}
    done = push(label_studio.client, book, questions(12))
    assert (done.sent, done.there) == (2, 10)
    assert people.names() == [(f"p{i}", 1, 0) for i in range(12)]


def test_a_kill_before_the_project_is_written_down_leaves_one_project(label_studio, book):
    child = os.fork()
    if child == 0:
        book.set_fact("mark", book.mark()[0])
        commit, writes = Book._commit, []

        def killed(self):
            writes.append(1)
            if len(writes) == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            commit(self)

        Book._commit = killed
        try:
            with Client(label_studio.server.connection) as client:
                ensure_project(client, Book(book.folder), "once")
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    mark, before = book.mark()
    assert before and book.project is None
    first = ensure_project(label_studio.client, book, "once")
    listed = answered(
        label_studio.client, "listing", "GET", "api/projects/", params={"include": "id,description"}
    )
    assert [one["id"] for one in listed["results"] if mark in one["description"]] == [first.id]


def test_a_task_that_was_deleted_is_asked_again_and_said(people, book, label_studio):
    push(label_studio.client, book, questions(3))
    gone = people.task("p1")
    people.delete(f"tasks/{gone}")
    done = push(label_studio.client, book, questions(3))
    assert done.sent == 1
    assert f"task {gone} (problem p1) was deleted" in done.warnings[0]
    assert sorted(people.names()) == [(f"p{i}", 1, 0) for i in range(3)]


def test_tasks_of_others_in_the_project_are_left_alone(people, book, label_studio):
    push(label_studio.client, book, questions(1))
    body = [{"problem": "x", "facts": "", "complaint": "", "candidates": [], "reasons": []}]
    answered(label_studio.client, "x", "POST", f"api/projects/{people.project}/import", json=body)
    assert push(label_studio.client, book, questions(2)).sent == 1
    assert len(people.tasks()) == 3


def test_a_deleted_project_is_a_sentence(people, book, label_studio):
    push(label_studio.client, book, questions(1))
    people.delete(f"projects/{people.project}")
    with pytest.raises(Gone, match=r"project \d+ was deleted"):
        push(label_studio.client, book, questions(2))
    with pytest.raises(Gone, match=r"project \d+ was deleted"):
        ensure_project(label_studio.client, book, "push")


def test_another_project_of_the_same_number_is_not_taken_for_ours(people, book, label_studio):
    with book.transaction():
        book.set_fact("created_at", "2001-01-01T00:00:00Z")
    with pytest.raises(WarmkitError, match="another one of that number"):
        ensure_project(label_studio.client, book, "push")


def test_a_page_that_people_changed_is_left_and_told(people, book, label_studio):
    changed = page().replace('rows="1"', 'rows="2"')
    path = f"api/projects/{people.project}/"
    answered(label_studio.client, "changing", "PATCH", path, json={"label_config": changed})
    (warning,) = ensure_project(label_studio.client, book, "push").warnings
    assert "was changed in Label Studio" in warning
    assert 'rows="2"' in answered(label_studio.client, "x", "GET", path)["label_config"]


def test_an_older_page_of_ours_is_brought_up_to_date(people, book, label_studio):
    path = f"api/projects/{people.project}/"
    older = page().replace('rows="1"', 'rows="3"')
    had = answered(label_studio.client, "x", "PATCH", path, json={"label_config": older})["label_config"]
    with book.transaction():
        book.set_fact("page", [older, had])
    assert ensure_project(label_studio.client, book, "push").warnings == ()
    assert answered(label_studio.client, "x", "GET", path)["label_config"].strip() == page().strip()
