"""What the bridge knows of its project on the server: what was sent there, and every word that came back.

A SQLite file in a folder: book.sqlite. A run's is in runs/NAME/label-studio. Annotations are only ever
added: an edit is a new row, and so is a deletion, whose result is null.
"""

import fcntl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any
from uuid import uuid4

from annotation.tasks import Key, Raw, key_of, response_of
from toolkit.data.store import Store
from toolkit.errors import WarmkitError
from toolkit.loop.annotator import Question, Response

SCHEMA = """
CREATE TABLE IF NOT EXISTS questions (
    problem_id TEXT NOT NULL, round INTEGER NOT NULL, attempt INTEGER NOT NULL,
    text TEXT NOT NULL, answer REAL NOT NULL, lang TEXT NOT NULL, PRIMARY KEY (problem_id, round, attempt));
CREATE TABLE IF NOT EXISTS tasks (
    task_id INTEGER PRIMARY KEY, problem_id TEXT, round INTEGER, attempt INTEGER,
    gone INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS by_question ON tasks (problem_id, round, attempt);
CREATE TABLE IF NOT EXISTS raw (
    number INTEGER PRIMARY KEY, annotation_id INTEGER NOT NULL, task_id INTEGER NOT NULL,
    annotator TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, seconds REAL,
    cancelled INTEGER NOT NULL, result TEXT);
CREATE INDEX IF NOT EXISTS by_annotation ON raw (annotation_id);
"""
LATEST = "number IN (SELECT max(number) FROM raw GROUP BY annotation_id)"
COLUMNS = "annotation_id, task_id, annotator, created_at, updated_at, seconds, cancelled, result"


class Book(Store):
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WarmkitError(f"{folder}: it can't be made: {error.strerror}.") from None
        super().__init__(folder / "book.sqlite", SCHEMA, "what was sent to Label Studio")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """One at a time speaks with the server about this book; another one waits."""
        with (self.folder / "lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    # The project

    @property
    def project(self) -> int | None:
        found: int | None = self.fact("project")
        return found

    @property
    def place(self) -> str:
        """The name of the project for good, also where the server has moved since."""
        return f"{self.fact('url')}/projects/{self.project}"

    def mark(self) -> tuple[str, bool]:
        """A mark by which a project is known as this book's, and whether it was made before now."""
        mark = self.fact("mark")
        if mark is not None:
            return mark, True
        mark = f"warmkit {uuid4().hex}"
        with self.transaction():
            self.set_fact("mark", mark)
        return mark, False

    # What was sent

    def ask(self, questions: Iterable[Question]) -> None:
        """Write down what is about to be sent, so that a kill leaves a trace of it."""
        with self.transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO questions VALUES (?, ?, ?, ?, ?, ?)",
                [(*key_of(one), one.text, one.answer, one.lang) for one in questions],
            )

    def asked(self) -> dict[Key, tuple[str, float, str]]:
        """Text, answer and language of all that was ever asked."""
        rows = self._db.execute("SELECT * FROM questions ORDER BY rowid")
        return {Key(*row[:3]): row[3:] for row in rows}

    def is_unsure(self) -> bool:
        """Whether something was about to be sent of which no task is known."""
        return (
            self._db.execute(
                "SELECT 1 FROM questions AS q WHERE NOT EXISTS (SELECT 1 FROM tasks AS t WHERE NOT t.gone "
                "AND t.problem_id = q.problem_id AND t.round = q.round AND t.attempt = q.attempt) LIMIT 1"
            ).fetchone()
            is not None
        )

    def add_tasks(self, tasks: Mapping[int, Key | None]) -> None:
        """Tasks that the server has; those without a key are somebody else's."""
        self._db.executemany(
            "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, 0)",
            [(task, *(key or (None, None, None))) for task, key in tasks.items()],
        )

    def remove_tasks(self, tasks: Iterable[int]) -> None:
        self._db.executemany("UPDATE tasks SET gone = 1 WHERE task_id = ?", [(task,) for task in tasks])

    def tasks(self) -> dict[int, Key | None]:
        """The tasks that the server had when last looked at, the lowest id first."""
        rows = self._db.execute(
            "SELECT task_id, problem_id, round, attempt FROM tasks WHERE NOT gone ORDER BY task_id"
        )
        return {row[0]: None if row[1] is None else Key(*row[1:]) for row in rows}

    def count_tasks(self) -> int:
        count: int = self._db.execute("SELECT count(*) FROM tasks WHERE NOT gone").fetchone()[0]
        return count

    def sent(self) -> dict[Key, int]:
        """The task of each question that has one; of several the lowest counts."""
        return {key: task for task, key in reversed(self.tasks().items()) if key is not None}

    # What came back

    def add(self, rows: Iterable[Raw]) -> None:
        marks = ", ".join("?" * 8)
        self._db.executemany(f"INSERT INTO raw ({COLUMNS}) VALUES ({marks})", [astuple(row) for row in rows])

    def latest(self) -> dict[int, Raw]:
        """Each annotation as it was last seen, the deleted ones too."""
        rows = self._db.execute(f"SELECT {COLUMNS} FROM raw WHERE {LATEST} ORDER BY number")
        return {row[0]: _raw(row) for row in rows}

    def last(self) -> int:
        """The last row that says something of a question, 0 before there is any."""
        found: int | None = self._db.execute(
            "SELECT max(number) FROM raw JOIN tasks USING (task_id) WHERE problem_id IS NOT NULL"
        ).fetchone()[0]
        return found or 0

    def responses(self, after: int = 0) -> tuple[list[Response], list[str], int]:
        """What annotators said, as it stands, of what came after that row; warnings; the last row."""
        rows = self._db.execute(
            f"SELECT {COLUMNS}, number, problem_id, round, attempt FROM raw JOIN tasks USING (task_id) "
            f"WHERE {LATEST} AND number > ? AND problem_id IS NOT NULL ORDER BY number",
            (after,),
        )
        responses, warnings = [], []
        for row in rows:
            after = row[8]
            response, warning = response_of(_raw(row), Key(*row[9:]), self.place)
            responses.append(response)
            if warning:
                warnings.append(warning)
        return responses, warnings, after


def _raw(row: Sequence[Any]) -> Raw:
    number, task, annotator, created_at, updated_at, seconds, cancelled, result = row[:8]
    return Raw(number, task, annotator, created_at, updated_at, seconds, bool(cancelled), result)
