"""The problem sets of the protocol, and the samples that a seed draws from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl

from toolkit.data import ProblemSet, read_problems
from toolkit.errors import WarmkitError
from toolkit.methods.base import START_FILES, read_model
from toolkit.storage.files import read_bytes

MANY_NUMBERS = 3


@dataclass(frozen=True)
class Subset:
    """Some problems of a file. `keeps` says of a row whether it belongs to them."""

    name: str
    title: str
    file: str
    keeps: Callable[[ProblemSet, int], bool]


def _is_any(problems: ProblemSet, row: int) -> bool:
    return True


def _has_many_numbers(problems: ProblemSet, row: int) -> bool:
    return len(problems.numbers[row]) >= MANY_NUMBERS


def _has_parts(problems: ProblemSet, row: int) -> bool:
    text: str = problems.table["text"][row]
    return "%" in text or any(number.denominator > 1 for number in problems.numbers[row])


SUBSETS: Mapping[str, Subset] = {
    subset.name: subset
    for subset in (
        Subset("allarith", "AllArith", "allarith.jsonl", _is_any),
        # Far more wrong equations reach the answer.
        Subset("numbers", "Math23K, three numbers or more", "math23k.jsonl", _has_many_numbers),
        # Hard for another reason: what a part is a part of (× or ÷, 1 − 20 %) is not in the numbers.
        Subset("parts", "Math23K, percentages and fractions", "math23k.jsonl", _has_parts),
    )
}


@dataclass(frozen=True)
class Sample:
    """Problems with gold equations: the first `asked` of them are the pool, the others are never asked."""

    problems: ProblemSet
    asked: int
    start: Path | None = None  # the folder of a model to begin with

    @property
    def given(self) -> ProblemSet:
        """What the loop sees: no equation of the others, so that the oracle knows only the pool."""
        in_pool = pl.int_range(pl.len()) < self.asked
        equation = pl.when(in_pool).then(pl.col("equation"))
        table = self.problems.table.with_columns(equation=equation, split=pl.lit("train"))
        return ProblemSet(table, self.problems.constants, masked=self.problems.masked)

    @property
    def others(self) -> Sequence[int]:
        """The rows of problems that are never asked."""
        return range(self.asked, len(self.problems))


@dataclass(frozen=True)
class LoadedSet:
    subset: Subset
    problems: ProblemSet  # of the whole file
    digest: str  # of the file, and of the model to start from
    start: Path | None = None  # the folder of a model that learnt the answers of the whole file

    @property
    def answers(self) -> int:
        """How many problems the model to start from has learnt; 0 if there is none."""
        return 0 if self.start is None else int(read_model(self.start)["problems"])

    def sample(self, seed: int, asked: int, others: int) -> Sample:
        """The sample of a seed, without problems whose gold equation can't be used."""
        order = np.random.default_rng(seed).permutation(len(self.problems)).tolist()
        rows: list[int] = []
        wanted = asked + others
        for first in range(0, len(order), wanted):  # gold equations are checked for as many as needed
            kept = [row for row in order[first : first + wanted] if self.subset.keeps(self.problems, row)]
            classes = self.problems.take(kept).gold_classes
            rows += [row for row, found in zip(kept, classes, strict=True) if found]
            if len(rows) >= wanted:
                return Sample(self.problems.take(rows[:wanted]), asked, self.start)
        raise WarmkitError(
            f"{self.subset.file}: it has {len(rows)} problems for {self.subset.title} whose equation can be "
            f"used, and {wanted} are wanted. Take smaller samples."
        )


def load_sets(names: Sequence[str], folder: Path, starts: Path | None = None) -> dict[str, LoadedSet]:
    """The sets of these names from the files in a folder, each file read once.

    `starts` is a folder with a model for each file: starts/allarith has learnt the answers of allarith.jsonl.
    """
    read: dict[str, tuple[ProblemSet, str, Path | None]] = {}
    for file in dict.fromkeys(SUBSETS[name].file for name in names):
        path = folder / file
        digest = sha256(read_bytes(path))
        start = None
        if starts is not None:
            start = (starts / path.stem).absolute()
            for part in START_FILES:
                digest.update(read_bytes(start / part))
        read[file] = read_problems(path, skip_bad=True), digest.hexdigest(), start
    return {name: LoadedSet(SUBSETS[name], *read[SUBSETS[name].file]) for name in names}
