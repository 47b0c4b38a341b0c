"""Asking on candidates that are there: no model is trained between rounds.

It leaves out what a model learns from labels, and tells in seconds, on thousands of problems, how well a
strategy finds what is wrong, and how far confidence can be trusted. `measure` runs the whole loop.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import Field

from toolkit.active.acquire import Pool, Strategy, choose, find_strategy
from toolkit.active.confidence import Floats
from toolkit.active.trust import fit_trust, trusted
from toolkit.config import Section, load_config
from toolkit.data import Candidates, ProblemSet
from toolkit.labels.pieces import PERFECT, Curve, Point
from toolkit.loop.config import ActiveConfig
from toolkit.loop.generation import with_posterior
from toolkit.loop.trust import FACTS, PRIOR, facts_of

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
DEFAULTS = ActiveConfig()


class Settings(Section):
    """What may stand after the name of a strategy: "margin trust=false"."""

    unsolved_quota: float = Field(DEFAULTS.unsolved_quota, ge=0, le=1)
    random_share: float = Field(DEFAULTS.random_share, ge=0, le=1)
    trust: bool = Field(True, description="false: the posterior as it is")


@dataclass(frozen=True)
class Way:
    """A strategy with its settings, as it is written."""

    name: str
    strategy: Strategy
    settings: Settings

    @property
    def is_perfect(self) -> bool:
        return self.name == PERFECT


def way_of(name: str) -> Way:
    """From "margin", "margin trust=false", or "perfect", which is sure of what is right."""
    if name == PERFECT:
        return Way(name, find_strategy("least_confidence"), Settings(unsolved_quota=1.0, random_share=0.0))
    strategy, *settings = name.split() or [""]
    return Way(name, find_strategy(strategy), load_config(Settings, None, settings))


@dataclass(frozen=True)
class Cases:
    """Problems with gold equations and candidates, one row a problem. Unsolved ones have no posterior."""

    posteriors: Sequence[Floats]
    facts: Floats  # [N, F], zeros for unsolved problems
    right: Bools
    operands: Ints

    @property
    def solved(self) -> Bools:
        return np.array([len(shares) > 0 for shares in self.posteriors], dtype=bool)

    def take(self, rows: Ints) -> "Cases":
        return Cases(
            [self.posteriors[row] for row in rows], self.facts[rows], self.right[rows], self.operands[rows]
        )


def cases_of(candidates: Candidates, problems: ProblemSet) -> Cases:
    """All problems whose gold equation can be used. Candidates of other problems are left out.

    Posteriors are those of the method: what was believed of candidates when they were written is left out.
    """
    table = candidates.table.filter(pl.col("problem_id").is_in(set(problems.ids)))
    candidates = Candidates(with_posterior(table, 1.0))
    rows = [row for row, gold in enumerate(problems.gold_classes) if gold]
    names = [problems.ids[row] for row in rows]
    facts, top = facts_of(candidates, problems), candidates.top
    return Cases(
        [np.array(list(candidates.posteriors.get(name, {}).values())) for name in names],
        np.array([facts.get(name, np.zeros(len(FACTS))) for name in names]),
        np.array(
            [
                name in top and top[name].klass in problems.gold_classes[row]
                for name, row in zip(names, rows, strict=True)
            ]
        ),
        np.array([len(problems.numbers[row]) for row in rows], dtype=np.int64),
    )


def replay(
    pool: Cases, others: Cases, way: Way, batch: int, goal: float, rng: np.random.Generator, least: int = 0
) -> Curve:
    """The curve of a strategy until a share of the pool is right and it has `least` labels.

    An annotator makes a problem right, whatever was found for it.
    """
    solved, asked = pool.solved, np.zeros(len(pool.right), dtype=bool)
    points = []
    while True:
        told = asked & solved
        points.append(_point(others, pool, way, told, int(asked.sum()), float((pool.right | asked).mean())))
        if (points[-1].pool >= goal and points[-1].labels >= least) or asked.all():
            return Curve(tuple(points))
        left = np.flatnonzero(~asked)
        seen = pool.take(left)
        chosen = choose(
            way.strategy,
            Pool(_posteriors(seen, pool, way, told), seen.operands),
            batch,
            rng,
            unsolved_quota=way.settings.unsolved_quota,
            random_share=way.settings.random_share,
        )
        asked[left[[choice.row for choice in chosen]]] = True


def _posteriors(seen: Cases, pool: Cases, way: Way, told: Bools) -> Sequence[Floats]:
    """Of problems that are left, by what annotators told of others."""
    if way.is_perfect:
        known = zip(seen.right, seen.posteriors, strict=True)
        return [np.array([float(right)])[: len(shares)] for right, shares in known]
    if not way.settings.trust or way.strategy.blind:
        return seen.posteriors
    sizes = np.array([len(shares) for shares in seen.posteriors])
    rows = np.repeat(np.arange(len(sizes)), sizes)
    found = trusted(np.concatenate([np.empty(0), *seen.posteriors]), rows, _confidence(seen, pool, told))
    return np.split(found, np.cumsum(sizes)[:-1])


def _confidence(of: Cases, pool: Cases, told: Bools) -> Floats:
    return fit_trust(PRIOR, pool.facts[told], pool.right[told].tolist()).confidence(of.facts)


def _point(others: Cases, pool: Cases, way: Way, told: Bools, labels: int, right: float) -> Point:
    solved = others.solved
    plain = np.array([shares[0] for shares in others.posteriors if len(shares)])
    sure = _confidence(others, pool, told)[solved] if way.settings.trust else plain
    return Point(
        labels=labels,
        seconds=0.0,
        pool=right,
        others=float(others.right.mean()),
        confidence=tuple(sure.round(4).tolist()),
        plain=tuple(plain.round(4).tolist()),
        single=tuple(len(shares) == 1 for shares in others.posteriors if len(shares)),
        right=tuple(others.right[solved].tolist()),
    )


def samples(cases: Cases, pool: int, others: int, seeds: int) -> Iterator[tuple[Cases, Cases]]:
    """For each seed a pool and others, drawn from all."""
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(cases.right))
        yield cases.take(order[:pool]), cases.take(order[pool : pool + others])
