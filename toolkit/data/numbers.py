"""The numbers in the text of a word problem: the value and the position of each.

The digit grammar here is the same for all languages: integers, decimals, 1,000 and 1,00,000, fractions,
mixed numbers, percent. Number words are in `toolkit.data.languages`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from functools import cache

from toolkit.data.languages import language
from toolkit.data.languages.language import MARKS, NOTHING, NumberWords
from toolkit.equations.characters import FRACTION_SIGNS, plain


class Written(IntEnum):
    """How a number is written: 1/5 of something, 0.2 metres and 20 % are the same value, but not alike."""

    WHOLE = 0
    DECIMAL = 1
    FRACTION = 2
    PERCENT = 3
    WORDS = 4


@dataclass(frozen=True, slots=True)
class Operand:
    """One occurrence of a number in a problem's text: text[start:end] is how it is written."""

    value: Fraction
    start: int
    end: int
    written: Written


LONGEST = 100
"""Characters. A longer match is a code or noise, not a number (and Python refuses to read 5,000 digits)."""

_SIGNS = "".join(FRACTION_SIGNS)
_FRACTION_SIGN = f"[{_SIGNS}]"
# After these, and after a letter, a minus subtracts (5-7, 3倍-4.8, 8时-11时). Otherwise it is the sign of the
# number.
_SUBTRACTS = rf"[0-9)\]}}%.{_SIGNS}{MARKS}倍商积和差数米元时-]"
_GROUPED = (
    r"(?<![0-9,])(?<![0-9]\.)(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3})(?!,?[0-9])"
    r"(?:\.[0-9]+)?"
)


def _digits(letter: str) -> str:
    """The pattern of a number in digits; after a `letter` a minus is not a sign."""
    return rf"""
    (?=[0-9.(-]|{_FRACTION_SIGN})                                     # only saves time
    (?: (?P<skip>(?<=[a-z_])(?<!\brs)[0-9]+(?:\.[0-9]+)*)             # MP3, x2; but Rs50 is a number
      | (?P<minus>-(?<!{_SUBTRACTS}-)(?<!{letter}-)(?!\())?
        (?: (?:(?P<whole>[0-9]+)                                      # 1 1/2, 1(5/6), 2-1/2 cups
                (?:\ |\ and\ |-(?=[0-9]+/[0-9]+\ ?[a-z])|\ ?(?=\()))?
            (?P<fraction>(?P<open>\(\ ?)?(?<![/*])(?<!/\ )
                (?P<above>[0-9]+)\ ?/\ ?(?P<below>0*[1-9][0-9]*)(?!\.?[0-9]|\ ?/\ ?[0-9])
                (?(open)\ ?\)|(?!.{{0,9}}商)))                        # 6/96的商 is a division
          | (?:(?P<units>[0-9]+)\ ?)?(?P<sign>{_FRACTION_SIGN})
          | (?P<number>{_GROUPED}|[0-9]+(?:\.[0-9]+)?|(?<![\w.{MARKS}])\.[0-9]+)
        )
    )
    """


@dataclass(frozen=True, slots=True)
class _Grammar:
    pattern: re.Pattern[str]
    value: Callable[[str], Fraction | None]
    scales: Mapping[str, int]


@cache  # compiling takes some hundredths of a second, so only languages in use are compiled
def _grammar(words: NumberWords, unspaced: str) -> _Grammar:
    letter = rf"[^\W\d_{_SIGNS}{unspaced}]"
    scale = "|".join(sorted(map(re.escape, words.scales), key=len, reverse=True)) or NOTHING
    # Phrases go first, because some begin with digits: "3 and a half", 百分之25.
    pattern = re.compile(
        rf"(?:(?P<phrase>{words.phrase})|(?x:{_digits(letter)})"
        rf"(?:[\s-]?(?P<scale>{scale})(?!{letter}|[{MARKS}]))?)"
        rf"(?P<percent>\s?%|{words.percent})?"
    )
    return _Grammar(pattern, words.value, words.scales)


# `plain` reads these as arithmetic, but in running text they are not: a full-width comma never groups
# thousands, 6÷2 is two numbers, and a long dash is not a minus.
_APART = str.maketrans("，÷—", "、、、")
_FULL_STOP = re.compile("(?<![０-９])．|．(?![０-９])")


def find_numbers(text: str, lang: str) -> tuple[Operand, ...]:
    """The numbers of the text in reading order, without overlap. A repeated number is listed twice.

    `lang` is the code of a language; if it has no file in `toolkit.data.languages`, only digits are read.
    The value of 25% is 1/4, and the percent sign is part of the number; a currency sign is not.
    """
    known = language(lang)
    grammar = _grammar(known.number_words, known.unspaced)
    found: list[Operand] = []
    for match in grammar.pattern.finditer(_flat(text)):
        if match["skip"] is None and match.end() - match.start() <= LONGEST:
            found.extend(_operands(match, grammar))
    return tuple(found)


def _flat(text: str) -> str:
    """The text in lower case with ASCII digits and signs, character for character."""
    if not text.isascii():
        text = plain(_FULL_STOP.sub("。", text).translate(_APART))
        text = text.replace("İ", "i")  # the only letter that becomes two in lower case
    return text.lower()


def _operands(match: re.Match[str], grammar: _Grammar) -> list[Operand]:
    start, end = match.span()
    value: Fraction | None
    written = Written.WHOLE
    if match["phrase"] is not None:
        value, written = grammar.value(match["phrase"]), Written.WORDS
        if value is None:
            return []
    elif match["fraction"] is not None:
        value, written = Fraction(int(match["above"]), int(match["below"])), Written.FRACTION
        if match["whole"] is not None:
            if value >= 1:  # not a mixed number, but two numbers side by side
                whole = _signed(match, Fraction(match["whole"]))
                return [
                    Operand(whole, start, match.end("whole"), Written.WHOLE),
                    Operand(_scaled(match, value, grammar), match.start("fraction"), end, written),
                ]
            value += int(match["whole"])
    elif match["sign"] is not None:
        value = int(match["units"] or 0) + Fraction(FRACTION_SIGNS[match["sign"]])
        written = Written.FRACTION
    else:
        value = Fraction(match["number"].replace(",", ""))
        if "." in match["number"]:
            written = Written.DECIMAL
    if match["percent"]:
        written = Written.PERCENT
    return [Operand(_scaled(match, _signed(match, value), grammar), start, end, written)]


def _signed(match: re.Match[str], value: Fraction) -> Fraction:
    return -value if match["minus"] else value


def _scaled(match: re.Match[str], value: Fraction, grammar: _Grammar) -> Fraction:
    scale = match["scale"]
    return value * (grammar.scales[scale] if scale else 1) / (100 if match["percent"] else 1)
