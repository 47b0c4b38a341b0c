"""Texts in, answers out: what `warmkit solve` does with each text it is given."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from toolkit.data.numbers import find_numbers
from toolkit.data.schema import MAX_NUMBERS, MAX_TEXT, PROBLEMS, detect_lang
from toolkit.solvers.solver import Solution, Solver

UNLIKE = 0.4  # share of words never seen in training from which a text is called unlike


@dataclass(frozen=True)
class Answered:
    text: str
    numbers: tuple[str, ...]  # as they are written in the text
    solutions: tuple[Solution, ...]  # the likeliest first
    trouble: str | None  # why there are none
    unlike_training: bool


def answer(solver: Solver, texts: Sequence[str], top: int = 1, lang: str | None = None) -> list[Answered]:
    """Each text with its likeliest equations, or with the reason why it can't be solved."""
    langs = [lang or detect_lang(text) for text in texts]
    operands = [
        find_numbers(text, code) if len(text) <= MAX_TEXT else ()
        for text, code in zip(texts, langs, strict=True)
    ]
    troubles = [_trouble(text, len(found)) for text, found in zip(texts, operands, strict=True)]
    solvable = [i for i, trouble in enumerate(troubles) if trouble is None]
    found: dict[int, list[Solution]] = {}
    if solvable:
        problems = as_problems([texts[i] for i in solvable], [langs[i] for i in solvable])
        found = dict(zip(solvable, solver.solve(problems, top), strict=True))
    return [
        Answered(
            text,
            tuple(text[operand.start : operand.end] for operand in operands[i]),
            tuple(found.get(i, ())),
            troubles[i],
            troubles[i] is None and solver.unknown_share(text, langs[i]) > UNLIKE,
        )
        for i, text in enumerate(texts)
    ]


def _trouble(text: str, numbers: int) -> str | None:
    if len(text) > MAX_TEXT:
        return f"The text has {len(text):,} characters; at most {MAX_TEXT:,} are handled."
    if not numbers:
        return "The text has no number to reckon with."
    return (
        f"The text has {numbers} numbers; at most {MAX_NUMBERS} are handled."
        if numbers > MAX_NUMBERS
        else None
    )


def as_problems(texts: Sequence[str], langs: Sequence[str]) -> pl.DataFrame:
    """Texts as a problems table whose answers are not known (and not looked at)."""
    rows = [
        (str(i), text, 0.0, None, lang, None) for i, (text, lang) in enumerate(zip(texts, langs, strict=True))
    ]
    return pl.DataFrame(rows, schema=PROBLEMS, orient="row")
