"""Texts in, answers out: what `warmkit solve` does with each text it is given."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.data.languages import detect_language
from toolkit.data.numbers import find_numbers
from toolkit.data.problems import texts_as_problems
from toolkit.data.schema import MAX_NUMBERS, MAX_TEXT
from toolkit.solvers.base import Solution, Solver

UNLIKE = 0.4  # a text with a larger share of words never seen in training is called unlike


@dataclass(frozen=True)
class Answered:
    text: str
    numbers: tuple[str, ...]  # as they are written in the text
    solutions: tuple[Solution, ...]  # the likeliest first
    trouble: str | None  # why there are no solutions
    unlike_training: bool


def answer(solver: Solver, texts: Sequence[str], top: int = 1, lang: str | None = None) -> list[Answered]:
    """Each text with its likeliest equations, or with the reason why it can't be solved."""
    langs = [lang or detect_language(text) for text in texts]
    operands = [
        find_numbers(text, code) if len(text) <= MAX_TEXT else ()
        for text, code in zip(texts, langs, strict=True)
    ]
    troubles = [_trouble(text, len(found)) for text, found in zip(texts, operands, strict=True)]
    solvable = [i for i, trouble in enumerate(troubles) if trouble is None]
    found: dict[int, list[Solution]] = {}
    unknown: dict[int, float] = {}
    if solvable:
        problems = texts_as_problems([texts[i] for i in solvable], [langs[i] for i in solvable])
        found = dict(zip(solvable, solver.solve(problems, top), strict=True))
        unknown = dict(zip(solvable, solver.unknown_shares(problems), strict=True))
    return [
        Answered(
            text,
            tuple(text[operand.start : operand.end] for operand in operands[i]),
            tuple(found.get(i, ())),
            troubles[i],
            unknown.get(i, 0.0) > UNLIKE,
        )
        for i, text in enumerate(texts)
    ]


def _trouble(text: str, numbers: int) -> str | None:
    if len(text) > MAX_TEXT:
        return f"The text has {len(text):,} characters; at most {MAX_TEXT:,} are handled."
    if not numbers:
        return "The text has no number to calculate with."
    return (
        f"The text has {numbers} numbers; at most {MAX_NUMBERS} are handled."
        if numbers > MAX_NUMBERS
        else None
    )
