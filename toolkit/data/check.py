"""What is in a problem set: counts, gold equations that hold, answers that search reaches."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

import polars as pl

from toolkit.data.gold import gold_verdicts
from toolkit.data.schema import numbers_of
from toolkit.equations import (
    DEFAULT_CONSTANTS,
    Candidate,
    Constant,
    Op,
    Verdict,
    count_operators,
    klasses,
    parse,
    search,
)
from toolkit.equations.search import depth_for
from toolkit.equations.tree import postorder

Key = TypeVar("Key", int, str)

PART = 1_000  # problems that are checked at a time


@dataclass(slots=True)
class Summary:
    """Counts of problems, unless it says otherwise. Search counts are None where no search was made."""

    problems: int
    with_equation: int = 0
    equation_ok: int = 0  # the gold equation evaluates to the answer
    bound: int = 0  # every number of the gold equation is one of the text, or a constant
    reached: int | None = None  # search found a candidate
    gold_in_candidates: int | None = None  # among them one equivalent to the gold equation
    candidates: int | None = None  # of all problems together
    shallow: int = 0  # have so many numbers that they were searched with fewer operators than asked for
    langs: dict[str, int] = field(default_factory=dict)
    splits: dict[str, int] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)  # numbers in the text → problems
    steps: dict[int, int] = field(default_factory=dict)  # operators in the gold template → problems
    operators: dict[str, int] = field(default_factory=dict)  # + - * / ^ → problems that use it
    doubtful: list[tuple[str, str]] = field(default_factory=list)  # id and reason: gold that does not hold
    unreached: list[str] = field(default_factory=list)  # ids


def summarise(
    problems: pl.DataFrame,
    k: int | None = 3,
    reuse: int = 0,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
    advance: Callable[[int], object] = lambda count: None,
) -> Summary:
    """The summary of a problems table, by a search of up to k operators (None: no search).

    `advance` is told how many problems were done, from time to time.
    """
    summary = Summary(
        problems=len(problems),
        langs=_counts(problems["lang"].to_list()),
        splits=_counts([split for split in problems["split"] if split is not None]),
    )
    if k is not None:
        summary.reached = summary.gold_in_candidates = summary.candidates = 0
    for part in problems.iter_slices(PART):
        numbers = numbers_of(part)
        verdicts = gold_verdicts(part, constants)
        _count_gold(summary, part, numbers, verdicts)
        if k is not None:
            found = search(numbers, part["answer"].to_list(), k, constants, reuse)
            _count_candidates(summary, part, verdicts, found)
            summary.shallow += sum(depth_for(len(values), k, constants, reuse) < k for values in numbers)
        advance(len(part))
    for counts in ("numbers", "steps", "operators"):
        setattr(summary, counts, dict(sorted(getattr(summary, counts).items())))
    return summary


def _count_gold(
    summary: Summary,
    problems: pl.DataFrame,
    numbers: Sequence[Sequence[Fraction]],
    verdicts: Sequence[Verdict | None],
) -> None:
    for name, equation, values, verdict in zip(
        problems["id"], problems["equation"], numbers, verdicts, strict=True
    ):
        _add(summary.numbers, len(values))
        if verdict is None:
            continue
        summary.with_equation += 1
        summary.equation_ok += verdict.gives_answer
        summary.bound += bool(verdict.templates)
        if not verdict.ok:
            summary.doubtful.append((name, verdict.reason))
        tree = verdict.templates[0] if verdict.templates else parse(equation)
        _add(summary.steps, count_operators(tree))
        for op in {node.op for node in postorder(tree) if isinstance(node, Op)}:
            _add(summary.operators, op)


def _count_candidates(
    summary: Summary,
    problems: pl.DataFrame,
    verdicts: Sequence[Verdict | None],
    found: Sequence[Sequence[Candidate]],
) -> None:
    assert summary.reached is not None
    assert summary.gold_in_candidates is not None
    assert summary.candidates is not None
    for name, verdict, candidates in zip(problems["id"], verdicts, found, strict=True):
        summary.candidates += len(candidates)
        if not candidates:
            summary.unreached.append(name)
            continue
        summary.reached += 1
        if verdict is not None and verdict.templates:
            classes = {candidate.klass for candidate in candidates}
            summary.gold_in_candidates += not classes.isdisjoint(klasses(verdict.templates))


def _counts(values: Sequence[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _add(counts: dict[Key, int], key: Key) -> None:
    counts[key] = counts.get(key, 0) + 1
