"""Equations of problems that were learnt, for new ones that read almost the same (Wang et al. 2017, DNS)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from toolkit.data import Masked
from toolkit.data.nearest import Nearest
from toolkit.equations import Expr

LOOKED_AT = 10  # nearest texts by TF-IDF, which are compared word by word


@dataclass(frozen=True)
class Learnt:
    """A problem that was learnt: the words of its masked text, and its template."""

    words: tuple[str, ...]
    template: Expr


class Retrieval:
    """Of the texts that are nearest by TF-IDF the one with the largest Jaccard index, if it is large enough.

    Both texts must have equally many numbers.
    """

    def __init__(self, learnt: Sequence[Learnt], least: float) -> None:
        self.learnt, self.least = list(learnt), least

    @cached_property
    def _nearest(self) -> Nearest:
        return Nearest([one.words for one in self.learnt])

    def __call__(self, masked: Masked) -> Expr | None:
        numbers = _numbers(masked.tokens)
        near = [self.learnt[i] for i in self._nearest(masked.tokens, LOOKED_AT)]
        alike = [(_jaccard(one.words, masked.tokens), one) for one in near if _numbers(one.words) == numbers]
        best, found = max(alike, key=lambda pair: pair[0], default=(0.0, None))
        return found.template if found is not None and best >= self.least else None


def _numbers(words: Sequence[str]) -> int:
    return sum(word.startswith("<num_") for word in words)


def _jaccard(first: Sequence[str], second: Sequence[str]) -> float:
    """Shared words by all words of two texts."""
    one, other = set(first), set(second)
    return len(one & other) / max(len(one | other), 1)
