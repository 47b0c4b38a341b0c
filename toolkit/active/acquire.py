"""Which problems to ask annotators about next: a batch of the pool, with the reason for each problem.

A strategy only orders the problems that are solved. `choose` adds what every batch needs whatever the
strategy: some random problems, for an unbiased error estimate, and some unsolved ones.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from toolkit.active.confidence import Floats
from toolkit.errors import WarmkitError, look_up

Ints = npt.NDArray[np.int64]
Votes = Sequence[Sequence[Mapping[int, float]]]  # for each member, for each problem: class → posterior
ChoiceKind = Literal["random", "unsolved", "strategy"]
SHORTLIST = 2  # `hybrid` looks for variety among this many times the batch; more dilutes it


@dataclass(frozen=True)
class Pool:
    """What strategies look at, one row per problem. `Strategy.needs` names the optional columns it reads."""

    posteriors: Sequence[Floats]  # over the classes that reach the answer, likeliest first; empty: unsolved
    operands: Ints  # how many numbers the text has
    states: Floats | None = None  # [problems, hidden], of the encoder
    dropout_votes: Votes | None = None
    seconds: Floats | None = None  # predicted for an annotation
    labelled_states: Floats | None = None  # [labelled, hidden]: if given, `hybrid` keeps away from these

    def __post_init__(self) -> None:
        votes = self.dropout_votes or ()
        given = [column for column in (self.operands, self.states, self.seconds) if column is not None]
        if {len(self.posteriors)} != {len(column) for column in (self.posteriors, *given, *votes)}:
            raise ValueError("every column of a pool has one row a problem")


@dataclass(frozen=True)
class Choice:
    row: int
    why: str  # for people
    kind: ChoiceKind  # only random choices may enter the error estimate


Score = Callable[[Pool, Ints], Floats]  # for some solved rows: a higher score is asked sooner
Pick = Callable[[Pool, Ints, int, np.random.Generator], Ints]  # so many of the rows; earlier ones win ties


@dataclass(frozen=True)
class Strategy:
    """How solved problems are ordered. To use one of your own, pass it to `Loop.new`, or add it below."""

    name: str
    pick: Pick
    why: Callable[[Pool, int], str]  # why a row was picked, in a few words for people
    needs: frozenset[str] = frozenset()  # names of fields of `Pool`
    blind: bool = False  # every problem is equally likely, unsolved ones too: its picks are random

    def __str__(self) -> str:
        return self.name


def choose(
    strategy: Strategy,
    pool: Pool,
    batch: int,
    rng: np.random.Generator,
    *,
    unsolved_quota: float,
    random_share: float,
) -> list[Choice]:
    """A batch of the pool (all of it if the batch is larger) by a strategy: one of `STRATEGIES`, or your own.

    First `random_share` of the batch is drawn uniformly from the whole pool (at least one, from a batch of
    four on). Then come unsolved problems, at random, until `unsolved_quota` of the batch is unsolved. The
    rest are solved ones, by strategy. If one kind runs out, the other fills up. Ties are broken by `rng`,
    not by row, so that the order of a file never matters.
    """
    _check(strategy, pool, batch, unsolved_quota, random_share)
    # One shuffle does all the drawing: a prefix of it is uniform, and so is a prefix of the unsolved in it.
    order = rng.permutation(len(pool.posteriors))
    size = min(batch, len(order))
    randoms = min(size, _random_count(batch, random_share))
    drawn, rest = order[:randoms], order[randoms:]

    is_solved = np.array([len(shares) > 0 for shares in pool.posteriors], dtype=bool)
    by_strategy = np.full(len(rest), True) if strategy.blind else is_solved[rest]
    unsolved, solved = rest[~by_strategy], rest[by_strategy]
    quota = math.floor(unsolved_quota * batch + 1e-9) - int((~is_solved[drawn]).sum())
    open_slots = size - randoms
    asked = min(len(unsolved), open_slots, max(quota, open_slots - len(solved), 0))
    wanted = open_slots - asked
    picked = strategy.pick(pool, solved, wanted, rng) if wanted else solved[:0]
    kind: ChoiceKind = "random" if strategy.blind else "strategy"
    return [
        *(Choice(int(row), "random, for the error estimate", "random") for row in drawn),
        *(
            Choice(int(row), "unsolved: no equation reaches the answer", "unsolved")
            for row in unsolved[:asked]
        ),
        *(Choice(int(row), strategy.why(pool, int(row)), kind) for row in picked),
    ]


def find_strategy(name: str) -> Strategy:
    """The strategy of that name, or an error that says which there are."""
    return look_up("strategy", name, STRATEGIES)


def _check(strategy: Strategy, pool: Pool, batch: int, quota: float, share: float) -> None:
    missing = sorted(need for need in strategy.needs if not _given(getattr(pool, need)))
    if missing:
        raise WarmkitError(
            f"The strategy {strategy} needs the {' and '.join(missing)} of the pool: compute them."
        )
    if batch < 0:
        raise WarmkitError(f"A batch can't have {batch} problems: it has 0 or more.")
    for what, value in (("unsolved_quota", quota), ("random_share", share)):
        if not 0 <= value <= 1:
            raise WarmkitError(f"{what} is a share of the batch, from 0 to 1, not {value}.")


def _given(column: Sequence[object] | Floats | None) -> bool:
    return column is not None and (isinstance(column, np.ndarray) or len(column) > 0)


def _random_count(batch: int, share: float) -> int:
    least = 1 if batch >= 4 and share > 0 else 0
    return max(least, math.floor(share * batch + 0.5))


# Scores -------------------------------------------------------------------------------------------


def least_confidence(pool: Pool, rows: Ints) -> Floats:
    """1 − the top class's posterior (Lewis & Gale 1994)."""
    return np.array([1.0 - pool.posteriors[row][0] for row in rows], dtype=np.float64)


def margin(pool: Pool, rows: Ints) -> Floats:
    """The smaller the lead of the top class on the next, the higher (Scheffer et al. 2001)."""
    return np.array([_next(pool, row) - pool.posteriors[row][0] for row in rows], dtype=np.float64)


def entropy(pool: Pool, rows: Ints) -> Floats:
    """The Shannon entropy of the posterior, in nats (Settles & Craven 2008)."""
    posteriors = [pool.posteriors[row] for row in rows]
    owner = np.repeat(np.arange(len(rows)), [len(shares) for shares in posteriors])
    terms = _surprise(np.concatenate([np.empty(0), *posteriors]))
    return np.bincount(owner, weights=terms, minlength=len(rows)).astype(np.float64)


def dropout(pool: Pool, rows: Ints) -> Floats:
    """The mutual information of class and weights, over passes with dropout (BALD: Gal et al. 2017).

    It is the entropy of the mean posterior less the mean entropy, the same figure as the mean divergence from
    the mean of McCallum & Nigam (1998). A pass that reaches no equation is sure of a class of its own.
    """
    assert pool.dropout_votes is not None
    scores = [
        _mutual_information([member[row] or {None: 1.0} for member in pool.dropout_votes]) for row in rows
    ]
    return np.array(scores, dtype=np.float64)


def cost_aware(pool: Pool, rows: Ints) -> Floats:
    """Uncertainty per predicted second (Settles et al. 2008); an annotation takes at least one second."""
    assert pool.seconds is not None
    per_second: Floats = least_confidence(pool, rows) / np.maximum(pool.seconds[rows], 1.0)
    return per_second


def _next(pool: Pool, row: int) -> float:
    shares = pool.posteriors[row]
    return float(shares[1]) if len(shares) > 1 else 0.0


def _surprise(shares: Floats) -> Floats:
    """−p log p, 0 at p = 0."""
    surprise: Floats = -shares * np.log(np.where(shares > 0, shares, 1.0))
    return surprise


def _mutual_information(members: Sequence[Mapping[int, float] | Mapping[None, float]]) -> float:
    mean: dict[int | None, float] = {}
    noise = 0.0
    for shares in members:
        for klass, share in shares.items():
            mean[klass] = mean.get(klass, 0.0) + share / len(members)
            noise -= share * math.log(share) / len(members) if share > 0 else 0.0
    return max(0.0, -sum(share * math.log(share) for share in mean.values() if share > 0) - noise)


# Picks --------------------------------------------------------------------------------------------


def at_random(pool: Pool, rows: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Uniformly, without replacement: what every other strategy has to beat."""
    return rng.permutation(rows)[:count]


def highest(score: Score) -> Pick:
    """The rows that score highest, best first."""

    def pick(pool: Pool, rows: Ints, count: int, rng: np.random.Generator) -> Ints:
        return rows[np.argsort(-score(pool, rows), kind="stable")][:count]

    return pick


def hybrid(pool: Pool, rows: Ints, count: int, rng: np.random.Generator) -> Ints:
    """k-centre among the least confident, so that a batch is both unsure and varied (after Zhdanov 2019).

    Each pick is the farthest from all before and from all labelled (Sener & Savarese 2018). A problem that is
    certain is a candidate only if others are too few.
    """
    assert pool.states is not None
    scores = least_confidence(pool, rows)
    unsure = int((scores > 0).sum())
    shortlist = max(count, min(SHORTLIST * count, unsure))
    best = rows[np.argsort(-scores, kind="stable")][:shortlist]
    return best[farthest_first(pool.states[best], count, pool.labelled_states)]


def farthest_first(states: Floats, count: int, centres: Floats | None = None) -> Ints:
    """Indices of `count` states [n, hidden], each the farthest from those before and from `centres`.

    Gonzalez's (1985) greedy k-centre, whose radius is at most twice the best. Without centres it starts at
    the first state. Each pick costs one product of a matrix and a vector.
    """
    states = np.asarray(states, dtype=np.float64)
    norms = np.einsum("nd,nd->n", states, states)
    distances = np.full(len(states), np.inf)
    if centres is not None and len(centres):
        step = max(1, 4_000_000 // max(1, len(states)))  # a block of distances stays near 32 MB
        for first in range(0, len(centres), step):
            block = np.asarray(centres[first : first + step], dtype=np.float64)
            squares = np.einsum("nd,nd->n", block, block) - 2 * states @ block.T
            np.minimum(distances, squares.min(axis=1) + norms, out=distances)
    picked = np.empty(min(count, len(states)), dtype=np.int64)
    for slot in range(len(picked)):
        best = picked[slot] = distances.argmax()
        # Rounding may push a square below zero, and so below the mark of what is already picked.
        to_best = np.maximum(norms + norms[best] - 2 * (states @ states[best]), 0.0)
        np.minimum(distances, to_best, out=distances)
        distances[picked[: slot + 1]] = -np.inf
    return picked


# Why ----------------------------------------------------------------------------------------------


def _why_unsure(pool: Pool, row: int) -> str:
    shares = pool.posteriors[row]
    if len(shares) == 1:
        return f"uncertain: top class {shares[0]:.2f}, the only one that reaches the answer"
    return f"uncertain: top class {shares[0]:.2f}, next {shares[1]:.2f}"


def _why_entropy(pool: Pool, row: int) -> str:
    nats = entropy(pool, np.array([row]))[0]
    return f"uncertain: entropy {nats:.2f} over {len(pool.posteriors[row])} classes"


def _why_dropout(pool: Pool, row: int) -> str:
    return f"passes with dropout disagree by {dropout(pool, np.array([row]))[0]:.2f} nats"


def _why_cost(pool: Pool, row: int) -> str:
    assert pool.seconds is not None
    return f"{_why_unsure(pool, row)}, and about {pool.seconds[row]:.0f} s to annotate"


def _why_hybrid(pool: Pool, row: int) -> str:
    return f"{_why_unsure(pool, row)}, and unlike the others asked"


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("hybrid", hybrid, _why_hybrid, frozenset({"states"})),
        Strategy("least_confidence", highest(least_confidence), _why_unsure),
        Strategy("margin", highest(margin), _why_unsure),
        Strategy("entropy", highest(entropy), _why_entropy),
        Strategy("dropout", highest(dropout), _why_dropout, frozenset({"dropout_votes"})),
        Strategy("cost_aware", highest(cost_aware), _why_cost, frozenset({"seconds"})),
        Strategy("random", at_random, lambda pool, row: "random", blind=True),
    )
}
