"""The labeling page: its layout is page.xml, its words are here, in English, Hindi and Chinese."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from toolkit.equations import show_number

PICK, EQUATION, REASON = "pick", "equation", "reason"  # the controls of page.xml
OWN, BAD = "own", "bad"  # picks that are no candidate
HOTKEYS = "123456789"

WRONG_KEY = "wrong answer key"
REASONS = {WRONG_KEY: "k", "not solvable": "n", "unclear text": "u", "not a word problem": "p"}  # → hotkey


@dataclass(frozen=True)
class Words:
    """What the page says in one language."""

    answer: str
    numbers: str
    own: str
    bad: str
    reasons: tuple[str, ...]  # as REASONS
    complaint: str


WORDS = {
    "en": Words(
        "Answer",
        "Numbers",
        "my own equation",
        "bad problem",
        (
            "The answer key is wrong",
            "It can't be solved from its text",
            "The text is unclear",
            "It is no word problem",
        ),
        "The last equation could not be used",
    ),
    "hi": Words(
        "उत्तर",
        "संख्याएँ",
        "मेरा अपना समीकरण",
        "सवाल में गड़बड़ है",
        (
            "दिया हुआ उत्तर ग़लत है",
            "दी गई जानकारी से हल नहीं हो सकता",
            "सवाल साफ़ नहीं है",
            "यह गणित का सवाल नहीं है",
        ),
        "पिछला समीकरण काम नहीं आया",
    ),
    "zh": Words(
        "答案",
        "数字",
        "我自己写的算式",
        "题目有问题",
        ("给出的答案是错的", "根据题目无法求解", "题意不清楚", "这不是应用题"),
        "上一个算式不能使用",
    ),
}


def page() -> str:
    """The labeling config, as Label Studio takes it."""
    return Path(__file__).with_name("page.xml").read_text(encoding="utf-8")


def words(lang: str) -> Words:
    return WORDS.get(lang.split("-")[0], WORDS["en"])


def facts(lang: str, answer: float, numbers: Sequence[Fraction]) -> str:
    """The known answer and the numbers of the text, as one line."""
    its = words(lang)
    listed = ", ".join(show_number(value) for value in numbers)
    return f"{its.answer}: {answer:.12g}  ·  {its.numbers}: {listed}"


def choices(lang: str, candidates: Sequence[str]) -> list[dict[str, Any]]:
    """The candidates with their hotkeys, then what can always be picked; none is the favourite."""
    its = words(lang)
    shown: list[dict[str, Any]] = [
        {"value": equation, "hotkey": key}
        for equation, key in zip(dict.fromkeys(candidates), HOTKEYS, strict=False)
    ]
    return [
        *shown,
        {"value": its.own, "alias": OWN, "hotkey": "o"},
        {"value": its.bad, "alias": BAD, "hotkey": "b"},
    ]


@cache
def reasons(lang: str) -> list[dict[str, str]]:
    return [
        {"value": said, "alias": reason, "hotkey": key}
        for said, (reason, key) in zip(words(lang).reasons, REASONS.items(), strict=True)
    ]


def instructions() -> str:
    """For annotators, above the page."""
    return Path(__file__).with_name("instructions.html").read_text(encoding="utf-8")
