"""Words of scripts without spaces, learnt from the texts themselves.

A text in Chinese is read character by character. Characters that often follow each other are joined, the most
frequent pair first, and what was joined may be joined again (byte-pair encoding: Gage 1994, Sennrich et al.
2016). A rare word stays as its characters, so no text has more unknown words than before.
"""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import pairwise

from toolkit.data.languages.language import MARKS, UNSPACED

LONGEST = 4  # characters of a word

_is_character = re.compile(rf"[{UNSPACED}][{MARKS}]*").fullmatch
_is_word = re.compile(rf"(?:[{UNSPACED}][{MARKS}]*){{2,}}").fullmatch


def is_joined(word: str) -> bool:
    """Whether a word consists of several tokens of an unspaced script."""
    return _is_word(word) is not None


def frequent_words(texts: Iterable[Sequence[str]], least: int) -> list[str]:
    """Words whose last two parts followed each other `least` times when they were joined, in that order."""
    counts = Counter(run for text in texts for run in _runs(text))
    runs, weights = [list(run) for run in counts], list(counts.values())
    seen: Counter[tuple[str, str]] = Counter()
    places: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for i, run in enumerate(runs):
        for pair in pairwise(run):
            seen[pair] += weights[i]
            places[pair].add(i)
    heap = [(-count, pair) for pair, count in seen.items() if count >= least]
    heapq.heapify(heap)
    words = []
    while heap:
        count, pair = heapq.heappop(heap)
        if seen[pair] != -count:  # it was counted before others were joined
            if seen[pair] >= least:
                heapq.heappush(heap, (-seen[pair], pair))
            continue
        word = "".join(pair)
        words.append(word)
        new: set[tuple[str, str]] = set()
        for i in places.pop(pair):
            for old in pairwise(runs[i]):
                seen[old] -= weights[i]
            runs[i] = _join(runs[i], pair, word)
            for now in pairwise(runs[i]):
                seen[now] += weights[i]
                places[now].add(i)
                new.add(now)
        for now in new:
            if word in now and seen[now] >= least and len("".join(now)) <= LONGEST:
                heapq.heappush(heap, (-seen[now], now))
    return words


def join(tokens: Sequence[str], words: Set[str]) -> list[str]:
    """The tokens with those that are a word joined: from left to right, the longest word that fits."""
    joined: list[str] = []
    at = 0
    while at < len(tokens):
        for end in range(min(len(tokens), at + LONGEST), at, -1):
            word = "".join(tokens[at:end])
            if end == at + 1 or word in words:
                joined.append(word)
                at = end
                break
    return joined


def _join(run: list[str], pair: tuple[str, str], word: str) -> list[str]:
    joined: list[str] = []
    for token in run:
        if joined and (joined[-1], token) == pair:
            joined[-1] = word
        else:
            joined.append(token)
    return joined


def _runs(text: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The characters of unspaced scripts that follow each other."""
    run: list[str] = []
    for token in text:
        if _is_character(token):
            run.append(token)
        elif run:
            yield tuple(run)
            run = []
    if run:
        yield tuple(run)
