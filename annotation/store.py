"""What the bridge knows of its project on the server: which tasks were sent, and each annotation since.

A SQLite file in a folder: tasks.sqlite. A run has its own in runs/NAME/label-studio. Annotations are only
ever added: an edit is a new row, and so is a deletion, whose result is null.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

from pydantic import Field, TypeAdapter

from annotation.tasks import Key, RawAnnotation, key_of, response_of
from toolkit.annotators.questions import Question, Response
from toolkit.errors import WarmkitError
from toolkit.storage.database import Database
from toolkit.storage.lock import held_when_free

FILE = "tasks.sqlite"
SCHEMA = """
CREATE TABLE IF NOT EXISTS questions (
    problem_id TEXT NOT NULL, round INTEGER NOT NULL, attempt INTEGER NOT NULL, text TEXT NOT NULL,
    answer REAL NOT NULL, lang TEXT NOT NULL, candidates TEXT NOT NULL,
    PRIMARY KEY (problem_id, round, attempt));
CREATE TABLE IF NOT EXISTS tasks (
    task_id INTEGER PRIMARY KEY, problem_id TEXT, round INTEGER, attempt INTEGER,
    gone INTEGER NOT NULL DEFAULT 0, overlap INTEGER);
CREATE INDEX IF NOT EXISTS by_question ON tasks (problem_id, round, attempt);
CREATE TABLE IF NOT EXISTS annotations (
    number INTEGER PRIMARY KEY, annotation_id INTEGER NOT NULL, task_id INTEGER NOT NULL,
    annotator TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, seconds REAL,
    cancelled INTEGER NOT NULL, result TEXT);
CREATE INDEX IF NOT EXISTS by_annotation ON annotations (annotation_id);
"""
LATEST = "number IN (SELECT max(number) FROM annotations GROUP BY annotation_id)"
COLUMNS = "annotation_id, task_id, annotator, created_at, updated_at, seconds, cancelled, result"


# What is read from it, for the file may be damaged, or come from somebody else.
FACTS: Mapping[str, TypeAdapter[Any]] = {
    **dict.fromkeys(("url", "created_at", "title", "mark", "cursor"), TypeAdapter(str)),
    "model_version": TypeAdapter(str | None),
    "project": TypeAdapter(int),
    "page": TypeAdapter(tuple[str, str]),
    "constants": TypeAdapter(list[str]),
    "joined": TypeAdapter(bool),
    "per_task": TypeAdapter(int),  # annotations that the project wants of a task
}
Figure = Annotated[float, Field(allow_inf_nan=False)]
AskedRow = tuple[str, int, int, str, Figure, str]
TaskRow = tuple[int, str | None, int | None, int | None]
RawRow = tuple[int, int, str, str, str, Figure | None, int, str | None]
AnswerRow = tuple[  # a raw row with its number, its key and the candidates that were shown
    int, int, str, str, str, Figure | None, int, str | None, int, str, int, int, str | None
]
ASKED, TASKS = TypeAdapter(list[AskedRow]), TypeAdapter(list[TaskRow])
RAW, ANSWERS = TypeAdapter(list[RawRow]), TypeAdapter(list[AnswerRow])
NUMBERS = TypeAdapter(list[tuple[int | None]])
OVERLAPS = TypeAdapter(list[tuple[int, int]])
SHOWN = TypeAdapter(list[tuple[str, str]])


class TaskStore(Database):
    facts = FACTS

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WarmkitError(f"{folder}: it can't be made: {error.strerror}.") from None
        super().__init__(folder / FILE, SCHEMA, "the store of Label Studio tasks", new=True)

    @staticmethod
    def exists(folder: Path) -> bool:
        return (folder / FILE).exists()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """One process at a time talks to the server about this store; others wait."""
        with held_when_free(self.folder / "lock"):
            yield

    # The project

    @property
    def project(self) -> int | None:
        found: int | None = self.fact("project")
        return found

    @property
    def project_url(self) -> str:
        """Identifies the project for good: the server's URL when it was made, also if it has moved since."""
        return f"{self.fact('url')}/projects/{self.project}"

    def mark(self) -> tuple[str, bool]:
        """A mark that identifies a project as the one of this store, and whether it was made before now."""
        mark = self.fact("mark")
        if mark is not None:
            return mark, True
        mark = f"warmkit {uuid4().hex}"
        with self.transaction():
            self.set_fact("mark", mark)
        return mark, False

    # Questions and their tasks

    def ask(self, questions: Iterable[Question]) -> None:
        """Write down what is about to be sent, so that a kill leaves a trace of it."""
        rows = [
            (
                *key_of(question),
                question.text,
                question.answer,
                question.lang,
                json.dumps(question.candidates),
            )
            for question in questions
        ]
        with self.transaction():
            self._db.executemany("INSERT OR IGNORE INTO questions VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def asked(self) -> dict[Key, tuple[str, float, str]]:
        """Text, answer and language of all questions that were ever asked."""
        query = "SELECT problem_id, round, attempt, text, answer, lang FROM questions ORDER BY rowid"
        return {Key(*row[:3]): row[3:] for row in self.rows("questions", ASKED, query)}

    def is_unsure(self) -> bool:
        """Whether a question was about to be sent of which no task is known."""
        query = (
            "SELECT 1 FROM questions AS q WHERE NOT EXISTS (SELECT 1 FROM tasks AS t WHERE NOT t.gone "
            "AND t.problem_id = q.problem_id AND t.round = q.round AND t.attempt = q.attempt) LIMIT 1"
        )
        return bool(self.rows("questions", NUMBERS, query))

    def add_tasks(self, tasks: Mapping[int, Key | None]) -> None:
        """Tasks that the server has; those without a key are somebody else's. A task keeps its first key."""
        self._db.executemany(
            "INSERT INTO tasks VALUES (?, ?, ?, ?, 0, NULL) ON CONFLICT (task_id) DO UPDATE SET gone = 0",
            [(task, *(key or (None, None, None))) for task, key in tasks.items()],
        )

    def are_new(self, tasks: Sequence[int]) -> bool:
        """Whether these are different tasks, and none of them was ever in the store."""
        known = {row[0] for row in self._db.execute("SELECT task_id FROM tasks")}
        return len(set(tasks)) == len(tasks) and known.isdisjoint(tasks)

    def remove_tasks(self, tasks: Iterable[int]) -> None:
        self._db.executemany("UPDATE tasks SET gone = 1 WHERE task_id = ?", [(task,) for task in tasks])

    def tasks(self) -> dict[int, Key | None]:
        """The tasks that the server had at the last look, the lowest id first."""
        query = "SELECT task_id, problem_id, round, attempt FROM tasks WHERE NOT gone ORDER BY task_id"
        return {
            task: None if problem_id is None else Key(problem_id, round_ or 0, attempt or 0)
            for task, problem_id, round_, attempt in self.rows("tasks", TASKS, query)
        }

    def count_tasks(self) -> int:
        return self.rows("tasks", NUMBERS, "SELECT count(*) FROM tasks WHERE NOT gone")[0][0] or 0

    def sent(self) -> dict[Key, int]:
        """The task of each question that has one; if it has several, the lowest."""
        return {key: task for task, key in reversed(self.tasks().items()) if key is not None}

    def overlaps(self) -> dict[int, int]:
        """How many people each task was set to be annotated by; none if it is as the project has it."""
        query = "SELECT task_id, overlap FROM tasks WHERE overlap IS NOT NULL"
        rows: list[tuple[int, int]] = self.rows("tasks", OVERLAPS, query)
        return dict(rows)

    def set_overlaps(self, overlaps: Mapping[int, int | None]) -> None:
        rows = [(overlap, task) for task, overlap in overlaps.items()]
        self._db.executemany("UPDATE tasks SET overlap = ? WHERE task_id = ?", rows)

    # Annotations

    def add(self, rows: Iterable[RawAnnotation]) -> None:
        marks = ", ".join("?" * 8)
        self._db.executemany(
            f"INSERT INTO annotations ({COLUMNS}) VALUES ({marks})", [astuple(row) for row in rows]
        )

    def latest(self) -> dict[int, RawAnnotation]:
        """Each annotation as it was last seen, deleted ones too."""
        query = f"SELECT {COLUMNS} FROM annotations WHERE {LATEST} ORDER BY number"
        return {row[0]: _raw(row) for row in self.rows("annotations", RAW, query)}

    def last(self) -> int:
        """The number of the last row about a question, 0 if there is none."""
        query = "SELECT max(number) FROM annotations JOIN tasks USING (task_id) WHERE problem_id IS NOT NULL"
        return self.rows("annotations", NUMBERS, query)[0][0] or 0

    def responses(self, after: int = 0) -> tuple[list[Response], list[str], int]:
        """The current responses from rows after that number; warnings; the number of the last row."""
        query = (
            f"SELECT {COLUMNS}, number, problem_id, round, attempt, candidates FROM annotations "
            "JOIN tasks USING (task_id) LEFT JOIN questions USING (problem_id, round, attempt) "
            f"WHERE {LATEST} AND number > ? AND problem_id IS NOT NULL ORDER BY number"
        )
        responses, warnings = [], []
        for row in self.rows("annotations", ANSWERS, query, (after,)):
            raw, (after, problem_id, round_, attempt, candidates) = row[:8], row[8:]
            key = Key(problem_id, round_, attempt)
            pairs = self.from_json(problem_id[:60], SHOWN, candidates or "[]")
            shown = {template: equation for equation, template in pairs}
            response, warning = response_of(_raw(raw), key, shown, self.project_url)
            responses.append(response)
            if warning:
                warnings.append(warning)
        return responses, warnings, after


def _raw(row: RawRow) -> RawAnnotation:
    number, task, annotator, created_at, updated_at, seconds, cancelled, result = row
    return RawAnnotation(number, task, annotator, created_at, updated_at, seconds, bool(cancelled), result)
