"""How sure a measured share is, and a difference of two shares that were measured on the same problems."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

Z = 1.959964  # of a normal distribution, 95 % lies within so many deviations


@dataclass(frozen=True)
class Share:
    """A share of `count` cases with its 95 % interval."""

    share: float
    low: float
    high: float
    count: int

    @property
    def interval(self) -> tuple[float, float]:
        return self.low, self.high


@dataclass(frozen=True)
class Difference:
    """A difference of two shares with its 95 % interval."""

    difference: float
    low: float
    high: float

    @property
    def is_chance(self) -> bool:
        """Whether the interval holds 0: the two may be equally good."""
        return self.low <= 0 <= self.high


def wilson(share: float, count: int) -> Share:
    """A share of so many cases with the interval of Wilson (1927). Of no cases, nothing is known."""
    if count == 0:
        return Share(share, 0.0, 1.0, 0)
    spread = 1 + Z * Z / count
    middle = (share + Z * Z / (2 * count)) / spread
    half = Z * math.sqrt(share * (1 - share) / count + Z * Z / (4 * count * count)) / spread
    # Rounding must not leave the share itself outside, at 0 and at 1.
    return Share(share, min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half)), count)


def share_of(right: Collection[bool]) -> Share:
    """The share of cases that are right."""
    return wilson(sum(map(bool, right)) / len(right) if len(right) else 0.0, len(right))


def paired(first: Sequence[float], second: Sequence[float]) -> Difference:
    """How much larger the mean of `second` is, measured on the same problems, in the same order.

    The interval is that of Agresti and Min (2005): of the differences problem by problem, with half a problem
    added to each way in which two outcomes can differ or agree, so that few problems don't look certain.
    """
    gains = [after - before for before, after in zip(first, second, strict=True)]
    if not gains:
        return Difference(0.0, -1.0, 1.0)
    count, total = len(gains) + 2, sum(gains)
    middle = total / count
    half = Z * math.sqrt(max(0.0, (sum(gain * gain for gain in gains) + 1) / count - middle**2) / count)
    mean = total / len(gains)
    return Difference(mean, max(-1.0, min(mean, middle - half)), min(1.0, max(mean, middle + half)))
