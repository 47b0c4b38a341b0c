"""How a piece is measured: a loop with the oracle, whose candidates are looked at after each round.

Gold equations are seen where the oracle was asked, and nowhere else. The curve of random runs until the whole
pool is annotated, which tells the goals. That of another strategy ends at the highest of them.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from toolkit.active.acquire import Ints, Pool, Strategy
from toolkit.active.cost import response_seconds
from toolkit.compute import Compute
from toolkit.data import Candidates, ProblemSet
from toolkit.equations import count_operators, klass, parse_template
from toolkit.labels.pieces import PERFECT, Curve, Files, Piece, Point, Protocol
from toolkit.labels.sets import LoadedSet, Sample
from toolkit.loop.generation import with_posterior
from toolkit.loop.loop import Loop
from toolkit.loop.round import Round
from toolkit.loop.run import create_run
from toolkit.methods.base import copy_start
from toolkit.pieces.run import Job

CHARACTERS = 2  # of a Chinese word, roughly


@dataclass(frozen=True)
class PieceWorker:
    """Measures pieces: `toolkit.pieces` calls it, here or on a worker of a cluster."""

    sets: Mapping[str, LoadedSet]
    protocol: Protocol
    files: Files
    compute: Compute

    def measure(self, job: Job[Piece, Curve]) -> Curve:
        begun = time.process_time()  # of the core: on a busy machine a clock says little
        try:
            curve = replace(self._measured(job), seconds=time.process_time() - begun)
        except Exception as error:
            return self.failed(job.piece, error)
        self.files.write(job.piece, curve)
        return curve

    def failed(self, piece: Piece, error: Exception) -> Curve:
        curve = Curve.failed(error)
        self.files.write(piece, curve)
        return curve

    def _measured(self, job: Job[Piece, Curve]) -> Curve:
        piece, protocol = job.piece, self.protocol
        sample = self.sets[piece.set].sample(piece.seed, protocol.asked, protocol.others)
        with TemporaryDirectory() as folder:
            if piece.successor is not None:
                assert job.needed is not None
                return transfer(sample, piece, protocol, job.needed[1], self.compute, Path(folder))
            goal = None
            if job.needed is not None:
                goal = max(protocol.goals) * job.needed[1].points[-1].pool
            return measure_curve(sample, piece, protocol, goal, self.compute, Path(folder))


def measure_curve(
    sample: Sample, piece: Piece, protocol: Protocol, goal: float | None, compute: Compute, folder: Path
) -> Curve:
    """The curve of a strategy until the goal, or until everything is annotated.

    It has enough labels for another method to learn from, even if the goal is reached sooner.
    """
    problems = sample.given
    config = piece.config(protocol)
    run = create_run(folder, "run", config, (problems, _one_test_problem(problems)))
    if sample.start is not None:
        run.begin_with(sample.start)
    loop = Loop(run, compute=compute)
    if piece.is_perfect:
        loop.strategy = perfect(loop, sample.problems)
    found: list[Point] = []
    for _ in loop.asking():
        found.append(_point(loop, sample))
        if goal is not None and found[-1].pool >= goal and found[-1].labels >= protocol.transferred:
            break
    spent = [0.0, *accumulate(_seconds(loop, sample))]
    asked = tuple(item.problem_id for item in run.ledger.batch())
    run.ledger.close()
    points = (replace(point, seconds=seconds) for point, seconds in zip(found, spent, strict=False))
    return Curve(tuple(points), asked)


def perfect(loop: Loop, problems: ProblemSet) -> Strategy:
    """Asks about solved problems whose likeliest class is not the gold one, as long as there are any."""

    def pick(pool: Pool, rows: Ints, count: int, rng: np.random.Generator) -> Ints:
        tops = loop.state.found(loop.round).tops("problem_id", "klass")[loop.state.askable(loop.round)[rows]]
        right = [klass in problems.gold_classes[problems.row[name]] for name, klass in tops.iter_rows()]
        return rows[np.argsort(right, kind="stable")][:count]

    return Strategy(PERFECT, pick, lambda pool, row: "its equation is wrong")


def transfer(
    sample: Sample, piece: Piece, protocol: Protocol, chosen: Curve, compute: Compute, folder: Path
) -> Curve:
    """One point: another method learns from the first labels that were chosen (Lowell et al. 2019)."""
    assert piece.successor is not None
    problems, labels = sample.given, chosen.asked[: protocol.transferred]
    known = {name: problems.gold_templates[name] for name in labels}
    config = replace(piece, method=piece.successor).config(protocol)
    work = Round(problems, known, config, compute)
    start = None
    if sample.start is not None:
        start = folder / "start"
        copy_start(sample.start, start)
    candidates = work.candidates(work.generate(work.fit(folder / "model", label=piece.name, start=start)))
    pool = work.gold_equivalent(candidates) or 0.0
    return Curve((_measured_point(candidates, candidates, sample, len(labels), pool),), labels)


def _point(loop: Loop, sample: Sample) -> Point:
    figures = loop.ledger.result(loop.round, "generate")
    assert figures is not None
    candidates = loop.state.candidates(loop.round)
    plain = Candidates(with_posterior(candidates.table, figures["temperature"]))
    labels = loop.state.answered(loop.round)
    return _measured_point(candidates, plain, sample, labels, figures["gold_equivalent"])


def _measured_point(
    candidates: Candidates, plain: Candidates, sample: Sample, labels: int, pool: float
) -> Point:
    problems = sample.problems
    found = [row for row in sample.others if problems.ids[row] in candidates.top]
    names = [problems.ids[row] for row in found]
    right = [candidates.top[problems.ids[row]].klass in problems.gold_classes[row] for row in found]
    return Point(
        labels=labels,
        seconds=0.0,
        pool=pool,
        others=sum(right) / len(sample.others) if sample.others else 0.0,
        confidence=tuple(round(candidates.top[name].posterior, 4) for name in names),
        plain=tuple(round(plain.top[name].posterior, 4) for name in names),
        single=tuple(len(candidates.scores[name]) == 1 for name in names),
        right=tuple(right),
    )


def _seconds(loop: Loop, sample: Sample) -> list[float]:
    """The seconds of an annotator in each round, rejected answers included."""
    problems, ledger = sample.problems, loop.ledger
    shown = {(item.round, item.problem_id): item.candidates for item in ledger.batch()}
    rounds, terms = [], []
    for response in ledger.responses():
        row = problems.row[response.problem_id]
        offered = shown[response.round, response.problem_id]
        template = problems.gold[row]
        assert template is not None
        rounds.append(response.round - 1)
        terms.append(
            (
                len(problems.masked[row].tokens) / (CHARACTERS if problems.langs[row] == "zh" else 1),
                len(problems.numbers[row]),
                len(offered),
                count_operators(template) + 1,
                any(klass(parse_template(one.template)) in problems.gold_classes[row] for one in offered),
            )
        )
    if not terms:
        return []
    seconds = response_seconds(*map(np.array, zip(*terms, strict=True)))
    return [float(spent) for spent in np.bincount(rounds, weights=seconds)]


def _one_test_problem(problems: ProblemSet) -> ProblemSet:
    """A run needs a test problem; no solver is measured here."""
    return ProblemSet(problems.table.head(1).with_columns(id=pl.lit("a test problem")), problems.constants)
