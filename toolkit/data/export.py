"""Equations for other programs: each problem with its known or its likeliest equation."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from toolkit.data.candidates import Candidates
from toolkit.data.problems import ProblemSet
from toolkit.data.schema import PROBLEMS
from toolkit.equations import Const, Expr, over_values, parse_template, show
from toolkit.errors import WarmkitError
from toolkit.storage.folder import new_folder

EQUATIONS = pl.Schema(
    [*PROBLEMS.items(), ("template", pl.String), ("posterior", pl.Float64), ("origin", pl.String)]
)

TRAIN = "train"  # the split of problems that name none

_SPLIT = re.compile(r"\w+(\.\w+)*")  # as `datasets` has it

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


def by_split(equations: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The rows of each split, for a file each; the training problems first. Without a split, they are that.

    The names become names of files, and have to be what Hugging Face's `datasets` takes.
    """
    equations = equations.with_columns(pl.col("split").fill_null(TRAIN))
    names = sorted(equations["split"].unique(), key=lambda name: (name != TRAIN, name))
    for name in names:
        if not _SPLIT.fullmatch(name) or name.lower() == "all":
            raise WarmkitError(
                f"The split {name[:40]!r} can't be the name of a file and of a split of Hugging Face: it may "
                "have letters, digits and _ only, and not be called all. Rename it."
            )
    if len({name.lower() for name in names}) < len(names):
        raise WarmkitError(f"Of the splits {', '.join(names)[:200]} two differ only in case. Rename one.")
    return {name: equations.filter(pl.col("split") == name) for name in names}


def write_mwptoolkit(equations: pl.DataFrame, problems: ProblemSet, folder: Path) -> dict[str, int]:
    """Write a folder that MWPToolkit reads as a single-equation data set. Returns the problems per split.

    Problems without a split, or with one that MWPToolkit does not know, are training problems. Numbers are
    digits both in the segmented text and in the equation, so that MWPToolkit's own masking finds them.
    """
    parts: dict[str, list[dict[str, object]]] = {name: [] for name in MWPTOOLKIT_FILES}
    for row in equations.iter_rows(named=True):
        masked = problems.masked[problems.row[row["id"]]]
        values = iter(masked.operands)
        words = [
            show(Const(next(values).value)) if number else token
            for token, number in zip(masked.tokens, masked.is_number, strict=True)
        ]
        part = row["split"] if row["split"] in parts else TRAIN
        parts[part].append(
            {
                "id": row["id"],
                "original_text": row["text"],
                "segmented_text": " ".join(words),
                "equation": f"x={row['equation'].replace(' ', '')}".replace("π", "3.14"),
                "ans": row["answer"],
            }
        )
    with new_folder(folder) as built:
        for name, rows in parts.items():
            content = json.dumps(rows, ensure_ascii=False, indent=1)
            (built / MWPTOOLKIT_FILES[name]).write_text(content, encoding="utf-8")
    return {name: len(rows) for name, rows in parts.items()}
