"""Annotations that a command reads from a file, and what it says about them."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from toolkit.cli.output import note
from toolkit.data import PROBLEMS, ProblemSet
from toolkit.data.read import read_chosen

if TYPE_CHECKING:
    from toolkit.equations import Expr


def annotated(file: Path | None, problems: ProblemSet, *, more_constants: bool = True) -> "dict[str, Expr]":
    """What annotators agree on, problem → template; nothing without a file."""
    if file is None:
        return {}
    from annotation.read import read_annotations

    found = read_annotations(file, problems, more_constants=more_constants)
    for sentence in found.sentences():
        note(f"{file}: {sentence}" if not sentence.startswith(str(file)) else sentence)
    return found.templates


def annotated_problems(file: Path | None, data: str, *, skip_bad: bool = False) -> ProblemSet:
    """The problems of a large set that a file of annotations is about; none without a file."""
    if file is None:
        return ProblemSet(PROBLEMS.to_frame())
    from annotation.read import annotated_ids

    return read_chosen(data, annotated_ids(file), skip_bad=skip_bad)


def with_annotations(problems: pl.DataFrame, file: Path | None) -> tuple[pl.DataFrame, int]:
    """A problems table with the equations of annotators, and how many there are."""
    if file is None:
        return problems, 0
    from annotation.read import equation_of

    given = ProblemSet(problems)
    agreed = {name: equation_of(template, given, name) for name, template in annotated(file, given).items()}
    equation = pl.col("id").replace_strict(agreed, default=pl.col("equation"), return_dtype=pl.String)
    return problems.with_columns(equation=equation) if agreed else problems, len(agreed)
