"""Labels to a goal, and how many times as many random needs, with bootstrap intervals over paired seeds.

A seed draws the sample, the first model and all else, and all strategies share it. So a ratio is one of sums
over the same seeds, and a bootstrap draws seeds. The goal of a seed is a share of what random came to there
with the whole pool annotated.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from toolkit.active.calibration import auroc, calibration_error, chance_error
from toolkit.labels.pieces import RANDOM, Curve, Piece, Point
from toolkit.labels.plan import WARM, Plan

RESAMPLES = 10_000
HALF = 2.0  # the claim: random needs twice the labels
FEWEST = 5  # seeds; a bootstrap of fewer is too narrow


@dataclass(frozen=True)
class Interval:
    """A figure with its 95 % interval; nan if nothing is known."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float | None]:
        return {name: value if math.isfinite(value) else None for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Ratio:
    """How many times as many labels (or seconds) random needs for a goal.

    In `at_start` of the seeds random is at the goal before anybody is asked: they say nothing. In `censored`
    the strategy never comes to the goal, and counts with all that it used. So the ratio is at most this.
    """

    goal: float
    random: float  # labels, on average
    strategy: float
    ratio: Interval
    seeds: int
    at_start: int
    censored: int

    @property
    def is_known(self) -> bool:
        return self.seeds > self.at_start and math.isfinite(self.ratio.value)

    @property
    def halves(self) -> bool | None:
        """Whether random needs twice as many. None if that is open: the interval has both answers, there are
        too few seeds to trust it, or all that speaks for it is an upper bound."""
        if self.seeds - self.at_start < FEWEST or self.ratio.low < HALF <= self.ratio.high:
            return None
        if self.ratio.low < HALF:
            return False
        return None if self.censored else True


@dataclass(frozen=True)
class Trust:
    """Confidence in the top class of problems that were never asked, after some labels, over all seeds."""

    ece: float
    chance_ece: float  # that as many cases have if their confidence is exact
    auroc: float | None
    plain_ece: float  # before annotators taught how far to trust it
    plain_auroc: float | None
    cases: int
    single: int  # of these, with one class
    single_right: float | None
    single_confidence: float | None


@dataclass(frozen=True)
class Compared:
    """A strategy against random, on a set."""

    set: str
    method: str
    strategy: str
    batch: int
    error: float
    seeds: int
    start: float  # share of the pool that is right before anybody is asked, on average
    full: float  # the same with everything annotated
    labels: tuple[Ratio, ...]  # by goal
    seconds: tuple[Ratio, ...]
    others: Interval  # gain in problems that are never asked, at the same number of labels
    trust: Trust | None

    def as_dict(self) -> dict[str, Any]:
        fields = asdict(self)
        for name in ("labels", "seconds"):
            fields[name] = [
                asdict(ratio) | {"ratio": ratio.ratio.as_dict(), "halves": ratio.halves}
                for ratio in getattr(self, name)
            ]
        return fields | {"others": self.others.as_dict()}


@dataclass(frozen=True)
class Transferred:
    """What labels that a strategy chose for one method gain over random ones, if another learns from them."""

    set: str
    method: str
    successor: str
    strategy: str
    labels: int
    seeds: int
    pool: Interval
    others: Interval

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"pool": self.pool.as_dict(), "others": self.others.as_dict()}


Pairs = list[tuple[Curve, Curve]]  # of random and of the strategy, a pair for each seed


def comparisons(plan: Plan, results: Mapping[str, Curve]) -> list[Compared]:
    """A row for each set, batch, error and strategy that has a pair of curves."""
    rows = []
    for error, batch, name, strategy in product(plan.errors, plan.batches, plan.sets, plan.compared):
        if strategy != RANDOM:
            rows += list(_compared(plan, results, Piece(name, WARM, strategy, batch, 0, error)))
    for name, strategy in product(plan.sets, plan.compared):
        if plan.successor is not None and strategy != RANDOM:
            piece = Piece(name, plan.successor, strategy, plan.batches[0], 0, 0.0)
            rows += list(_compared(plan, results, piece))
    return rows


def transfers(plan: Plan, results: Mapping[str, Curve]) -> list[Transferred]:
    rows = []
    for name, method, successor, strategy in product(plan.sets, plan.methods, plan.methods, plan.compared):
        piece = Piece(name, method, strategy, plan.batches[0], 0, 0.0, successor)
        pairs = [] if strategy == RANDOM else _pairs(plan, results, piece)
        if pairs:
            gains = [
                [getattr(b.points[0], what) - getattr(a.points[0], what) for a, b in pairs]
                for what in ("pool", "others")
            ]
            pool, others = (mean_of(gain) for gain in gains)
            labels = plan.protocol.transferred
            rows.append(Transferred(name, method, successor, strategy, labels, len(pairs), pool, others))
    return rows


def _compared(plan: Plan, results: Mapping[str, Curve], piece: Piece) -> Iterator[Compared]:
    pairs = _pairs(plan, results, piece)
    if not pairs:
        return
    goals = plan.protocol.goals
    yield Compared(
        piece.set,
        piece.method,
        piece.strategy,
        piece.batch,
        piece.error,
        len(pairs),
        float(np.mean([random.points[0].pool for random, _ in pairs])),
        float(np.mean([random.points[-1].pool for random, _ in pairs])),
        tuple(ratio_of(pairs, goal, lambda point: point.labels) for goal in goals),
        tuple(ratio_of(pairs, goal, lambda point: point.seconds) for goal in goals),
        mean_of([_gain_elsewhere(*pair) for pair in pairs]),
        trust_of([strategy for _, strategy in pairs], plan.protocol.transferred),
    )


def _pairs(plan: Plan, results: Mapping[str, Curve], piece: Piece) -> Pairs:
    """The curves of random and of the strategy for each seed that has both."""
    found = []
    for seed in range(plan.seeds):
        one = piece.with_seed(seed)
        by_random = results.get(plan.digested(replace(one, strategy=RANDOM)).name)
        by_strategy = results.get(plan.digested(one).name)
        if by_random is not None and by_strategy is not None and by_random.is_done and by_strategy.is_done:
            found.append((by_random, by_strategy))
    return found


def cost_to(curve: Curve, goal: float, cost: Callable[[Point], float]) -> tuple[float, bool]:
    """The cost at which a curve first comes to the goal, between points by a straight line; and whether it
    does. If it never does: all that it cost."""
    before = curve.points[0]
    for point in curve.points:
        if point.pool >= goal:
            if point.pool == before.pool:
                return cost(point), True
            share = (goal - before.pool) / (point.pool - before.pool)
            return cost(before) + share * (cost(point) - cost(before)), True
        before = point
    return cost(curve.points[-1]), False


def ratio_of(pairs: Pairs, goal: float, cost: Callable[[Point], float]) -> Ratio:
    costs, at_start, censored = [], 0, 0
    for random, strategy in pairs:
        target = goal * random.points[-1].pool
        if random.points[0].pool >= target:
            at_start += 1
            continue
        (by_random, _), (by_strategy, reached) = (
            cost_to(curve, target, cost) for curve in (random, strategy)
        )
        censored += not reached
        costs.append((by_random, by_strategy))
    by_random, by_strategy = np.mean(costs, axis=0) if costs else (math.nan, math.nan)
    ratio = _bootstrap(costs, _sums_ratio)
    return Ratio(goal, float(by_random), float(by_strategy), ratio, len(pairs), at_start, censored)


def mean_of(values: Sequence[float]) -> Interval:
    """The mean of a figure over seeds."""
    return _bootstrap([(value,) for value in values], lambda drawn: drawn[..., 0].mean(axis=-1))


def _sums_ratio(drawn: np.ndarray[Any, Any]) -> Any:
    sums = drawn.sum(axis=-2)
    return sums[..., 0] / np.maximum(sums[..., 1], 1e-9)


def _bootstrap(
    of_seeds: Sequence[Sequence[float]], figure: Callable[[np.ndarray[Any, Any]], Any]
) -> Interval:
    """A figure of seeds with the percentiles of its resamples (Efron 1979). One seed has no spread."""
    if not of_seeds:
        return Interval(math.nan, math.nan, math.nan)
    rows = np.array(of_seeds, dtype=np.float64)
    value = float(figure(rows))
    if len(rows) == 1:
        return Interval(value, -math.inf, math.inf)
    drawn = np.random.default_rng(0).integers(len(rows), size=(RESAMPLES, len(rows)))
    low, high = np.percentile(figure(rows[drawn]), [2.5, 97.5])
    return Interval(value, float(low), float(high))


def _gain_elsewhere(random: Curve, strategy: Curve) -> float:
    """How many more of the others are right, on average over the label counts that both curves have."""
    by_labels = {point.labels: point.others for point in random.points}
    gains = [
        point.others - by_labels[point.labels]
        for point in strategy.points
        if point.labels and point.labels in by_labels
    ]
    return float(np.mean(gains)) if gains else 0.0


def trust_of(curves: Sequence[Curve], labels: int) -> Trust | None:
    """Of each curve, at the first point with so many labels."""
    points = [next((point for point in curve.points if point.labels >= labels), None) for curve in curves]
    shown = [point for point in points if point is not None]
    sure, plain, single, right = (
        np.concatenate([getattr(point, name) for point in shown]) if shown else np.empty(0)
        for name in ("confidence", "plain", "single", "right")
    )
    if not len(right):
        return None
    single = single.astype(bool)
    return Trust(
        calibration_error(sure, right),
        chance_error(sure, np.random.default_rng(0)),
        auroc(sure, right),
        calibration_error(plain, right),
        auroc(plain, right),
        len(right),
        int(single.sum()),
        float(right[single].mean()) if single.any() else None,
        float(sure[single].mean()) if single.any() else None,
    )
