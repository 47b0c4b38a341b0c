"""The text of a problem as the tokens that the model reads, with numbered tokens for its numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from toolkit.data.languages import language
from toolkit.data.languages.language import MARKS, NOTHING, Language
from toolkit.data.numbers import Operand, find_numbers
from toolkit.equations.characters import plain


@dataclass(frozen=True, slots=True)
class Masked:
    """A problem as the model sees it: `operands[j]` is the token `number_token(j)`."""

    tokens: tuple[str, ...]
    """Words in lower case; the j-th operand is the token "<num_j>"."""
    is_number: tuple[bool, ...]
    """The paper's binary feature: for each token, whether it is a number."""
    operands: tuple[Operand, ...]


def number_token(j: int) -> str:
    """The token that stands for the j-th number of a problem."""
    return f"<num_{j}>"


def grams(tokens: Sequence[str]) -> set[str]:
    """The words of a text and its pairs of words, by which texts are compared."""
    return {*tokens, *(f"{first} {second}" for first, second in pairwise(tokens))}


def tokenize(text: str, lang: str) -> list[str]:
    """Lower-cased words and single punctuation marks; in Chinese each character.

    English "didn't" is "did", "n't" and "Ann's" is "ann", "'s", as in published tokenised text. Full-width
    signs and the digits of other scripts become ASCII, so that the vocabulary has each once. No token of a
    text equals a `number_token`.
    """
    return _tokens(text, language(lang))


def _tokens(text: str, known: Language) -> list[str]:
    flat = plain(text).replace("’", "'").lower()
    if "'" in flat and known.contractions != NOTHING:
        flat = _contraction_pattern(known.contractions).sub(r" \g<0> ", flat)
    return _token_pattern(known.contractions, known.unspaced).findall(flat)


@cache
def _contraction_pattern(contractions: str) -> re.Pattern[str]:
    return re.compile(contractions)


@cache
def _token_pattern(contractions: str, unspaced: str) -> re.Pattern[str]:
    word = rf"(?:[^\W\d_{unspaced}]|[{MARKS}])(?:[^\W_{unspaced}]+|[{MARKS}]+)*"
    return re.compile(rf"{contractions}|[{unspaced}][{MARKS}]*|\d+(?:[.,]\d+)*|{word}(?:'{word})?|\S")


def mask(text: str, lang: str) -> Masked:
    """Tokenise the text with each of its numbers as one token, even if letters follow ("280kg")."""
    known = language(lang)
    operands = find_numbers(text, lang)
    tokens: list[str] = []
    is_number: list[bool] = []
    done = 0
    for j, operand in enumerate(operands):
        words = _tokens(text[done : operand.start], known)
        tokens += [*words, number_token(j)]
        is_number += [False] * len(words) + [True]
        done = operand.end
    words = _tokens(text[done:], known)
    return Masked(
        tokens=(*tokens, *words),
        is_number=(*is_number, *[False] * len(words)),
        operands=operands,
    )
