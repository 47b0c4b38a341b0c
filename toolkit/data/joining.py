"""Words of scripts without spaces, learnt from the texts themselves.

A text in Chinese is read character by character, and characters that are a word are joined. A word tells
itself by what surrounds it: inside it the next character is nearly known, at its end anything may come. The
autonomy of a string is how much the entropy of the next character rises with its last one, less the mean of
strings as long, and the same from the other side. A text is cut so that the autonomies of its words, weighted
by their lengths, add up to most (Magistry and Sagot 2012). Pairs that are merely frequent, as byte-pair
encoding takes them, are often a word and its particle. A rare word stays as its characters, so no text has
more unknown words than before.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from toolkit.data.languages.language import MARKS, UNSPACED

LONGEST = 4  # characters of a word

Run = tuple[str, ...]  # characters that follow each other

_is_character = re.compile(rf"[{UNSPACED}][{MARKS}]*").fullmatch
_is_word = re.compile(rf"(?:[{UNSPACED}][{MARKS}]*){{2,}}").fullmatch


def is_joined(word: str) -> bool:
    """Whether a word consists of several tokens of an unspaced script."""
    return _is_word(word) is not None


def learnt_words(texts: Iterable[Sequence[str]], least: int) -> frozenset[str]:
    """The words of several characters that the texts have `least` times or more, when they are cut best."""
    runs = Counter(run for text in texts for run in _runs(text))
    strings = _strings(runs)
    weighted = {
        string: len(string) * value
        for string, value in _autonomies(strings).items()
        if len(string) == 1 or strings[len(string)][string] >= least
    }
    words: Counter[Run] = Counter()
    for run, count in runs.items():
        for word in _cut(run, weighted):
            words[word] += count
    return frozenset("".join(word) for word, count in words.items() if len(word) > 1 and count >= least)


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


def _runs(text: Sequence[str]) -> Iterator[Run]:
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


def _strings(runs: Mapping[Run, int]) -> list[Counter[Run]]:
    """How often each string is in the runs, by length: from 0 to one more than the longest word has."""
    strings: list[Counter[Run]] = [Counter() for _ in range(LONGEST + 2)]
    for run, count in runs.items():
        strings[0][()] += len(run) * count
        for length in range(1, min(len(run), LONGEST + 1) + 1):
            for start in range(len(run) - length + 1):
                strings[length][run[start : start + length]] += count
    return strings


def _autonomies(strings: Sequence[Counter[Run]]) -> dict[Run, float]:
    """Of all strings that are no longer than a word, those of both sides added."""
    autonomies: defaultdict[Run, float] = defaultdict(float)
    for side in (slice(None, -1), slice(1, None)):  # a string without its last character, and its first
        entropies = _entropies(strings, side)
        for length in range(1, LONGEST + 1):
            rises = {string: entropies[string] - entropies[string[side]] for string in strings[length]}
            mean = sum(rises.values()) / max(1, len(rises))
            for string, rise in rises.items():
                autonomies[string] += rise - mean
    return autonomies


def _entropies(strings: Sequence[Counter[Run]], side: slice) -> dict[Run, float]:
    """The entropy of the character beyond each string; where a run ends, every time it is another one."""
    logs: defaultdict[Run, float] = defaultdict(float)  # the sum of count * log(count) over what comes next
    for longer in strings[1:]:
        for string, count in longer.items():
            logs[string[side]] += count * math.log(count)
    return {
        string: math.log(count) - logs[string] / count
        for same_length in strings[:-1]
        for string, count in same_length.items()
    }


def _cut(run: Run, weighted: Mapping[Run, float]) -> Iterator[Run]:
    """The words of a run, from its end, whose sum of weighted autonomies is largest."""
    best, starts = [0.0], [0]
    for end in range(1, len(run) + 1):
        sums = {
            start: best[start] + weighted.get(run[start:end], -math.inf)
            for start in range(max(0, end - LONGEST), end)
        }
        start = max(sums, key=sums.__getitem__)
        best.append(sums[start])
        starts.append(start)
    end = len(run)
    while end:
        yield run[starts[end] : end]
        end = starts[end]
