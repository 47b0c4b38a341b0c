"""What is asked of a candidates table again and again."""

from typing import Any

import polars as pl


def likeliest(candidates: pl.DataFrame) -> pl.DataFrame:
    """The likeliest row of each problem, the likeliest of all first; of equals the one that came first."""
    ranked = candidates.sort("posterior", descending=True, maintain_order=True)
    return ranked.unique("problem_id", keep="first", maintain_order=True)


def by_class(candidates: pl.DataFrame, column: str) -> dict[str, dict[Any, float]]:
    """For each problem that has candidates: class → its value in the column, in the order of the table."""
    found: dict[str, dict[Any, float]] = {}
    for name, its_class, value in candidates.select("problem_id", "klass", column).iter_rows():
        found.setdefault(name, {})[its_class] = value
    return found
