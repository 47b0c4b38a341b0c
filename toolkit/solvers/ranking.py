"""Which of the equations that networks propose is right: a log-linear model of what is known of each.

The right answer is among the beams far more often than it is the likeliest one. By default a class is ranked
by its probability, the plausibility of its value, and the coherence of its steps. Problems that were held out
from training say how far to trust each, and what else tells right from wrong: numbers that are not used, a
value that is far larger than all numbers of the text. The weights are those of a conditional logit (McFadden
1974) over the classes of each held-out problem, with a penalty on their distance from that default.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from toolkit.equations import Expr, Ref, as_float
from toolkit.equations.evaluate import Number
from toolkit.equations.tree import decimal_places, postorder
from toolkit.solvers.coherence import Coherence
from toolkit.solvers.plausibility import Plausibility, TextNumbers

FEATURES = (
    "probability",  # logarithm of the mean over the networks
    "agreement",  # the mean of their logarithms, less that: 0 if all networks give the class the same
    "plausibility",  # of the kind of value
    "coherence",  # of the numbers that its steps put together
    "unused",  # numbers of the text that are not used
    "reused",  # times that a number is used again
    "constants",
    "operators",
    "above",  # powers of ten that the value is above the largest number of the text
    "below",  # and below the smallest one
    "digits",  # pairs of significant digits that the value has more than any number of the text
)
DEFAULT = {"probability": 1.0, "plausibility": 0.5, "coherence": 1.0}  # by folds of AllArith
PENALTY = 3.0  # on squared distances; a held-out problem weighs 1
LEAST_MASS = 1e-4  # of a network that did not find the class, for the mean of logarithms
MOST_POWERS, MOST_DIGITS = 4.0, 6  # beyond these a value is just odd

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """One class that was found for a problem."""

    template: Expr
    value: Number | None  # None if it has none
    masses: tuple[float, ...]  # the probability that each network gives it


class Ranker:
    """Scores of readings; the softmax over those of a problem is their probability."""

    def __init__(
        self, plausibility: Plausibility, coherence: Coherence, weights: Mapping[str, float] | None = None
    ) -> None:
        self.plausibility, self.coherence = plausibility, coherence
        self.weights = {name: (weights or DEFAULT).get(name, 0.0) for name in FEATURES}

    def scores(self, readings: Sequence[Reading], numbers: Sequence[Fraction]) -> Floats:
        scores: Floats = self._features(readings, numbers) @ np.array(list(self.weights.values()))
        return scores

    def fitted(
        self, found: Sequence[tuple[Sequence[Reading], Sequence[Fraction], npt.NDArray[np.bool_]]]
    ) -> "Ranker":
        """A ranker with weights learnt on held-out problems: readings, numbers, and which readings are right.

        Problems whose readings are all right or all wrong say nothing.
        """
        useful = [
            (self._features(readings, numbers), right) for readings, numbers, right in found if len(right)
        ]
        useful = [(features, right) for features, right in useful if right.any() and not right.all()]
        if not useful:
            return self
        default = np.array([DEFAULT.get(name, 0.0) for name in FEATURES])
        weights = _conditional_logit(useful, default, PENALTY)
        return self.weighted(dict(zip(FEATURES, weights.tolist(), strict=True)))

    def weighted(self, weights: Mapping[str, float]) -> "Ranker":
        return Ranker(self.plausibility, self.coherence, weights)

    def _features(self, readings: Sequence[Reading], numbers: Sequence[Fraction]) -> Floats:
        """[K, FEATURES]."""
        given = TextNumbers(numbers)
        digits = max((_digits(number) for number in numbers), default=0)
        values = [None if reading.value is None else as_float(reading.value) for reading in readings]
        coherence = self.coherence.log_ratios([reading.template for reading in readings], given.values)
        rows = [
            (
                *_probabilities(reading.masses),
                self.plausibility.log_prior(value, given),
                of_steps,
                *_uses(reading.template, len(given)),
                *_sizes(value, given.values),
                max(0, _digits(reading.value) - digits) / 2,
            )
            for reading, value, of_steps in zip(readings, values, coherence, strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(len(readings), len(FEATURES))


def _probabilities(masses: Sequence[float]) -> tuple[float, float]:
    """probability, agreement"""
    log_mass = math.log(max(sum(masses) / len(masses), 1e-300))
    if len(masses) == 1:
        return log_mass, 0.0
    return log_mass, sum(math.log(mass + LEAST_MASS) for mass in masses) / len(masses) - log_mass


def _uses(template: Expr, numbers: int) -> tuple[int, int, int, int]:
    """unused, reused, constants, operators"""
    nodes = list(postorder(template))
    used = [node.index for node in nodes if isinstance(node, Ref)]
    different, operators = len(set(used)), len(nodes) // 2  # all are binary
    return numbers - different, len(used) - different, len(nodes) - operators - len(used), operators


def _sizes(value: float | None, numbers: Sequence[float]) -> tuple[float, float]:
    """above, below"""
    sizes = [abs(number) for number in numbers if number]
    if not value or not sizes:
        return 0.0, 0.0
    return _powers(abs(value) / max(sizes)), _powers(min(sizes) / abs(value))


def _powers(ratio: float) -> float:
    """Powers of ten that a ratio is above 1."""
    return min(MOST_POWERS, math.log10(ratio)) if ratio > 1 else 0.0


def _digits(value: Number | None) -> int:
    """Significant digits; of what is no finite decimal, as many as count."""
    if value is None:
        return 0
    places = None if isinstance(value, float) else decimal_places(value)
    if places is None:
        return MOST_DIGITS
    assert isinstance(value, Fraction)
    return min(MOST_DIGITS, len(str(abs(value.numerator) * 10**places // value.denominator).strip("0")))


def _conditional_logit(
    groups: Sequence[tuple[Floats, npt.NDArray[np.bool_]]], default: Floats, penalty: float
) -> Floats:
    """Weights [F] for which a right reading of a group is likely under the softmax over the group."""
    import torch

    widest = max(len(right) for _, right in groups)
    features = torch.zeros(len(groups), widest, len(default), dtype=torch.float64)
    exists, is_right = torch.full((2, len(groups), widest), -torch.inf, dtype=torch.float64)
    for i, (of_group, right) in enumerate(groups):
        features[i, : len(right)] = torch.from_numpy(of_group)
        exists[i, : len(right)] = 0.0
        is_right[i, : len(right)][torch.from_numpy(right)] = 0.0
    start = torch.from_numpy(default)
    weights = start.clone().requires_grad_()
    optimizer = torch.optim.LBFGS([weights], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        scores = features @ weights
        missed = ((scores + exists).logsumexp(1) - (scores + is_right).logsumexp(1)).sum()
        total: torch.Tensor = missed + penalty * (weights - start).square().sum()
        total.backward()
        return total

    optimizer.step(loss)
    found: Floats = weights.detach().numpy()
    return found
