"""Lessons in a folder: lessons.json, a Parquet file for each part, and the problems that are held out.

Each file is compared with the digest that lessons.json has of it. Ranks, and networks in other processes,
read there what they learn from.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import Field

from toolkit.data.prepared import (
    READABLE,
    PreparedFile,
    as_problems,
    prepared_content,
    read_prepared_table,
    readable_columns,
    write_prepared_table,
)
from toolkit.data.vocabulary import described_vocabulary
from toolkit.equations import show
from toolkit.nn.workers import ALONE, WorkerGroup
from toolkit.solvers.base import PreparedLessons
from toolkit.solvers.neural.lessons import LESSONS, Lessons
from toolkit.storage.description import Description, damaged, read_description, write_description

if TYPE_CHECKING:
    from toolkit.solvers.neural.solver import NeuralSolver

FORMAT = "warmkit-lessons-1"
DESCRIPTION = "lessons.json"
HELD_OUT = "held-out.parquet"
STORED = pl.Schema({**LESSONS, "is_held_out": pl.Boolean()})


class LessonsDescription(Description):
    data: str
    problems: int = Field(ge=1)
    count: int = Field(ge=1)
    constants: list[str]
    vocabulary: list[str]
    answers: dict[str, int]
    held_out: PreparedFile
    parts: list[PreparedFile]


def describe_lessons(
    folder: Path, lessons: Lessons, data: str, problems: int, parts: Sequence[PreparedFile]
) -> None:
    """Write down what there is beside the parts; `problems` are those of the whole set."""
    held_out = pl.DataFrame(readable_columns(lessons.held_out), schema=READABLE)
    fields = {
        "format": FORMAT,
        "data": data,
        "problems": problems,
        "count": lessons.count,
        "constants": [show(constant) for constant in lessons.constants],
        "vocabulary": lessons.vocabulary.words,
        "answers": dict(lessons.answers),
        "held_out": write_prepared_table(held_out, folder / HELD_OUT).model_dump(),
        "parts": [part.model_dump() for part in parts],
    }
    write_description(folder / DESCRIPTION, fields)


def write_lessons(folder: Path, lessons: Lessons, data: str, problems: int) -> None:
    """Lessons that are in memory, for networks in other processes."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [
        write_lesson_part(part, pl.lit(False), folder, number)
        for number, part in enumerate(lessons.parts(tuple(LESSONS)))
    ]
    describe_lessons(folder, lessons, data, problems, parts)


def write_lesson_part(
    table: pl.DataFrame, is_held_out: pl.Series | pl.Expr, folder: Path, number: int
) -> PreparedFile:
    table = table.with_columns(is_held_out=is_held_out).select(*STORED)
    return write_prepared_table(table, folder / f"part-{number:06d}.parquet")


def check_lessons(folder: Path) -> None:
    """Refuse files that are gone or changed, before workers are sent to them."""
    written = _read(folder)
    for file in (written["held_out"], *written["parts"]):
        prepared_content(folder, PreparedFile(**file))


def read_lessons(
    solver: "type[NeuralSolver]", data: PreparedLessons, workers: WorkerGroup = ALONE
) -> Lessons:
    """The lessons of a folder. Parts are compared with their digests when they are read."""
    folder, written = data.folder, _read(data.folder)
    constants = [show(constant) for constant in data.constants]
    if (written["data"], written["constants"]) != (data.data, constants):
        raise damaged(folder / DESCRIPTION, "prepared set", "it was made of other data")
    parts = [PreparedFile(**part) for part in written["parts"]]
    held_out = read_prepared_table(folder, PreparedFile(**written["held_out"]), READABLE)
    has_held_out = len(held_out) > 0

    def frames(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        names = [*columns, "is_held_out"] if has_held_out else columns
        schema = pl.Schema({name: STORED[name] for name in names})
        for part in parts:
            table = read_prepared_table(folder, part, schema)
            yield table.filter(~pl.col("is_held_out")).drop("is_held_out") if has_held_out else table

    return Lessons(
        solver.sized(data.config, written["problems"]),
        data.seed,
        data.constants,
        described_vocabulary(folder / DESCRIPTION, "prepared set", written["vocabulary"]),
        written["count"],
        as_problems(held_out, data.constants),
        written["answers"],
        frames,
        workers,
    )


def _read(folder: Path) -> dict[str, Any]:
    return read_description(folder / DESCRIPTION, "prepared set", FORMAT, LessonsDescription)
