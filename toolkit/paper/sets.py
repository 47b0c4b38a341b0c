"""A problem set of the paper in folds: what is learnt from, and what is held out."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import polars as pl

from toolkit.data import ProblemSet, read_problems
from toolkit.data.split import folds as split_folds
from toolkit.errors import WarmkitError
from toolkit.paper.tables import DataSet
from toolkit.storage.files import read_bytes

TRAIN, VALID = "train", "valid"


@dataclass(frozen=True)
class Part:
    """One fold held out."""

    learnt: ProblemSet
    tested: ProblemSet
    joined: tuple[str, ...] = ()  # the sets that this one is made of, if several: an id begins with its set

    def by_set(self, ids: Iterable[str], right: Iterable[bool]) -> dict[str, tuple[int, int]]:
        """(right, of) of the problems of each set that is joined."""
        marks: dict[str, list[bool]] = {name: [] for name in self.joined}
        for problem_id, is_right in zip(ids, right, strict=True):
            for name in self.joined:
                if problem_id.startswith(f"{name}-"):
                    marks[name].append(is_right)
        return {name: (sum(found), len(found)) for name, found in marks.items()}


@dataclass(frozen=True)
class LoadedSet:
    data: DataSet
    problems: ProblemSet
    digest: str  # of the files
    count: int  # of folds, if they are made by seed

    @cached_property
    def folds(self) -> list[str]:
        """The names of the folds that are held out in turn."""
        if self.data.folds == "seed":
            return [f"fold{i}" for i in range(self.count)]
        names = sorted(self.problems.table["split"].drop_nulls().unique())
        file = self.data.files[0]
        if self.data.folds == "valid":
            if {TRAIN, VALID} - set(names):
                raise WarmkitError(f"{file}: its column split must name the problems of train and of valid.")
            return [VALID]
        if len(names) < 2 or self.problems.table["split"].has_nulls():
            raise WarmkitError(f"{file}: its column split (or fold) must name the fold of every problem.")
        return names

    def part(self, fold: str, seed: int) -> Part:
        table = self.problems.table
        if self.data.folds == "seed":
            table = split_folds(table, self.count, seed)
        problems, splits = self.problems.with_table(table), table["split"]
        learnt = splits == TRAIN if self.data.folds == "valid" else splits != fold
        joined = tuple(map(_stem, self.data.files)) if len(self.data.files) > 1 else ()
        return Part(_rows(problems, learnt), _rows(problems, splits == fold), joined)


def _rows(problems: ProblemSet, chosen: pl.Series) -> ProblemSet:
    return problems.take(chosen.arg_true().to_list())


def load_set(data: DataSet, folder: Path, count: int) -> LoadedSet | None:
    """A set from its files; None if one of them is not there."""
    paths = [folder / name for name in data.files]
    if not all(path.exists() for path in paths):
        return None
    digest = sha256()
    for path in paths:
        digest.update(sha256(read_bytes(path)).digest())
    sets = [read_problems(path) for path in paths]
    problems = sets[0] if len(sets) == 1 else _joined(sets, map(_stem, data.files))
    return LoadedSet(data, problems, digest.hexdigest(), count)


def _stem(file: str) -> str:
    return Path(file).stem


def _joined(sets: Iterable[ProblemSet], names: Iterable[str]) -> ProblemSet:
    """Several sets as one. Ids begin with the name of the set, because two sets may have the same."""
    tables = [
        problems.table.with_columns(id=pl.lit(f"{name}-") + pl.col("id"))
        for problems, name in zip(sets, names, strict=True)
    ]
    return ProblemSet(pl.concat(tables))
