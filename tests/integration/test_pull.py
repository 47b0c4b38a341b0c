"""What people said, from a real server: nothing lost, nothing twice."""

import os
import signal

import pytest
from integration.people import People, bad, picked, question, written
from integration.proxy import Proxy

from annotation.book import Book
from annotation.client import Client, Gone, Unreachable
from annotation.keys import Connection
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.wire import answered
from toolkit.errors import WarmkitError

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def book(tmp_path):
    return Book(tmp_path / "book")


@pytest.fixture
def people(label_studio, book):
    people = People(label_studio.client, ensure_project(label_studio.client, book, "pull").id)
    push(label_studio.client, book, [question(name) for name in NAMES])
    return people


def said(book):
    """What stands in the book: problem → kind, equation."""
    return {one.problem_id: (one.kind, one.equation) for one in book.responses()[0]}


def test_what_people_said_comes_with_who_when_and_how_long(people, book, label_studio):
    assert pull(label_studio.client, book).new == 0
    number = people.annotate(people.task("a"), picked("76 - 25"))
    people.annotate(people.task("b"), written("76 - 20 - 5"))
    people.annotate(people.task("c"), bad("wrong answer key"))
    people.annotate(people.task("d"), [], was_cancelled=True)
    assert pull(label_studio.client, book).new == 4
    responses, warnings, _ = book.responses()
    a, b, c, d = responses
    assert (a.problem_id, a.round, a.kind, a.equation) == ("a", 1, "equation", "76 - 25")
    assert (a.annotator, a.seconds) == (label_studio.user, 5.5)
    assert a.external_id == f"{label_studio.url}/projects/{people.project}/annotations/{number}"
    assert a.updated_at.endswith("+00:00")
    assert (b.kind, b.equation) == ("equation", "76 - 20 - 5")
    assert (c.kind, c.note) == ("wrong_answer", "Bad problem: wrong answer key.")
    assert d.kind == "skip"
    assert warnings == []


def test_a_second_pull_brings_only_what_is_new(people, book, label_studio):
    people.annotate(people.task("a"), picked("76 - 25"))
    assert pull(label_studio.client, book).new == 1
    assert pull(label_studio.client, book).new == 0
    people.annotate(people.task("b"), picked("76 - 25"))
    assert pull(label_studio.client, book).new == 1
    assert len(book.responses()[0]) == 2


def test_an_edit_is_a_new_row_of_the_same_annotation(people, book, label_studio):
    number = people.annotate(people.task("a"), picked("25 + 76 - 25 - 25"))
    pull(label_studio.client, book)
    (before,), _, last = book.responses()
    people.edit(number, result=picked("76 - 25"))
    assert pull(label_studio.client, book).new == 1
    (after,), _, _ = book.responses(last)
    assert after.external_id == before.external_id
    assert (before.equation, after.equation) == ("25 + 76 - 25 - 25", "76 - 25")
    assert book._db.execute("SELECT count(*) FROM raw").fetchone() == (2,)


def test_an_annotation_that_is_cancelled_afterwards_is_a_skip(people, book, label_studio):
    number = people.annotate(people.task("a"), picked("76 - 25"))
    pull(label_studio.client, book)
    people.edit(number, was_cancelled=True)
    assert pull(label_studio.client, book).new == 1
    assert said(book) == {"a": ("skip", None)}


def test_a_deleted_annotation_is_withdrawn(people, book, label_studio):
    first = people.annotate(people.task("a"), picked("76 - 25"))
    second = people.annotate(people.task("a"), picked("25 + 76 - 25 - 25"))
    people.annotate(people.task("b"), picked("76 - 25"))
    skipped = people.annotate(people.task("c"), [], was_cancelled=True)
    assert pull(label_studio.client, book).new == 4
    people.delete(f"annotations/{first}")  # of two on the task
    assert pull(label_studio.client, book).new == 1
    assert sorted(one.kind for one in book.responses()[0] if one.problem_id == "a") == [
        "equation",
        "withdrawn",
    ]
    people.delete(f"annotations/{second}")  # the last one on it
    people.delete(f"annotations/{skipped}")
    assert pull(label_studio.client, book).new == 2
    assert said(book) == {"a": ("withdrawn", None), "b": ("equation", "76 - 25"), "c": ("withdrawn", None)}
    assert pull(label_studio.client, book).new == 0


def test_annotations_deleted_in_bulk_in_the_data_manager_are_withdrawn(people, book, label_studio):
    for name in NAMES:
        people.annotate(people.task(name), picked("76 - 25"))
    pull(label_studio.client, book)
    answered(
        label_studio.client,
        "deleting in bulk",
        "POST",
        "api/dm/actions/",
        params={"id": "delete_tasks_annotations", "project": people.project},
        json={"selectedItems": {"all": False, "included": [people.task("a"), people.task("b")]}},
    )
    assert pull(label_studio.client, book).new == 2
    assert [said(book)[name][0] for name in NAMES] == ["withdrawn", "withdrawn", "equation", "equation"]


def test_deleted_tasks_take_what_was_said_in_them_with_them(people, book, label_studio):
    people.annotate(people.task("a"), picked("76 - 25"))
    people.annotate(people.task("b"), picked("76 - 25"))
    pull(label_studio.client, book)
    people.delete(f"tasks/{people.task('a')}")
    done = pull(label_studio.client, book)
    assert done.new == 0 or done.new == 1
    assert "(problem a) was deleted" in done.warnings[0]
    assert said(book) == {"a": ("withdrawn", None), "b": ("equation", "76 - 25")}
    assert pull(label_studio.client, book) == type(done)(0)


def test_a_task_deleted_in_the_second_another_is_annotated_is_noticed_all_the_same(
    people, book, label_studio
):
    people.annotate(people.task("a"), picked("76 - 25"))
    pull(label_studio.client, book)
    people.delete(f"tasks/{people.task('a')}")
    people.annotate(people.task("b"), picked("76 - 25"))
    pull(label_studio.client, book)
    assert said(book) == {"a": ("withdrawn", None), "b": ("equation", "76 - 25")}


def test_two_annotations_on_one_task_both_come(people, book, label_studio):
    task = people.task("a")
    people.annotate(task, picked("76 - 25"))
    people.annotate(task, picked("76 - 25"))
    pull(label_studio.client, book)
    assert [one.equation for one in book.responses()[0]] == ["76 - 25", "76 - 25"]


@pytest.mark.parametrize(
    ("result", "equation", "warned"),
    [
        ([], "", "holds no equation"),
        (picked("9 - 9"), "9 - 9", None),
        (picked("<script>alert(1)</script>"), "<script>alert(1)</script>", None),
        (written("=HYPERLINK(1)"), "=HYPERLINK(1)", None),
        (written("7" * 5_000_000), "7" * 1_000 + "…", "5,000,000 characters"),
        ([{"from_name": "nobody", "value": 7}], "", "holds no equation"),
    ],
    ids=["empty", "unknown choice", "script", "formula", "5 MB", "unknown control"],
)
def test_strange_annotations_are_rejected_answers_and_no_faults(
    people, book, label_studio, result, equation, warned
):
    people.annotate(people.task("a"), result)
    pull(label_studio.client, book)
    (response,), warnings, _ = book.responses()
    assert (response.kind, response.equation) == ("equation", equation)
    assert (warned is None and warnings == []) or warned in warnings[0]


@pytest.mark.parametrize("how", ["drop", "lose", "cut", "double", "502", "429"])
def test_a_pull_that_breaks_is_repeated_and_nothing_is_lost_or_twice(people, book, label_studio, how):
    for name in NAMES:
        people.annotate(people.task(name), picked("76 - 25"))
    with Proxy(label_studio.url) as proxy, Client(Connection(proxy.url, label_studio.key)) as client:
        proxy.fail(how, "GET", "/api/tasks", times=10)
        try:
            pull(client, book)
        except Unreachable:
            assert book.responses()[0] == []
        proxy.heal()
        pull(client, book)
        assert pull(client, book).new == 0
    assert said(book) == dict.fromkeys(NAMES, ("equation", "76 - 25"))
    assert book._db.execute("SELECT count(*) FROM raw").fetchone() == (4,)
    assert label_studio.url in book.responses()[0][0].external_id  # the proxy's address changes no name


def test_a_pull_killed_before_it_commits_is_repeated(people, book, label_studio):
    people.annotate(people.task("a"), picked("76 - 25"))
    child = os.fork()
    if child == 0:
        Book._commit = lambda self: os.kill(os.getpid(), signal.SIGKILL)
        try:
            with Client(label_studio.server.connection) as client:
                pull(client, Book(book.folder))
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert book.responses()[0] == []
    assert pull(label_studio.client, book).new == 1
    assert pull(label_studio.client, book).new == 0


def test_a_deleted_project_is_a_sentence_and_what_was_said_stays(people, book, label_studio):
    people.annotate(people.task("a"), picked("76 - 25"))
    pull(label_studio.client, book)
    people.delete(f"projects/{people.project}")
    with pytest.raises(Gone, match="What was said in it is kept in"):
        pull(label_studio.client, book)
    assert said(book) == {"a": ("equation", "76 - 25")}


def test_a_book_without_a_project_says_that_nothing_was_sent(label_studio, book):
    with pytest.raises(WarmkitError, match="nothing was sent"):
        pull(label_studio.client, book)


def test_what_came_in_while_a_push_was_not_written_down_is_not_lost(people, book, label_studio):
    people.annotate(people.task("a"), picked("76 - 25"))
    with book.transaction():  # as a kill would leave it
        book._db.execute("DELETE FROM tasks")
    pull(label_studio.client, book)
    assert said(book) == {"a": ("equation", "76 - 25")}
