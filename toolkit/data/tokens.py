"""A problem's text as the tokens the model reads, its numbers masked by position."""

import re
from dataclasses import dataclass

from toolkit.data.numbers import Operand, find_numbers
from toolkit.equations.characters import plain

_IDEOGRAPH = r"\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARKS = r"\u0300-\u036f\u0900-\u0963\u0971-\u097f\u200c\u200d"  # vowel signs and accents are not \w
_WORD = rf"(?:[^\W\d_{_IDEOGRAPH}]|[{_MARKS}])(?:[^\W_{_IDEOGRAPH}]+|[{_MARKS}]+)*"
_TOKEN = re.compile(rf"n't\b|'(?:s|re|ve|ll|d|m)\b|[{_IDEOGRAPH}]|\d+(?:[.,]\d+)*|{_WORD}(?:'{_WORD})?|\S")
_CONTRACTION = re.compile(r"(?<=[a-z])(n't|'(?:s|re|ve|ll|d|m))\b")


@dataclass(frozen=True, slots=True)
class Masked:
    """A problem as the model sees it: `operands[j]` is the token `number_token(j)`."""

    tokens: tuple[str, ...]
    """Words lower-cased; the j-th operand is the token "<num_j>"."""
    is_number: tuple[bool, ...]
    """The paper's binary feature: for each token, whether it is a number."""
    operands: tuple[Operand, ...]


def number_token(j: int) -> str:
    """The token that stands for the j-th number of a problem."""
    return f"<num_{j}>"


def tokenize(text: str, lang: str) -> list[str]:
    """Lower-cased words and single punctuation marks; in Chinese each character.

    English "didn't" is "did", "n't" and "Ann's" is "ann", "'s", as in text that comes tokenised. Full-width
    signs and the digits of other scripts become ASCII, so that the vocabulary has each once. No token can
    be mistaken for `number_token`, whatever the text has.
    """
    flat = plain(text).replace("’", "'").lower()
    if lang == "en" and "'" in flat:
        flat = _CONTRACTION.sub(r" \1 ", flat)
    return _TOKEN.findall(flat)


def mask(text: str, lang: str) -> Masked:
    """Tokenise the text with each of its numbers as one token, also where letters follow ("280kg")."""
    operands = find_numbers(text, lang)
    tokens: list[str] = []
    is_number: list[bool] = []
    done = 0
    for j, operand in enumerate(operands):
        words = tokenize(text[done : operand.start], lang)
        tokens += [*words, number_token(j)]
        is_number += [False] * len(words) + [True]
        done = operand.end
    words = tokenize(text[done:], lang)
    return Masked(
        tokens=(*tokens, *words),
        is_number=(*is_number, *[False] * len(words)),
        operands=operands,
    )
