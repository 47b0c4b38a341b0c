"""Candidates of problem sets of any size: part by part, in flat memory, in this process or by workers.

The candidates of each part go to their own file as soon as they are found. The temperature needs all known
equations, so it is fitted after the last part. Then the posteriors are written.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import tee
from pathlib import Path
from typing import TypeAlias

import polars as pl

from toolkit.active.confidence import fit_temperature
from toolkit.compute import Compute
from toolkit.data import ProblemSet
from toolkit.data.growing import GrowingTable, growing_table
from toolkit.data.skipped import MOST_LISTED
from toolkit.errors import WarmkitError
from toolkit.loop.generation import candidates_of, class_scores_of, known_class, with_posterior
from toolkit.loop.trust import prior_confidence, with_confidence
from toolkit.methods import GenerateConfig, Generated, StepOne
from toolkit.storage.atomic import replacing
from toolkit.storage.folder import new_folder
from toolkit.storage.tables import guarded

MOST_CASES = 20_000  # known equations that the temperature is fitted on; more would not change it
SURE = 0.9
CONFIDENCE = "confidence"  # in the top class of the problem, before anybody is asked

Parts: TypeAlias = Iterable[ProblemSet]
Generate: TypeAlias = Callable[[Parts], Iterator[Sequence[Generated]]]


@dataclass
class Streamed:
    """The figures of candidates, of a part or of all."""

    problems: int = 0
    reached: int = 0  # problems that have candidates
    candidates: int = 0
    known: int = 0  # problems that have a gold equation
    right: int = 0  # of these, whose top class is the gold one
    sure: int = 0  # whose top class has a posterior of 0.9 or more
    temperature: float = 1.0
    unsolved: list[Generated] = field(default_factory=list)  # of many, the first
    cases: list[tuple[Mapping[int, float], int | None]] = field(default_factory=list)
    """Problems with a gold equation: the scores of their classes, and the right one if it is among them."""

    @property
    def not_reached(self) -> int:
        return self.problems - self.reached

    def add(self, part: "Streamed") -> None:
        for name in ("problems", "reached", "candidates", "known", "right"):
            setattr(self, name, getattr(self, name) + getattr(part, name))
        self.unsolved += part.unsolved[: MOST_LISTED - len(self.unsolved)]
        self.cases += part.cases[: MOST_CASES - len(self.cases)]


def part_of(generated: Sequence[Generated], problems: ProblemSet) -> tuple[pl.DataFrame, Streamed]:
    """The candidates of a part, at temperature 1, and their figures.

    The table has a column more, CONFIDENCE.
    """
    candidates = candidates_of(generated, problems, 1.0)
    confidence = prior_confidence(candidates, problems)[candidates.table["problem_id"].rle_id()]
    cases: list[tuple[Mapping[int, float], int | None]] = []
    for found, classes in zip(generated, problems.gold_classes, strict=True):
        if classes:
            scores = class_scores_of(found)
            cases.append((scores, known_class(scores, classes)))
    unsolved = [found for found in generated if not found.scored]
    return candidates.table.with_columns(pl.Series(CONFIDENCE, confidence)), Streamed(
        problems=len(problems),
        reached=len(problems) - len(unsolved),
        candidates=len(candidates),
        known=problems.table["equation"].count(),
        right=candidates.count_right(problems),
        unsolved=unsolved[:MOST_LISTED],
        cases=cases,
    )


def stream_candidates(
    generate: Generate,
    parts: Parts,
    out: Path,
    on_part: Callable[[int], object] = lambda problems: None,
) -> Streamed:
    """Generate for every part, and write the candidates table to the file `out`, whole or not at all."""
    figures = Streamed()
    to_generate, to_count = tee(parts)  # holds only the parts by which the generator is ahead
    with growing_table(out) as growing:
        for generated, problems in zip(generate(to_generate), to_count, strict=True):
            table, part = part_of(generated, problems)
            growing.add(table)
            figures.add(part)
            on_part(part.problems)
        _fit(figures)
        for piece in growing.changed(lambda table: _rescaled(table, figures.temperature)):
            figures.sure += _sure(piece)
        growing.write({out: None})
    return figures


def candidates_in_parts(
    compute: Compute,
    model: StepOne,
    settings: GenerateConfig,
    parts: Parts,
    out: Path,
    on_part: Callable[[int], object] = lambda problems: None,
) -> Streamed:
    """`stream_candidates` to a new folder of Parquet parts, each written by the worker that finds it."""
    figures, count = Streamed(), 0
    with new_folder(out) as built:
        write = _WritePart(model, settings, compute.worker_device, built.absolute())
        where = out.absolute().parent
        done = compute.map(write, enumerate(parts), label="generate", what="Generation", writes_to=where)
        for part in done:
            figures.add(part)
            count += 1
            on_part(part.problems)
        _fit(figures)
        scale = _Rescale(figures.temperature, write.folder)
        figures.sure = sum(
            compute.map(scale, range(count), label="posterior", what="Generation", writes_to=where)
        )
    return figures


def _fit(figures: Streamed) -> None:
    if not figures.problems:
        raise WarmkitError("There are no problems to generate for.")
    scores, known = [scores for scores, _ in figures.cases], [known for _, known in figures.cases]
    figures.temperature = fit_temperature(scores, known)


def _rescaled(table: pl.DataFrame, temperature: float) -> pl.DataFrame:
    """What `part_of` found, with posteriors at a temperature and the confidence in each top class."""
    is_first = table["problem_id"].rle_id().is_first_distinct()
    confidence = table[CONFIDENCE].filter(is_first).to_numpy()
    return with_confidence(with_posterior(table.drop(CONFIDENCE), temperature), confidence)


def _sure(table: pl.DataFrame) -> int:
    top = table.group_by("problem_id").agg(pl.col("posterior").max())["posterior"]
    return int((top >= SURE).sum())


@dataclass(frozen=True)
class _WritePart:
    """Find the candidates of a part, and write them to a folder."""

    model: StepOne
    settings: GenerateConfig
    device: str
    folder: Path

    def __call__(self, part: tuple[int, ProblemSet]) -> Streamed:
        import torch

        number, problems = part
        generated = self.model.candidates(problems, self.settings, device=torch.device(self.device))
        table, figures = part_of(generated, problems)
        path = self.folder / GrowingTable.name(number)
        with guarded(path, "written"):
            table.write_parquet(path)
        return figures


@dataclass(frozen=True)
class _Rescale:
    """Write the posteriors of a part at a temperature; return how many problems are sure."""

    temperature: float
    folder: Path

    def __call__(self, number: int) -> int:
        path = self.folder / GrowingTable.name(number)
        with guarded(path):
            table = _rescaled(pl.read_parquet(path, glob=False), self.temperature)
        with replacing(path) as temporary, guarded(path, "written"):  # a worker that dies leaves the old part
            table.write_parquet(temporary)
        return _sure(table)
