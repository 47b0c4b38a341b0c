"""How far the likeliest class of a problem can be trusted, learnt from what annotators said of others.

A posterior tells how the classes that were found compare. It can't tell that none of them is right, so that
a problem with a single class is certain at any temperature. Logistic regression on a few facts of the
candidates can (`toolkit.loop.trust` has them). It starts at the confidence itself, and leaves it as far
as the answers of annotators ask for: a few change little.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from toolkit.active.confidence import Floats

STRENGTH = 5.0  # of the pull towards the confidence
CONSTANT = 0.1  # of it for the constant: how often the top class is right differs most between sets
STEPS = 50
_HIGHEST = 8.0  # log-odds that a confidence has at most


def log_odds(confidence: Floats) -> Floats:
    """The log-odds of probabilities, within bounds."""
    least = 1 / (1 + np.exp(_HIGHEST))
    inside = np.clip(confidence, least, 1 - least)
    odds: Floats = np.log(inside) - np.log1p(-inside)
    return odds


@dataclass(frozen=True)
class Trust:
    """Weights of the columns of facts; the last one is the constant."""

    weights: tuple[float, ...]

    def confidence(self, facts: Floats) -> Floats:
        """The probability that the top class is right, of problems with these facts [N, F]."""
        return _chances(_with_constant(facts) @ np.array(self.weights))


def fit_trust(facts: Floats, right: Sequence[bool], every: Floats) -> Trust:
    """Learn from problems with facts [N, F] whose top class is right or not.

    The first column is the log-odds of the confidence, and what is learnt starts there. `every` [M, F] are
    the facts of all problems, which say what is much or little in a column.
    """
    mean, scale = every.mean(axis=0), np.maximum(every.std(axis=0), 1e-6)
    inputs, outcomes = _with_constant((facts - mean) / scale), np.array(right, dtype=float)
    start = np.zeros(inputs.shape[1])
    start[0], start[-1] = scale[0], mean[0]
    pull = np.full(len(start), STRENGTH)
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
    slopes = weights[:-1] / scale
    return Trust((*slopes.tolist(), float(weights[-1] - slopes @ mean)))


def trusted(posteriors: Floats, confidence: float) -> Floats:
    """Posteriors [K] of the classes of a problem, the likeliest first, with this confidence in the first.

    The order stays. What is lost if it is lower is the probability that none of them is right.
    """
    top = posteriors[0]
    factors = np.full(len(posteriors), min(confidence / top, (1 - confidence) / max(1 - top, 1e-12)))
    factors[0] = confidence / top
    scaled: Floats = posteriors * factors
    return scaled


def _chances(odds: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return found


def _with_constant(facts: Floats) -> Floats:
    return np.column_stack([facts, np.ones(len(facts))])
