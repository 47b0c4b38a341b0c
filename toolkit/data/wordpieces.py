"""Words as the pieces that a pretrained encoder knows: play ##ing (Wu et al. 2016).

The vocabulary of such an encoder is a file with a piece in each line. A piece that begins with ## goes on
with a word. A word is cut from left to right into the longest pieces that there are; one that can't be cut is
unknown. A text begins with [CLS] and ends with [SEP], as the encoder has always seen it.
"""

from collections.abc import Container, Iterable
from pathlib import Path

from toolkit.errors import WarmkitError
from toolkit.storage.files import read_text

VOCABULARY = "vocab.txt"
BEGIN, END = "[CLS]", "[SEP]"
PADDING, UNKNOWN_PIECE = "[PAD]", "[UNK]"  # what they are called in the file
INSIDE = "##"
LONGEST = 100  # characters of a word; a longer one is unknown


def read_pieces(folder: Path) -> tuple[str, ...]:
    """The pieces of a pretrained encoder, in the order of its embeddings."""
    path = folder / VOCABULARY
    pieces = tuple(read_text(path).splitlines())
    for needed in (PADDING, UNKNOWN_PIECE, BEGIN, END):
        if needed not in pieces:
            raise WarmkitError(f"{path}: it has no {needed}: this is not the vocabulary of a BERT.")
    if len(set(pieces)) != len(pieces):
        raise WarmkitError(f"{path}: it has the same piece twice.")
    return pieces


def cut(tokens: Iterable[str], pieces: Container[str], unknown: str) -> list[str]:
    """The words of a text in pieces; `unknown` stands for a word that can't be cut."""
    found = [BEGIN]
    for token in tokens:
        if token in pieces:
            found.append(token)
            continue
        for part in token.replace("'", " ' ").split():  # n't: the encoder has seen n ' t
            found += _cut_word(part, pieces) or [unknown]
    return [*found, END]


def _cut_word(word: str, pieces: Container[str]) -> list[str]:
    """None of them if it can't be cut."""
    found: list[str] = []
    start = 0
    while start < len(word) <= LONGEST:
        prefix = INSIDE if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in pieces), start)
        if end == start:
            return []
        found.append(prefix + word[start:end])
        start = end
    return found
