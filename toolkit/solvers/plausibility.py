"""Which values answers have: a solver reads masked numbers, so it can't see that 5 / 455 is implausible.

Neither GTS nor Graph2Tree knows the values its equation is about. The answers that it is trained on say
that a problem over whole numbers hardly ever comes to 0.011, or to -8, or to a number that the text already
has. Beams are ranked by their probability times that of the kind of value they come to.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from toolkit.equations import as_float

SMOOTHING = 0.5  # of a problem: a kind that was never seen is rare, not impossible
KINDS = 12  # about: (negative, zero, small, fraction, whole, none) × given already or not
NEAR = 1e-9  # floats so near are the same number


def is_whole(value: float) -> bool:
    return abs(value - round(value)) < 1e-6


def kind_of(value: float) -> str:
    """The kind of a finite number."""
    if abs(value) < NEAR:
        return "zero"
    if value < 0:
        return "negative"
    if is_whole(value):
        return "whole"
    return "small" if value < 1 else "fraction"


@dataclass(frozen=True)
class TextNumbers:
    """The numbers of a text, with what is asked about them for every equation."""

    exact: Sequence[Fraction]

    @cached_property
    def values(self) -> list[float]:
        return [as_float(number) for number in self.exact]

    @cached_property
    def are_whole(self) -> bool:
        return all(number.denominator == 1 for number in self.exact)

    def has(self, value: float) -> bool:
        return any(abs(number - value) < NEAR for number in self.values)

    def __len__(self) -> int:
        return len(self.exact)


def value_kind(value: float | None, numbers: TextNumbers) -> str:
    """What kind of value this is for a problem with these numbers."""
    over = "whole" if numbers.are_whole else "broken"
    if value is None:
        return f"{over}: none"
    return f"{over}: {kind_of(value)}{', given' if numbers.has(value) else ''}"


class Plausibility:
    """How often answers are of each kind, given whether all numbers of the problem are whole."""

    def __init__(self, counts: Mapping[str, float]) -> None:
        self.counts = dict(counts)
        self._totals: dict[str, float] = {}
        for kind, count in self.counts.items():
            self._totals[_over(kind)] = self._totals.get(_over(kind), 0.0) + count

    @classmethod
    def fit(cls, answers: Sequence[float], numbers: Sequence[Sequence[Fraction]]) -> "Plausibility":
        kinds = (
            value_kind(answer, TextNumbers(operands))
            for answer, operands in zip(answers, numbers, strict=True)
        )
        return cls(Counter(kinds))

    def log_prior(self, value: float | None, numbers: TextNumbers) -> float:
        kind = value_kind(value, numbers)
        total = self._totals.get(_over(kind), 0.0) + SMOOTHING * KINDS
        return math.log((self.counts.get(kind, 0) + SMOOTHING) / total)


def _over(kind: str) -> str:
    return kind.partition(":")[0]
