"""Words that a text has more than once.

"5 apples and 3 pears … How many apples" asks about the 5: a number counts if the word beside it comes again
in the question. That two words are the same can't be learnt from some hundred problems, least of all for
words that were never seen; so it is told.
"""

from collections.abc import Sequence
from itertools import compress

BEFORE, AFTER = 1, 2  # flags: where else the word is
KINDS = 4  # of a word, by its flags
ENDING, LEAST = 2, 4  # letters that inflection may change, and letters that are compared at least


def repeats(tokens: Sequence[str], is_number: Sequence[bool]) -> list[int]:
    """For each token, whether the text has the same word before and after it; 0 for numbers and marks."""
    is_word = [token[0].isalpha() and not number for token, number in zip(tokens, is_number, strict=True)]
    stems = [token[: max(LEAST, len(token) - ENDING)] for token in tokens]
    last = {stem: at for at, stem in compress(enumerate(stems), is_word)}
    seen: set[str] = set()
    flags = []
    for at, stem in enumerate(stems):
        if not is_word[at]:
            flags.append(0)
            continue
        flags.append(BEFORE * (stem in seen) + AFTER * (last[stem] > at))
        seen.add(stem)
    return flags
