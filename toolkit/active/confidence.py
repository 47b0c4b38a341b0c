"""How sure a model is of a problem's equation: the one number that selection, reports and scores use.

The candidates of a problem that reach its answer are grouped by class; a class scores the logsumexp of its
members' log-probabilities; the posterior is the softmax over the classes, at a temperature that is fitted
on problems whose right class is known. Confidence is the posterior of the top class.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Class = TypeVar("Class", bound=Hashable)


def class_scores(classes: Sequence[Class], log_probs: Sequence[float]) -> dict[Class, float]:
    """The logsumexp of each class's members, classes in order of first appearance."""
    members: dict[Class, list[float]] = {}
    for klass, log_prob in zip(classes, log_probs, strict=True):
        members.setdefault(klass, []).append(log_prob)
    return {klass: float(np.logaddexp.reduce(scores)) for klass, scores in members.items()}


def posterior(scores: Mapping[Class, float], temperature: float = 1.0) -> dict[Class, float]:
    """The probability of each class, given that one of them is right."""
    if not scores:
        return {}
    values = np.array(list(scores.values())) / temperature
    shares = np.exp(values - np.logaddexp.reduce(values))
    return dict(zip(scores, shares.tolist(), strict=True))


def fit_temperature(
    scores: Sequence[Mapping[Class, float]], known: Sequence[Class | None], *, most: float = 20.0
) -> float:
    """The temperature that makes the known classes likeliest (Guo et al. 2017); 1 if no case says anything.

    Problems whose known class is not among the candidates, or is the only one, say nothing about it.
    """
    cases = [
        (candidates, klass)
        for candidates, klass in zip(scores, known, strict=True)
        if klass is not None and klass in candidates and len(candidates) > 1
    ]
    if not cases:
        return 1.0

    def loss(log_temperature: float) -> float:
        temperature = math.exp(log_temperature)
        return -sum(math.log(max(posterior(s, temperature)[k], 1e-300)) for s, k in cases)

    grid = np.linspace(-math.log(most), math.log(most), 41)
    best = min(grid, key=loss)
    step = float(grid[1] - grid[0])
    for _ in range(12):  # halve the step around the best point: the loss has one valley
        step /= 2
        best = min((best - step, best, best + step), key=loss)
    return math.exp(float(best))
