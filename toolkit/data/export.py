"""Equations for other programs: problems with the equation that is known or was found for each of them."""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from toolkit.data.candidates import likeliest
from toolkit.data.gold import gold_verdicts
from toolkit.data.schema import PROBLEMS, numbers_of
from toolkit.data.tokens import mask
from toolkit.data.write import replacing
from toolkit.equations import Const, Constant, over_values, parse, show
from toolkit.errors import WarmkitError

EQUATIONS = pl.Schema(
    [*PROBLEMS.items(), ("template", pl.String), ("posterior", pl.Float64), ("origin", pl.String)]
)

MWPTOOLKIT_FILES = {"train": "trainset.json", "valid": "validset.json", "test": "testset.json"}


def with_equations(
    problems: pl.DataFrame,
    candidates: pl.DataFrame | None,
    constants: Sequence[Constant],
    *,
    gold: bool,
    threshold: float = 0.0,
) -> pl.DataFrame:
    """One row for each problem that has an equation: its gold one (if these may be used and hold), or else
    its likeliest candidate, if its posterior is at least the threshold."""
    best: dict[str, tuple[str, float, str]] = {}
    if candidates is not None:
        sure = likeliest(candidates).filter(pl.col("posterior") >= threshold)
        for name, *row in sure.select("problem_id", "template", "posterior", "origin").iter_rows():
            best[name] = (row[0], row[1], row[2])
    verdicts = gold_verdicts(problems, constants) if gold else [None] * len(problems)
    rows = []
    for problem, numbers, verdict in zip(
        problems.iter_rows(named=True), numbers_of(problems), verdicts, strict=True
    ):
        if verdict is not None and verdict.ok:
            found = (show(verdict.templates[0]), 1.0, "gold")
        elif problem["id"] in best:
            found = best[problem["id"]]
        else:
            continue
        equation = show(over_values(parse(found[0]), numbers))
        rows.append((*(problem | {"equation": equation}).values(), *found))
    return pl.DataFrame(rows, schema=EQUATIONS, orient="row")


def write_mwptoolkit(equations: pl.DataFrame, folder: Path) -> dict[str, int]:
    """The folder that MWPToolkit reads as a single-equation data set; how many problems went to each file.

    Problems of no split, or of one that MWPToolkit does not know, are training problems. Numbers stand as
    digits in the segmented text and in the equation alike, so that its own masking finds them.
    """
    if any((folder / name).exists() for name in MWPTOOLKIT_FILES.values()):
        raise WarmkitError(f"{folder}: there is an exported data set already. Name another folder.")
    parts: dict[str, list[dict[str, object]]] = {name: [] for name in MWPTOOLKIT_FILES}
    for row in equations.iter_rows(named=True):
        masked = mask(row["text"], row["lang"])
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
    for name, rows in parts.items():
        with replacing(folder / MWPTOOLKIT_FILES[name]) as temporary:
            temporary.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")
    return {name: len(rows) for name, rows in parts.items()}
