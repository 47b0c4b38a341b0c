"""Equations for other programs: each problem with its known or its likeliest equation."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import polars as pl

from toolkit.data.candidates import Candidates
from toolkit.data.problems import ProblemSet
from toolkit.data.schema import PROBLEMS
from toolkit.equations import Const, Expr, over_values, parse_template, show
from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing

EQUATIONS = pl.Schema(
    [*PROBLEMS.items(), ("template", pl.String), ("posterior", pl.Float64), ("origin", pl.String)]
)

MWPTOOLKIT_FILES = {"train": "trainset.json", "valid": "validset.json", "test": "testset.json"}


def with_equations(
    problems: ProblemSet,
    candidates: Candidates | None,
    known: Mapping[str, Expr],
    threshold: float = 0.0,
    annotated: Mapping[str, Expr] | None = None,
) -> pl.DataFrame:
    """One row for each problem that has an equation.

    That is the one that annotators agreed on, or its known equation (D_s), or otherwise its likeliest
    candidate, if the posterior of the candidate is at least the threshold.
    """
    best: dict[str, tuple[Expr, float, str]] = {}
    if candidates is not None:
        sure = candidates.likeliest.filter(pl.col("posterior") >= threshold)
        for problem_id, template, posterior, origin in sure.select(
            "problem_id", "template", "posterior", "origin"
        ).iter_rows():
            best[problem_id] = (parse_template(template), posterior, origin)
    for origin, equations in (("gold", known), ("annotator", annotated or {})):
        best |= {problem_id: (template, 1.0, origin) for problem_id, template in equations.items()}
    rows = []
    for problem, numbers in zip(problems.table.iter_rows(named=True), problems.numbers, strict=True):
        if problem["id"] in best:
            template, posterior, origin = best[problem["id"]]
            equation = show(over_values(template, numbers))
            rows.append((*(problem | {"equation": equation}).values(), show(template), posterior, origin))
    return pl.DataFrame(rows, schema=EQUATIONS, orient="row")


def write_mwptoolkit(equations: pl.DataFrame, problems: ProblemSet, folder: Path) -> dict[str, int]:
    """Write a folder that MWPToolkit reads as a single-equation data set. Returns the problems per file.

    Problems without a split, or with one that MWPToolkit does not know, are training problems. Numbers are
    digits both in the segmented text and in the equation, so that MWPToolkit's own masking finds them.
    """
    if any((folder / name).exists() for name in MWPTOOLKIT_FILES.values()):
        raise WarmkitError(f"{folder}: there is an exported data set already. Name another folder.")
    parts: dict[str, list[dict[str, object]]] = {name: [] for name in MWPTOOLKIT_FILES}
    for row in equations.iter_rows(named=True):
        masked = problems.masked[problems.row[row["id"]]]
        values = iter(masked.operands)
        words = [
            show(Const(next(values).value)) if number else token
            for token, number in zip(masked.tokens, masked.is_number, strict=True)
        ]
        part = row["split"] if row["split"] in parts else "train"
        parts[part].append(
            {
                "id": row["id"],
                "original_text": row["text"],
                "segmented_text": " ".join(words),
                "equation": f"x={row['equation'].replace(' ', '')}".replace("π", "3.14"),
                "ans": row["answer"],
            }
        )
    with ExitStack() as files:  # all three, or none
        for name, rows in parts.items():
            temporary = files.enter_context(replacing(folder / MWPTOOLKIT_FILES[name]))
            temporary.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
    return {name: len(rows) for name, rows in parts.items()}
