"""Solved problems that read most like another one, to be shown with it."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise


class Nearest:
    """Texts by their words and pairs of words, weighted by idf; numbers are masked, so they do not count."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        grams = [_grams(tokens) for tokens in texts]
        found_in = Counter(gram for text in grams for gram in text)
        self._idf = {gram: math.log((1 + len(texts)) / count) for gram, count in found_in.items()}
        self._lengths = [self._length(text) for text in grams]
        self._texts_of: dict[str, list[int]] = defaultdict(list)
        for i, text in enumerate(grams):
            for gram in text:
                self._texts_of[gram].append(i)

    def __call__(self, tokens: Sequence[str], count: int) -> list[int]:
        """The texts that are most alike (cosine), the most alike first; texts without a common word never."""
        grams = _grams(tokens)
        alike: dict[int, float] = defaultdict(float)
        for gram in sorted(grams):  # sums of floats depend on their order
            for i in self._texts_of.get(gram, ()):
                alike[i] += self._idf[gram] ** 2
        return sorted(alike, key=lambda i: (-alike[i] / self._lengths[i], i))[:count]

    def _length(self, grams: set[str]) -> float:
        return math.sqrt(math.fsum(self._idf[gram] ** 2 for gram in grams)) or 1.0


def _grams(tokens: Sequence[str]) -> set[str]:
    return {*tokens, *(f"{first} {second}" for first, second in pairwise(tokens))}
