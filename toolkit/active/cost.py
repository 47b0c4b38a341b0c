"""What an annotation costs: the seconds it is predicted to take."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from toolkit.active.confidence import Floats


@dataclass(frozen=True)
class LabelCost:
    """What labels took, and what the problems without one would take at the same pace."""

    seconds: float  # of all responses whose time is known, gold questions and rejected ones too
    labels: int
    left: int  # problems that have no label
    price: float | None = None  # of an hour

    @property
    def each(self) -> float | None:
        """Seconds a label."""
        return self.seconds / self.labels if self.labels else None

    def money(self, seconds: float) -> float | None:
        return None if self.price is None else seconds / 3600 * self.price

    def sentences(self) -> list[str]:
        spent = f"Annotators worked for {self._shown(self.seconds)}"
        if self.each is None:
            return [f"{spent}, and no label came of it."]
        return [
            f"{spent}: {self._shown(self.each)} a label.",
            f"At this pace the {self.left:,} problems without a label would take "
            f"{self._shown(self.left * self.each)}.",
        ]

    def _shown(self, seconds: float) -> str:
        hours, minutes = divmod(round(seconds / 60), 60)
        time = (
            f"{seconds:.0f} s" if seconds < 120 else f"{hours} h {minutes} min" if hours else f"{minutes} min"
        )
        money = self.money(seconds)
        return time if money is None else f"{time} ({money:,.2f})"


@dataclass(frozen=True)
class SecondsWeights:
    """Seconds of an annotation: a guess until `fit_seconds` has enough of them to learn from."""

    start: float = 5.0  # to open the page and to send it
    word: float = 0.25  # silent reading, 238 words a minute (Brysbaert 2019)
    operand: float = 4.0  # to find out what a number is for
    candidate: float = 2.0  # to read an equation offered


def predicted_seconds(
    words: npt.ArrayLike,
    operands: npt.ArrayLike,
    candidates: npt.ArrayLike,
    weights: SecondsWeights | None = None,
) -> Floats:
    """Seconds to annotate each problem, linear in its words, its numbers and the candidates shown."""
    weights = weights or SecondsWeights()
    terms = np.array([weights.start, weights.word, weights.operand, weights.candidate])
    seconds: Floats = _terms(words, operands, candidates) @ terms
    return seconds


# The keystroke-level model of Card, Moran and Newell (1980): 1.35 s to make up one's mind, 0.28 s a key.
PICK = 1.6  # one of each
TERM = 2.5  # a number or constant of an equation that is written, with its operator: four keys


def response_seconds(
    words: npt.ArrayLike,
    operands: npt.ArrayLike,
    candidates: npt.ArrayLike,
    terms: npt.ArrayLike,
    picked: npt.ArrayLike,
) -> Floats:
    """Seconds of a response, if nobody measured them: reading, and then picking a candidate that is shown, or
    writing an equation with so many terms."""
    answering = np.where(picked, PICK, TERM * np.asarray(terms, dtype=np.float64))
    seconds: Floats = predicted_seconds(words, operands, candidates) + answering
    return seconds


def fit_seconds(
    words: npt.ArrayLike,
    operands: npt.ArrayLike,
    candidates: npt.ArrayLike,
    seconds: npt.ArrayLike,
    *,
    least: int = 20,
    most: float = 600.0,
) -> SecondsWeights:
    """The non-negative weights of least squares; the default if fewer than `least` times are known.

    Times over `most` seconds are left out: somebody had a break.
    """
    seen = np.asarray(seconds, dtype=np.float64)
    kept = (seen >= 0) & (seen <= most)  # not true of NaN: a time that is not known
    if kept.sum() < least:
        return SecondsWeights()
    terms, seen = _terms(words, operands, candidates)[kept], seen[kept]
    best, weights = math.inf, np.zeros(4)
    # The answer is plain least squares on the weights that are not zero, and four have only 15 subsets.
    for support in (list(subset) for size in range(1, 5) for subset in combinations(range(4), size)):
        fitted = np.linalg.lstsq(terms[:, support], seen, rcond=None)[0]
        loss = float(((terms[:, support] @ fitted - seen) ** 2).sum())
        if fitted.min() >= 0 and loss < best:
            best, weights = loss, np.zeros(4)
            weights[support] = fitted
    return SecondsWeights(*weights.tolist())


def _terms(words: npt.ArrayLike, operands: npt.ArrayLike, candidates: npt.ArrayLike) -> Floats:
    columns = np.broadcast_arrays(1.0, words, operands, candidates)
    return np.stack(columns, axis=-1).astype(np.float64)
