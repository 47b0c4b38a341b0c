"""How far the likeliest class of a problem can be trusted, learnt from what annotators said of others.

A posterior tells how the classes that were found compare. It can't tell that none of them is right, so that
a problem with a single class is certain at any temperature. Logistic regression on a few facts of the
candidates can (`toolkit.loop.trust` has them, and what to believe before anybody is asked). It starts at that
belief, and leaves it as far as the answers of annotators ask for: a few change little.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from toolkit.active.confidence import Floats

STRENGTH = 10.0  # of the pull towards the belief before
CONSTANT = 0.1  # of it for the constant: how often the top class is right differs most between sets
STEPS = 50


@dataclass(frozen=True)
class Trust:
    """Weights of facts in units of their spread, `scales`, from their `means`; the last is the constant."""

    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]

    def confidence(self, facts: Floats) -> Floats:
        """The probability that the top class is right, of problems with these facts [N, F]."""
        return _chances(self.inputs(facts) @ np.array(self.weights))

    def inputs(self, facts: Floats) -> Floats:
        """[N, F + 1], as the weights take them."""
        return np.column_stack([(facts - self.means) / self.scales, np.ones(len(facts))])


def no_belief(facts: Floats) -> Trust:
    """Says nothing yet. Facts [N, F] tell what is much or little in a column."""
    means, scales = facts.mean(axis=0), np.maximum(facts.std(axis=0), 1e-6)
    return Trust(tuple(means.tolist()), tuple(scales.tolist()), (0.0,) * (facts.shape[1] + 1))


def fit_trust(before: Trust, facts: Floats, right: Sequence[bool], strength: float = STRENGTH) -> Trust:
    """Learn from problems with facts [N, F] whose top class is right or not, starting at a belief."""
    if not len(right):
        return before
    inputs, outcomes = before.inputs(facts), np.array(right, dtype=float)
    start = np.array(before.weights)
    pull = np.full(len(start), strength)
    pull[-1] *= CONSTANT
    weights = start.copy()
    for _ in range(STEPS):  # Newton
        chances = _chances(inputs @ weights)
        slope = inputs.T @ (chances - outcomes) + pull * (weights - start)
        curve = (inputs * (chances * (1 - chances))[:, None]).T @ inputs + np.diag(pull)
        step = np.linalg.solve(curve, slope)
        weights -= step / max(1.0, float(np.abs(step).max()) / 2)  # far steps are cut
        if np.abs(step).max() < 1e-6:
            break
    return replace(before, weights=tuple(weights.tolist()))


def trusted(posteriors: Floats, problem: npt.NDArray[np.int64], confidence: Floats) -> Floats:
    """Posteriors [C] of classes with this confidence [P] in the first class of each problem.

    `problem` [C] says whose class it is; those of a problem are together, the likeliest first. The order
    stays. What is lost if the confidence is lower is the probability that none of them is right.
    """
    first = np.diff(problem, prepend=-1) != 0
    top = posteriors[first][np.cumsum(first) - 1]
    sure = confidence[problem]
    others = np.minimum(sure / top, (1 - sure) / np.maximum(1 - top, 1e-12))
    scaled: Floats = np.where(first, sure, posteriors * others)
    return scaled


def _chances(odds: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return found
