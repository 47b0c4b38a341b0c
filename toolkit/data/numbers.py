"""The numbers in a word problem's text: what each is worth and where it stands.

The digit grammar here is the same for all languages: integers, decimals, 1,000 and 1,00,000, fractions,
mixed numbers, percent. Number words are in `words_en`, `words_hi` and `words_zh`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from string import ascii_lowercase, ascii_uppercase

from toolkit.data import words_en, words_hi, words_zh
from toolkit.equations.characters import FRACTION_SIGNS, plain


@dataclass(frozen=True, slots=True)
class Operand:
    """One occurrence of a number in a problem's text: text[start:end] is how it is written."""

    value: Fraction
    start: int
    end: int


LONGEST = 100
"""Longer than this is a code or noise and no number (and Python refuses to read 5,000 digits)."""

_FRACTION_SIGN = f"[{''.join(FRACTION_SIGNS)}]"
_DEVANAGARI = r"\u0900-\u0963\u0971-\u097f"
# After these a minus subtracts (5-7, 3倍-4.8, 8时-11时); elsewhere it is the number's own sign.
_SUBTRACTS = rf"[a-z0-9)\]}}%.{''.join(FRACTION_SIGNS)}{_DEVANAGARI}倍商积和差数米元时-]"
_GROUPED = (
    r"(?<![0-9,])(?<![0-9]\.)(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3})(?!,?[0-9])"
    r"(?:\.[0-9]+)?"
)
_DIGITS = rf"""
    (?=[0-9.(-]|{_FRACTION_SIGN})                                     # only saves time
    (?: (?P<skip>(?<=[a-z_])(?<!\brs)[0-9]+(?:\.[0-9]+)*)             # MP3, x2; but Rs50 is a number
      | (?P<minus>(?<!{_SUBTRACTS})-(?!\())?
        (?: (?:(?P<whole>[0-9]+)                                      # 1 1/2, 1(5/6), 2-1/2 cups
                (?:\ |\ and\ |-(?=[0-9]+/[0-9]+\ ?[a-z])|\ ?(?=\()))?
            (?P<fraction>(?P<open>\(\ ?)?(?<![/*])(?<!/\ )
                (?P<above>[0-9]+)\ ?/\ ?(?P<below>0*[1-9][0-9]*)(?!\.?[0-9]|\ ?/\ ?[0-9])
                (?(open)\ ?\)|(?!.{{0,9}}商)))                        # 6/96的商 is a division
          | (?:(?P<units>[0-9]+)\ ?)?(?P<sign>{_FRACTION_SIGN})
          | (?P<number>{_GROUPED}|[0-9]+(?:\.[0-9]+)?|(?<![\w.{_DEVANAGARI}])\.[0-9]+)
        )
    )
"""


@dataclass(frozen=True, slots=True)
class _Language:
    pattern: re.Pattern[str]
    value: Callable[[str], Fraction | None]
    scales: Mapping[str, int]


def _language(
    phrase: str, value: Callable[[str], Fraction | None], scales: Mapping[str, int], percent: str
) -> _Language:
    scale = "|".join(sorted(scales, key=len, reverse=True)) or "(?!)"
    # Phrases go first, because some begin with digits: "3 and a half", 百分之25.
    pattern = re.compile(
        rf"(?:(?P<phrase>{phrase})|(?x:{_DIGITS})(?:[\s-]?(?P<scale>{scale})(?![a-z{_DEVANAGARI}]))?)"
        rf"(?P<percent>\s?%|{percent})?"
    )
    return _Language(pattern, value, {word.partition("(")[0]: number for word, number in scales.items()})


_LANGUAGES = {
    "en": _language(words_en.PHRASE, words_en.value, words_en.SCALES, words_en.PERCENT),
    "hi": _language(words_hi.PHRASE, words_hi.value, words_hi.SCALES, words_hi.PERCENT),
    "zh": _language(words_zh.PHRASE, words_zh.value, words_zh.SCALES, words_zh.PERCENT),
}
_DIGITS_ONLY = _language("(?!)", lambda phrase: None, {}, "(?!)")

# `plain` reads these as signs of arithmetic, which in running text they are not: a full-width comma never
# groups thousands, 6÷2 is two numbers, and a long dash is no minus.
_APART = str.maketrans("，÷—", "、、、") | str.maketrans(ascii_uppercase, ascii_lowercase)
_FULL_STOP = re.compile("(?<![０-９])．|．(?![０-９])")


def find_numbers(text: str, lang: str) -> tuple[Operand, ...]:
    """The numbers of the text in reading order, never overlapping; a repeated number is there twice.

    `lang` is "en", "hi" or "zh"; for any other only digits are read. A percent is worth its hundredth
    (25% is 1/4) and its sign is a part of it; a currency sign is not.
    """
    language = _LANGUAGES.get(lang, _DIGITS_ONLY)
    flat = plain(_FULL_STOP.sub("。", text).translate(_APART)).translate(_APART)
    found: list[Operand] = []
    for match in language.pattern.finditer(flat):
        if match["skip"] is None and match.end() - match.start() <= LONGEST:
            found.extend(_operands(match, language))
    return tuple(found)


def _operands(match: re.Match[str], language: _Language) -> list[Operand]:
    start, end = match.span()
    value: Fraction | None
    if match["phrase"] is not None:
        value = language.value(match["phrase"])
        if value is None:
            return []
    elif match["fraction"] is not None:
        value = Fraction(int(match["above"]), int(match["below"]))
        if match["whole"] is not None:
            if value >= 1:  # not a mixed number: two that stand side by side
                return [
                    Operand(_signed(match, Fraction(match["whole"])), start, match.end("whole")),
                    Operand(_scaled(match, value, language), match.start("fraction"), end),
                ]
            value += int(match["whole"])
    elif match["sign"] is not None:
        value = int(match["units"] or 0) + Fraction(FRACTION_SIGNS[match["sign"]])
    else:
        value = Fraction(match["number"].replace(",", ""))
    return [Operand(_scaled(match, _signed(match, value), language), start, end)]


def _signed(match: re.Match[str], value: Fraction) -> Fraction:
    return -value if match["minus"] else value


def _scaled(match: re.Match[str], value: Fraction, language: _Language) -> Fraction:
    scale = match["scale"]
    return value * (language.scales[scale] if scale else 1) / (100 if match["percent"] else 1)
