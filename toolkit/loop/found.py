"""The candidates of a round on disk, in parts, and scans of them.

Scans read no more columns than they need of the rows of all problems (`TOPS`). Candidates themselves are read
for the few problems that are asked about, or part by part. Both are in the order of the problems:

    round-NN/candidates/part-*.parquet   of 8,192 problems each, for instance all of a small set
    round-NN/tops/part-*.parquet         the rows of the same problems
"""

import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import overload

import numpy as np
import numpy.typing as npt
import polars as pl

from toolkit.active.confidence import Floats
from toolkit.data import Candidates, write_table
from toolkit.data.growing import GrowingTable
from toolkit.data.schema import CANDIDATES
from toolkit.errors import WarmkitError
from toolkit.loop.part import TOPS, FoundPart
from toolkit.storage.tables import guarded, read_parquet, scan_parquet

FILE = 8_192  # problems of a file, at least, unless there are no more

Ints = npt.NDArray[np.int64]


class PackedRows(Sequence[Floats]):
    """Arrays of different lengths, which lie one after the other in a single one."""

    def __init__(self, values: Floats, starts: Ints, counts: Ints) -> None:
        self._values, self._starts, self._counts = values, starts, counts

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, row: int) -> Floats: ...
    @overload
    def __getitem__(self, row: slice) -> "PackedRows": ...
    def __getitem__(self, row: int | slice) -> "Floats | PackedRows":
        if isinstance(row, slice):
            return PackedRows(self._values, self._starts[row], self._counts[row])
        start = self._starts[row]
        return self._values[start : start + self._counts[row]]

    def take(self, rows: Ints) -> "PackedRows":
        return PackedRows(self._values, self._starts[rows], self._counts[rows])


class RoundCandidates:
    """The candidates of a round. With `keep`, what is written or read stays in memory."""

    def __init__(self, folder: Path, problems: int, keep: bool) -> None:
        """`folder` is that of the round, which is about so many problems."""
        self.folder, self.tops_folder = folder / "candidates", folder / "tops"
        self._problems, self._keep = problems, keep
        self._kept: dict[int, FoundPart] = {}
        self._whole: tuple[Candidates, pl.DataFrame] | None = None

    # Writing

    def write(self, parts: Iterator[FoundPart]) -> None:
        """Write the parts as they come, in place of what an interrupted stage may have left."""
        for folder in (self.folder, self.tops_folder):
            shutil.rmtree(folder, ignore_errors=True)
        self._kept.clear()
        for number, some in enumerate(_together(parts)):
            self._write(number, some)

    def change(self, change: Callable[[FoundPart], FoundPart | None]) -> None:
        """Replace parts, the first one first; None leaves a part as it is."""
        for number, part in enumerate(self.parts()):
            changed = change(part)
            if changed is not None:
                self._write(number, changed)

    def _write(self, number: int, part: FoundPart) -> None:
        write_table(part.candidates, self.folder / GrowingTable.name(number))
        write_table(part.tops, self.tops_folder / GrowingTable.name(number))
        self._whole = None
        if self._keep:
            self._kept[number] = part

    # Reading

    def parts(self) -> Iterator[FoundPart]:
        """What was found, part by part."""
        files = self._files(self.folder), self._files(self.tops_folder)
        if len(files[0]) != len(files[1]):
            raise self._damaged("its tops and its candidates do not belong together")
        for number, (candidates, tops) in enumerate(zip(*files, strict=True)):
            part = self._kept.get(number)
            if part is None:
                table = _checked(read_parquet(candidates, CANDIDATES), candidates)
                part = FoundPart(table, read_parquet(tops, TOPS))
            if self._keep:
                self._kept[number] = part
            yield part

    def whole(self) -> Candidates:
        """All candidates, for whoever can't do without."""
        return self._in_memory()[0] if self._keep else Candidates(_joined([*self.parts()]).candidates)

    def of(self, ids: Collection[str]) -> Candidates:
        """The candidates of some problems."""
        asked = pl.col("problem_id").is_in(list(ids))
        if self._keep:
            return Candidates(self.whole().table.filter(asked))
        found = self._collect(self.folder, CANDIDATES, asked)
        return Candidates(_checked(found, self.folder))

    def tops(self, *columns: str) -> pl.DataFrame:
        """Some columns of `TOPS`, a row for each problem in the order of the problems."""
        if self._keep:
            return self._in_memory()[1].select(columns)
        return self._complete(
            self._collect(self.tops_folder, pl.Schema({name: TOPS[name] for name in columns}))
        )

    def tops_of(self, ids: Collection[str]) -> pl.DataFrame:
        """The rows of `TOPS` of some problems."""
        asked = pl.col("problem_id").is_in(list(ids))
        return self.tops(*TOPS).filter(asked) if self._keep else self._collect(self.tops_folder, TOPS, asked)

    def posteriors(self) -> PackedRows:
        """The posteriors of each problem's classes, likeliest first; empty if nothing was found."""
        counts = self.tops("classes")["classes"].cast(pl.Int64).to_numpy()
        if self._keep:
            values = self.whole().table["posterior"]
        else:
            values = self._collect(self.folder, pl.Schema({"posterior": pl.Float64()}))["posterior"]
        if len(values) != counts.sum() or values.has_nulls() or not values.is_finite().all():
            raise self._damaged("its tops and its candidates do not belong together")
        return PackedRows(values.to_numpy(), counts.cumsum() - counts, counts)

    def _in_memory(self) -> tuple[Candidates, pl.DataFrame]:
        if self._whole is None:
            found = _joined([*self.parts()])
            self._whole = Candidates(found.candidates), self._complete(found.tops)
        return self._whole

    def _complete(self, tops: pl.DataFrame) -> pl.DataFrame:
        if len(tops) != self._problems:
            raise self._damaged(f"it is about {len(tops):,} problems, of {self._problems:,}")
        return tops

    def _collect(self, folder: Path, schema: pl.Schema, condition: pl.Expr | bool = True) -> pl.DataFrame:
        """Some columns of the parts in a folder, and of them the rows that fulfil a condition."""
        scans = [self._scan(file, schema).filter(condition) for file in self._files(folder)]
        with guarded(folder):
            return pl.concat(scans).collect(engine="streaming")

    def _scan(self, file: Path, schema: pl.Schema) -> pl.LazyFrame:
        rows = scan_parquet(file)
        with guarded(file):
            names = rows.collect_schema().names()
        if missing := [name for name in schema if name not in names]:
            raise WarmkitError(f"{file}: this table has no column {', '.join(missing)}.")
        return rows.select(pl.col(name).cast(dtype) for name, dtype in schema.items())

    def _files(self, folder: Path) -> list[Path]:
        """The parts in a folder, all that there must be."""
        files = sorted(folder.glob("part-*.parquet"))
        if not files or [file.name for file in files] != [*map(GrowingTable.name, range(len(files)))]:
            raise WarmkitError(f"{folder}: it is damaged: parts of it are missing.")
        return files

    def _damaged(self, how: str) -> WarmkitError:
        return WarmkitError(f"{self.folder.parent}: it is damaged: {how}.")


def _together(parts: Iterator[FoundPart]) -> Iterator[FoundPart]:
    """Parts joined to files."""
    some: list[FoundPart] = []
    for part in parts:
        some.append(part)
        if sum(len(one.tops) for one in some) >= FILE:
            yield _joined(some)
            some = []
    if some:
        yield _joined(some)


def _joined(parts: Sequence[FoundPart]) -> FoundPart:
    return FoundPart(pl.concat([part.candidates for part in parts]), pl.concat([part.tops for part in parts]))


def _checked(table: pl.DataFrame, path: Path) -> pl.DataFrame:
    if table.null_count().sum_horizontal().item() or not all(
        table[name].is_finite().all() for name in ("log_prob", "posterior")
    ):
        raise WarmkitError(f"{path}: it is damaged: it has empty cells, or figures that are not finite.")
    return table
