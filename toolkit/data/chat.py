"""Problems and their equations as conversations, in the JSON Lines that tools for fine-tuning read.

{"messages": [{"role": "system", "content": "Write one equation …"},
              {"role": "user", "content": "Tom had 12 apples and ate 5. …"},
              {"role": "assistant", "content": "{\"equation\": \"12 - 5\"}"}]}
"""

import json
from fractions import Fraction
from pathlib import Path

import polars as pl

from toolkit.data.export import by_split
from toolkit.data.languages import language
from toolkit.data.problems import ProblemSet
from toolkit.equations import Const, Expr, Op, over_values, parse_template, show, verify
from toolkit.equations.readings import replaced
from toolkit.equations.tree import decimal_places
from toolkit.errors import WarmkitError
from toolkit.storage.folder import new_folder


def write_chat(equations: pl.DataFrame, problems: ProblemSet, folder: Path) -> dict[str, int]:
    """Write a folder with a file for each split. Returns the conversations per split.

    An equation that does not verify, read again as it stands there, is left out. A split without any
    conversation has no file.
    """
    parts = {name: _conversations(part, problems) for name, part in by_split(equations).items()}
    if not any(parts.values()):
        raise WarmkitError("None of the equations gives the answer of its problem.")
    with new_folder(folder) as built:
        for name, lines in parts.items():
            if lines:
                (built / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return {name: len(lines) for name, lines in parts.items() if lines}


def _conversations(part: pl.DataFrame, problems: ProblemSet) -> list[str]:
    """The lines of a file."""
    lines = []
    for row in part.iter_rows(named=True):
        numbers = problems.numbers[problems.row[row["id"]]]
        equation = show(_spelled(over_values(parse_template(row["template"]), numbers)))
        if verify(equation, numbers, row["answer"], problems.constants).ok:
            messages = [
                {"role": "system", "content": language(row["lang"]).request},
                {"role": "user", "content": row["text"]},
                {"role": "assistant", "content": json.dumps({"equation": equation}, ensure_ascii=False)},
            ]
            lines.append(json.dumps({"messages": messages}, ensure_ascii=False) + "\n")
    return lines


def _spelled(equation: Expr) -> Expr:
    """The equation with a third as 1 / 3, which anybody reads, not as the mixed number 0(1/3)."""

    def spelled(_: int, literal: Const) -> Expr:
        value = literal.value
        if decimal_places(value) is not None:
            return literal
        return Op("/", Const(Fraction(value.numerator)), Const(Fraction(value.denominator)))

    return replaced(equation, spelled)
