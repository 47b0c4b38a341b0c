"""Small problem sets with answers and without equations."""

import polars as pl

from toolkit.data import PROBLEMS, ProblemSet


def problem_set(*rows: tuple[str, float]) -> ProblemSet:
    """English texts with their answers."""
    table = [(str(i), text, answer, None, "en", None) for i, (text, answer) in enumerate(rows)]
    return ProblemSet(pl.DataFrame(table, schema=PROBLEMS, orient="row"))


def easy(count: int) -> ProblemSet:
    """Sums and differences, told apart by one word."""
    rows = []
    for i in range(count):
        a, b = 20 + 3 * i, 5 + i
        rows.append((f"Ann had {a} pears and found {b} more", a + b))
        rows.append((f"Ann had {a} pears and lost {b} of them", a - b))
    return problem_set(*rows)
