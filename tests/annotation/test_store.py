"""The store of Label Studio tasks, damaged or sent by somebody: a sentence."""

import sqlite3
from contextlib import closing
from fractions import Fraction

import pytest

from annotation.store import TaskStore
from annotation.tasks import Key, RawAnnotation
from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.errors import WarmkitError


@pytest.fixture
def folder(tmp_path):
    with closing(TaskStore(tmp_path / "store")) as store:
        shown = (ShownCandidate("5 - 3", "N0 - N1"),)
        numbers = (Fraction(5), Fraction(3))
        store.ask([Question("p1", 1, "5 less 3?", 2.0, "en", numbers, shown)])
        with store.transaction():
            store.set_fact("project", 7)
            store.set_fact("url", "http://localhost:8080")
            store.add_tasks({1: Key("p1", 1, 0), 2: None})
            store.add([RawAnnotation(1, 1, "ann", "2026", "2026", 3.5, False, "[]")])
    return tmp_path / "store"


def change(folder, statement: str) -> None:
    with closing(sqlite3.connect(folder / "tasks.sqlite", isolation_level=None)) as database:
        database.execute(statement)


def read(folder) -> None:
    with closing(TaskStore(folder)) as store:
        assert store.project == 7 and store.count_tasks() == 2
        assert store.tasks() == {1: Key("p1", 1, 0), 2: None} and store.last() == 1
        assert store.asked() == {Key("p1", 1, 0): ("5 less 3?", 2.0, "en")}
        assert list(store.latest()) == [1]
        assert [response.problem_id for response in store.responses()[0]] == ["p1"]
        assert not store.is_unsure()


def test_a_whole_store_is_read(folder):
    read(folder)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET value = '\"seven\"' WHERE name = 'project'",
        "UPDATE facts SET value = '{' WHERE name = 'project'",
        "UPDATE facts SET value = '3' WHERE name = 'url'",
        "UPDATE questions SET answer = 'two'",
        "UPDATE questions SET candidates = '[1]'",
        "UPDATE questions SET text = CAST(x'ff' AS TEXT)",
        "UPDATE tasks SET round = 'first' WHERE task_id = 1",
        "UPDATE annotations SET seconds = 'long'",
        "UPDATE annotations SET annotator = x'00'",
        "DROP TABLE tasks",
        "CREATE TRIGGER t AFTER INSERT ON tasks BEGIN DELETE FROM annotations; END",
    ],
)
def test_a_damaged_store_is_a_sentence(folder, statement):
    change(folder, statement)
    with pytest.raises(WarmkitError, match=r"store/tasks\.sqlite: the store of Label Studio tasks"):
        read(folder)


def test_a_store_that_is_a_link_is_not_opened(folder, tmp_path):
    (tmp_path / "gift").mkdir()
    (tmp_path / "gift" / "tasks.sqlite").symlink_to(folder / "tasks.sqlite")
    with pytest.raises(WarmkitError, match="this is not an ordinary file, so it is not opened"):
        TaskStore(tmp_path / "gift")
