"""Words as integers, for the encoder."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.data.joining import is_joined, join, learnt_words
from toolkit.data.problems import ProblemSet
from toolkit.data.schema import MAX_NUMBERS
from toolkit.data.tokens import Masked, number_token
from toolkit.data.wordpieces import END, cut, read_pieces
from toolkit.storage.description import damaged

PAD, UNKNOWN = "<pad>", "<unk>"
PAD_AT, UNKNOWN_AT, FIRST_NUMBER_AT = 0, 1, 2
ENOUGH = 50_000  # texts tell what the words of a language are


@dataclass(frozen=True)
class Vocabulary:
    """Words and their indices. Index 0 pads, index 1 is any unknown word.

    <num_0> … follow, so that every number has an index, even if no problem in training had that many. A word
    of several characters of an unspaced script is read as one token (`toolkit.data.joining`). The vocabulary
    of a pretrained encoder has pieces of words (`toolkit.data.wordpieces`).
    """

    words: tuple[str, ...]
    _index: dict[str, int] = field(init=False, repr=False, compare=False)
    _joined: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {word: i for i, word in enumerate(self.words)})
        object.__setattr__(self, "_joined", frozenset(filter(is_joined, self.words)))
        if self.words[:2] != (PAD, UNKNOWN) or len(self._index) != len(self.words):
            raise ValueError(f"a vocabulary starts with {PAD}, {UNKNOWN} and has each word once")

    def __len__(self) -> int:
        return len(self.words)

    @property
    def has_pieces(self) -> bool:
        return END in self._index

    def read(self, masked: Masked) -> Masked:
        """The problem with the tokens that are one word here joined, or in pieces."""
        if self.has_pieces:
            tokens = cut(masked.tokens, self._index, UNKNOWN)
        elif self._joined:
            tokens = join(masked.tokens, self._joined)
        else:
            return masked
        numbers = {number_token(j) for j in range(len(masked.operands))}
        return Masked(tuple(tokens), tuple(token in numbers for token in tokens), masked.operands)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        return [self._index.get(token, UNKNOWN_AT) for token in tokens]

    def decode(self, indices: Iterable[int]) -> list[str]:
        return [self.words[i] for i in indices]


def described_vocabulary(path: Path, what: str, words: Sequence[str]) -> Vocabulary:
    """The vocabulary of a model or solver, from its description."""
    try:
        return Vocabulary(tuple(words))
    except ValueError as error:
        raise damaged(path, what, str(error)) from None


def vocabulary_of(problems: ProblemSet, min_count: int = 1, joined: int = 0) -> Vocabulary:
    """The vocabulary of a problem set, its numbers masked.

    In unspaced scripts it has words of several characters that are seen `joined` times or more; 0: none.
    """
    texts: list[Sequence[str]] = [masked.tokens for masked in problems.masked]
    if joined:
        words = learnt_words(texts[:: 1 + len(texts) // ENOUGH], joined)
        texts = [join(text, words) for text in texts] if words else texts
    return build_vocabulary(texts, numbers=MAX_NUMBERS, min_count=min_count)


def pretrained_vocabulary(folder: Path) -> Vocabulary:
    """All pieces that the encoder in a folder knows."""
    special = _special(MAX_NUMBERS)
    return Vocabulary((*special, *(piece for piece in read_pieces(folder) if piece not in special)))


def build_vocabulary(texts: Iterable[Sequence[str]], *, numbers: int, min_count: int = 1) -> Vocabulary:
    """The vocabulary of tokenised texts: the most common words first, ties in alphabetical order.

    `numbers` is the number of <num_j> tokens. A word seen fewer than `min_count` times is unknown.
    """
    counts = Counter(token for tokens in texts for token in tokens)
    return vocabulary_of_counts(counts, numbers=numbers, min_count=min_count)


def vocabulary_of_counts(counts: Mapping[str, int], *, numbers: int, min_count: int = 1) -> Vocabulary:
    """`build_vocabulary` of texts in which each word is so often."""
    special = _special(numbers)
    known = frozenset(special)
    words = sorted(
        (word for word, count in counts.items() if count >= min_count and word not in known),
        key=lambda word: (-counts[word], word),
    )
    return Vocabulary((*special, *words))


def _special(numbers: int) -> list[str]:
    """What every vocabulary begins with."""
    return [PAD, UNKNOWN, *(number_token(j) for j in range(numbers))]
