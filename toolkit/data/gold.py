"""Gold equations against their problems."""

from collections.abc import Sequence

import polars as pl

from toolkit.data.schema import numbers_of
from toolkit.equations import Constant, Verdict, verify


def gold_verdicts(problems: pl.DataFrame, constants: Sequence[Constant]) -> list[Verdict | None]:
    """What is to be said of each gold equation, None where there is none."""
    return [
        verify(equation, numbers, answer, constants) if equation is not None else None
        for equation, numbers, answer in zip(
            problems["equation"], numbers_of(problems), problems["answer"], strict=True
        )
    ]
