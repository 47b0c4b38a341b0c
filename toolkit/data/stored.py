"""Problems in a Parquet file, of which no more is read than what is asked for.

Of a small set all problems are kept in memory, so that nothing is worked out twice. Of a larger one there are
scans of some columns, parts one after the other, and the few problems that somebody asks for by their ids.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from toolkit.data.problems import ProblemSet
from toolkit.data.schema import PROBLEMS, check_rows, refuse_bad
from toolkit.data.write import ROW_GROUP
from toolkit.equations import Constant
from toolkit.storage.tables import as_schema, check_texts, count_rows, guarded, read_parquet, scan_parquet

PART = 512  # problems that are worked on at a time
MOST_HELD = 32_768  # problems that are kept in memory, with tokens, numbers and gold templates


class StoredProblems:
    """The problems of a file with the schema `PROBLEMS`; every row is checked before it is used."""

    def __init__(
        self,
        path: Path,
        constants: Sequence[Constant],
        held: ProblemSet | None = None,
        most_held: int | None = None,
    ) -> None:
        """`held` is what the file has, if it is in memory anyway. `most_held` is MOST_HELD, if not given."""
        self.path, self.constants, self._held = path, tuple(constants), held
        self._most_held = MOST_HELD if most_held is None else most_held
        self._few = ProblemSet(PROBLEMS.to_frame(), self.constants)
        self._looked_for: frozenset[str] = frozenset()
        self._parts: dict[tuple[int, tuple[Constant, ...]], list[ProblemSet]] = {}

    @cached_property
    def count(self) -> int:
        return count_rows(self.path) if self._held is None else len(self._held)

    def __len__(self) -> int:
        return self.count

    @property
    def is_held(self) -> bool:
        """Whether all problems are kept in memory."""
        return self._held is not None or len(self) <= self._most_held

    def whole(self) -> ProblemSet:
        """All problems. Those of a large set are read again each time, for whoever can't do without."""
        if self._held is not None:
            return self._held
        read = self._checked(read_parquet(self.path, PROBLEMS))
        if self.is_held:
            self._held = read
        return read

    @property
    def table(self) -> pl.LazyFrame:
        """All problems, to be scanned; their rows are not checked."""
        return self.whole().table.lazy() if self.is_held else scan_parquet(self.path)

    def columns(self, *columns: pl.Expr | str) -> pl.DataFrame:
        """Some columns of all problems, in the order of the file."""
        if self.is_held:
            return self.whole().table.select(*columns)
        rows = scan_parquet(self.path)
        with guarded(self.path):
            return rows.select(*columns).collect(engine="streaming")

    @cached_property
    def ids(self) -> pl.Series:
        return self.columns("id")["id"]

    def few(self, ids: Collection[str]) -> ProblemSet:
        """A set that has at least the problems with these ids, as far as there are any.

        Problems that were read for an earlier call are in it, too.
        """
        if self.is_held:
            return self.whole()
        if new := frozenset(ids) - self._looked_for:
            found = self._checked(self._filtered(new))
            self._few = ProblemSet.joined([self._few, found], self.constants)
            self._looked_for |= new
        return self._few

    def chosen(self, ids: Collection[str]) -> ProblemSet:
        """The problems with these ids, in the order of the file."""
        if self.is_held:
            return self.whole().take([row for row, name in enumerate(self.whole().ids) if name in ids])
        return self._checked(self._filtered(ids))

    def parts(self, size: int, constants: Sequence[Constant] | None = None) -> Iterator[ProblemSet]:
        """All problems, `size` at a time; with other constants, if they are given."""
        wanted = self.constants if constants is None else tuple(constants)
        if not self.is_held:
            yield from self._read_parts(size, wanted)
            return
        key = size, wanted
        if key not in self._parts:  # they keep what is worked out for them
            self._parts[key] = list(self.whole().with_constants(wanted).parts(size))
        yield from self._parts[key]

    def rows(self, start: int, count: int) -> ProblemSet:
        """So many problems, from a row on."""
        if self.is_held:
            return self.whole().take(range(start, min(start + count, len(self))))
        return self._checked(self._slice(start, count), start)

    def _filtered(self, ids: Collection[str]) -> pl.DataFrame:
        rows = scan_parquet(self.path)
        with guarded(self.path):
            return rows.filter(pl.col("id").is_in(list(ids))).collect(engine="streaming")

    def _slice(self, start: int, count: int) -> pl.DataFrame:
        rows = scan_parquet(self.path)
        with guarded(self.path):
            return rows.slice(start, count).collect(engine="streaming")

    def _read_parts(self, size: int, constants: tuple[Constant, ...]) -> Iterator[ProblemSet]:
        at_once = max(size, ROW_GROUP // size * size)  # a slice unpacks the whole row group that it is in
        for start in range(0, len(self), at_once):
            block = self._slice(start, at_once)
            for offset in range(0, len(block), size):
                part = self._checked(block.slice(offset, size), start + offset)
                yield part.with_constants(constants)

    def _checked(self, table: pl.DataFrame, start: int = 0) -> ProblemSet:
        """The problems of rows of the file; `start` of them come before."""
        name = str(self.path)
        check_texts(self.path, table)
        given = as_schema(table, PROBLEMS, name)
        checked, masked, bad = check_rows(enumerate(given.iter_rows(named=True), start + 1), name)
        refuse_bad(name, len(checked), bad)
        return ProblemSet(checked, self.constants, masked=masked)
