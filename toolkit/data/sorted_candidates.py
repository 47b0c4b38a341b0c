"""Candidates of a problem set that does not fit in one process, in the order of its problems.

A table of candidates, in files whose rows are in any order, is read once, some rows at a time. Rows are
checked as `read_candidates` does, as far as that needs no template, and written in runs that are sorted by
the rows of their problems. Whoever works on a part of the problems reads its rows of each run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from toolkit.data.candidates import (
    Candidates,
    Place,
    candidate_files,
    check_templates,
    empty_candidates,
    other_candidates,
    refuse_impossible,
)
from toolkit.data.prepared import PreparedSet
from toolkit.data.problems import ProblemSet
from toolkit.data.schema import CANDIDATES
from toolkit.data.write import ROW_GROUP
from toolkit.equations import Const, Constant, EquationError, Pi, parse_template
from toolkit.equations.tree import postorder
from toolkit.errors import WarmkitError
from toolkit.storage.tables import as_schema, check_texts, count_rows, guarded, read_table, scan_parquet

AT_ONCE = 16 * ROW_GROUP  # rows of candidates that are read at a time
RUN = AT_ONCE  # rows of a run, at least
SORTED = pl.Schema(
    {
        "problem": pl.Int64,  # its row
        "template": pl.String,
        "posterior": pl.Float64,
        "file": pl.Int32,  # where the candidate is from
        "row": pl.Int64,
    }
)

Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Run:
    """A file of candidates, sorted by problems."""

    path: Path
    first: int  # row of its first problem
    last: int


@dataclass(frozen=True)
class SortedCandidates:
    """Candidates in runs. They may be sent to workers, which see the same folder."""

    files: tuple[str, ...]  # that they are from
    runs: tuple[Run, ...]

    def of(self, start: int, problems: ProblemSet) -> Candidates:
        """The candidates of problems that begin with a row of the set; their templates are checked."""
        stop = start + len(problems)
        pieces = [SORTED.to_frame()]
        for run in self.runs:
            if run.first < stop and start <= run.last:
                with guarded(run.path):
                    rows = pl.scan_parquet(run.path, glob=False)
                    pieces.append(rows.filter(pl.col("problem").is_between(start, stop - 1)).collect())
        found = pl.concat(pieces).sort("problem", "file", "row")
        table = found.select(
            pl.lit(problems.table["id"]).gather(pl.col("problem") - start).alias("problem_id"),
            "template",
            "posterior",
        )
        from_files, rows_of_files = found["file"], found["row"]

        def place(at: int) -> Place:
            return self.files[from_files[at]], rows_of_files[at]

        candidates = Candidates(table)
        check_templates(candidates, problems, place)
        return candidates


def sort_candidates(path: Path, problems: PreparedSet, folder: Path) -> SortedCandidates:
    """The candidates of a prepared set, from a file or a folder of files, in runs in a folder."""
    files, places = candidate_files(path), _Rows(problems)
    runs: list[Run] = []
    waiting, rows = list[pl.DataFrame](), 0
    given = 0

    def write() -> None:
        name = folder / f"candidates-{len(runs):06d}.parquet"
        run = pl.concat(waiting).sort("problem", maintain_order=True)
        with guarded(name, "written"):
            run.write_parquet(name, row_group_size=ROW_GROUP)
        runs.append(Run(name, run["problem"][0], run["problem"][-1]))

    for number, file in enumerate(files):
        for first, table in _pieces(file):
            given += len(table)
            row = places.of(table["problem_id"])
            refuse_impossible(table, places.numbers_of(row), partial(_place, str(file), first))
            kept = table.select(
                pl.Series("problem", row), "template", "posterior", file=pl.lit(number, pl.Int32)
            ).with_row_index("row", first + 1)
            found = kept.filter(pl.col("problem") >= 0).select(
                pl.col(column).cast(dtype) for column, dtype in SORTED.items()
            )
            waiting.append(found)
            rows += len(found)
            if rows >= RUN:
                write()
                waiting, rows = [], 0
    if not given:
        raise empty_candidates(str(path))
    if rows:
        write()
    if not runs:
        raise other_candidates(str(path))
    return SortedCandidates(tuple(map(str, files)), tuple(runs))


def candidate_constants(path: Path) -> set[Constant]:
    """The constants that the templates of candidates use."""
    constants: set[Constant] = set()
    read: set[str] = set()  # templates without their numbers
    without = pl.col("template").str.replace_all("N[0-9]+", "N0")
    for file in candidate_files(path):
        for first, table in _pieces(file):
            shapes = table.select(shape=without).with_row_index("row", first + 1)
            first_of_each = shapes.drop_nulls().unique("shape", keep="first", maintain_order=True)
            for row, shape in first_of_each.iter_rows():
                if shape in read:
                    continue
                read.add(shape)
                try:
                    nodes = postorder(parse_template(shape))
                except EquationError as error:
                    raise WarmkitError(f"{file}, row {row}: its template can't be read: {error}.") from None
                constants.update(node for node in nodes if isinstance(node, Const | Pi))
    return constants


def _pieces(file: Path) -> Iterator[tuple[int, pl.DataFrame]]:
    """The rows of a file, not many at a time, with how many come before."""
    if file.suffix.lower() != ".parquet" or (count := count_rows(file)) <= AT_ONCE:
        yield 0, read_table(file, CANDIDATES)
        return
    rows = scan_parquet(file)
    for start in range(0, count, AT_ONCE):
        with guarded(file):
            table = rows.slice(start, AT_ONCE).collect(engine="streaming")
            check_texts(file, table)
        yield start, as_schema(table, CANDIDATES, str(file))


def _place(file: str, before: int, at: int) -> Place:
    return file, before + at + 1


class _Rows:
    """The row of each id of a prepared set, and how many numbers its problem has: 17 bytes a problem.

    Ids are known by 64 bits of a hash, as `SeenIds` knows them.
    """

    def __init__(self, problems: PreparedSet) -> None:
        hashes = np.empty(len(problems), dtype=np.uint64)
        self._numbers = np.empty(len(problems), dtype=np.uint8)
        done = 0
        for part in problems.frames(("id", "numbers")):
            hashes[done : done + len(part)] = part["id"].hash().to_numpy()
            count = part["numbers"].str.count_matches(" ", literal=True) + 1
            self._numbers[done : done + len(part)] = count.to_numpy()
            done += len(part)
        self._order: Ints = hashes.argsort()
        self._hashes = hashes[self._order]

    def of(self, ids: pl.Series) -> Ints:
        """The row of the problem with each id; -1 if there is none."""
        hashes = ids.fill_null("").hash().to_numpy()
        at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        rows: Ints = np.where(self._hashes[at] == hashes, self._order[at], -1)
        return rows

    def numbers_of(self, rows: Ints) -> pl.Series:
        """How many numbers the problem in each row has; null for -1."""
        return pl.Series(self._numbers[rows]).cast(pl.Int64).scatter(pl.Series(rows < 0).arg_true(), None)
