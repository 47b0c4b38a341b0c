"""Solved problems that read most like another one, to be shown with it."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from toolkit.data.tokens import grams


class Nearest:
    """Texts by their words and pairs of words, weighted by idf; numbers are masked, so they do not count."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        each = [grams(tokens) for tokens in texts]
        found_in = Counter(gram for text in each for gram in text)
        self._idf = {gram: math.log((1 + len(texts)) / count) for gram, count in found_in.items()}
        self._lengths = [self._length(text) for text in each]
        self._texts_of: dict[str, list[int]] = defaultdict(list)
        for i, text in enumerate(each):
            for gram in text:
                self._texts_of[gram].append(i)

    def __call__(self, tokens: Sequence[str], count: int) -> list[int]:
        """The texts that are most alike (cosine), the most alike first; texts without a common word never."""
        alike: dict[int, float] = defaultdict(float)
        for gram in sorted(grams(tokens)):  # sums of floats depend on their order
            for i in self._texts_of.get(gram, ()):
                alike[i] += self._idf[gram] ** 2
        return sorted(alike, key=lambda i: (-alike[i] / self._lengths[i], i))[:count]

    def _length(self, text: set[str]) -> float:
        return math.sqrt(math.fsum(self._idf[gram] ** 2 for gram in text)) or 1.0
