"""A language as one object: how its texts are recognised, read and annotated.

All fields but the code and the name have defaults. A language that is only a code and a name reads digits,
shows English on the annotation page and asks language models in English.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

NOTHING = "(?!)"
"""A pattern that never matches."""

MARKS = "\u200c\u200d" + "".join(
    chr(code) for code in range(0x300, 0x1D00) if unicodedata.category(chr(code)).startswith("M")
)
"""Accents, vowel signs and joiners, for a character class: they belong to words, but are not `\\w`."""

UNSPACED = r"\u2460-\u24ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Circled numbers, kana and ideographs, for a character class."""


def _no_value(phrase: str) -> Fraction | None:
    return None


@dataclass(frozen=True, eq=False)
class NumberWords:
    """The number words of a language. All patterns are for lower-case text with ASCII digits and signs."""

    phrase: str = NOTHING
    """A pattern of one number in words, with its required context."""
    value: Callable[[str], Fraction | None] = _no_value
    """The value of a text that `phrase` matched; None if it is not a number after all."""
    scales: Mapping[str, int] = field(default_factory=dict)
    """Words that multiply the digits before them: "5 million", "2.5 lakh"."""
    percent: str = NOTHING
    """A pattern of the words for percent that follow a number, with the space before them."""


@dataclass(frozen=True)
class PageLabels:
    """The labels of the annotation page. The defaults are English."""

    answer: str = "Answer"
    numbers: str = "Numbers"
    own: str = "my own equation"
    bad: str = "bad problem"
    reasons: tuple[str, str, str, str] = (
        "The answer key is wrong",
        "It can't be solved from its text",
        "The text is unclear",
        "It is no word problem",
    )
    """Why a problem is bad, in this order."""
    complaint: str = "The last equation could not be used"
    rejections: tuple[str, str, str, str] | None = None
    """Why an equation was rejected: there is none, it can't be read, it has other numbers than the text, it
    gives {value} and not {answer}. None: the sentence of the judge, which is English."""


@dataclass(frozen=True)
class Language:
    """What warmkit knows about a language. `toolkit.data.languages.language` finds it by its code."""

    code: str
    """ISO 639: en, hi, zh. The language's file has the same name."""
    name: str
    """In the language itself: हिन्दी."""
    script: re.Pattern[str] | None = None
    """A text that matches is in this language; None if the script does not identify it (Latin)."""
    number_words: NumberWords = NumberWords()
    contractions: str = NOTHING
    """A pattern of word parts with an apostrophe that are tokens of their own: the 's of Ann's."""
    unspaced: str = UNSPACED
    """The characters, for a character class, that are written without spaces: each is a token."""
    pi: float = math.pi
    """The value of π in its school books."""
    labels: PageLabels = PageLabels()
    request: str = (
        "Write one equation that solves the math word problem. Use the numbers of the problem, constants "
        'such as 100 or π where they are needed, + - * / ^ and brackets. Reply with JSON: {"equation": "..."}'
    )
    """What a language model is asked to do with a problem: to reply {"equation": "..."}."""
    model_request: str = (
        "You translate math word problems into equations. Each number of a problem is marked with its name: "
        "N0, N1, and so on. Write one expression that gives the answer of the question, with these names, "
        "small constants such as 1, 2, 100 or pi, + - * / ^ and brackets. Do not compute it. "
        'Reply with JSON alone: {"equation": "N0 + N1"}'
    )
    """What a language model that annotates is asked: it sees each number with its name."""
    model_answer: str = "The answer is {answer}."
    instructions: str = ""
    """HTML for annotators: a heading and paragraphs. Label Studio removes styles and the dots of lists."""
