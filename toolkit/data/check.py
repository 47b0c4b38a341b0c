"""The summary of a problem set: counts, gold equations that hold, answers that search reaches."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from toolkit.data.problems import ProblemSet
from toolkit.data.schema import BadRow
from toolkit.data.skipped import MOST_LISTED
from toolkit.equations import (
    Candidate,
    Op,
    count_operators,
    klasses,
    parse,
    search,
)
from toolkit.equations.search import depth_for
from toolkit.equations.tree import postorder

Key = TypeVar("Key", int, str)

PART = 1_000  # problems that are read, and searched, at a time


@dataclass(slots=True)
class Summary:
    """Counts of problems, if not noted otherwise. The counts of the search are None without a search."""

    problems: int = 0
    with_equation: int = 0
    equation_ok: int = 0  # the gold equation evaluates to the answer
    bound: int = 0  # every number of the gold equation is in the text, or a constant
    reached: int | None = None  # search found a candidate
    gold_in_candidates: int | None = None  # a candidate is equivalent to the gold equation
    candidates: int | None = None  # candidates of all problems together
    shallow: int = 0  # searched with fewer operators than k, because they have too many numbers
    langs: dict[str, int] = field(default_factory=dict)
    splits: dict[str, int] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)  # numbers in the text → problems
    steps: dict[int, int] = field(default_factory=dict)  # operators in the gold template → problems
    operators: dict[str, int] = field(default_factory=dict)  # + - * / ^ → problems that use it
    formats: dict[str, None] = field(default_factory=dict)  # of the files
    left_out: int = 0  # problems whose equation can't be used
    not_holding: int = 0  # gold equations that do not hold
    # Of many, the first: reasons why equations are left out, ids and reasons of gold equations that do not
    # hold, ids of problems whose answer search does not reach.
    first_left_out: list[BadRow] = field(default_factory=list)
    doubtful: list[tuple[str, str]] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)


def summarise(
    parts: Iterable[ProblemSet],
    k: int | None = 3,
    reuse: int = 0,
    advance: Callable[[int], object] = lambda count: None,
) -> Summary:
    """The summary of a problem set in parts, with a search of up to k operators (None: no search).

    `advance` is called with the number of problems done since the last call.
    """
    summary = Summary()
    if k is not None:
        summary.reached = summary.gold_in_candidates = summary.candidates = 0
    for part in parts:
        constants = part.constants
        summary.problems += len(part)
        summary.formats |= {part.format: None}
        summary.left_out += len(part.left_out)
        summary.first_left_out += part.left_out[: MOST_LISTED - len(summary.first_left_out)]
        for counts, column in ((summary.langs, "lang"), (summary.splits, "split")):
            for name, count in part.table[column].drop_nulls().value_counts().iter_rows():
                counts[name] = counts.get(name, 0) + count
        _count_gold(summary, part)
        if k is not None:
            found = search(part.numbers, part.answers, k, constants, reuse)
            _count_candidates(summary, part, found)
            summary.shallow += sum(depth_for(len(values), k, constants, reuse) < k for values in part.numbers)
        advance(len(part))
    for name in ("langs", "splits", "numbers", "steps", "operators"):
        setattr(summary, name, dict(sorted(getattr(summary, name).items())))
    return summary


def _count_gold(summary: Summary, problems: ProblemSet) -> None:
    for problem_id, equation, values, verdict in zip(
        problems.ids, problems.table["equation"], problems.numbers, problems.gold_verdicts, strict=True
    ):
        _add(summary.numbers, len(values))
        if verdict is None:
            continue
        summary.with_equation += 1
        summary.equation_ok += verdict.gives_answer
        summary.bound += bool(verdict.templates)
        if not verdict.ok:
            summary.not_holding += 1
            if len(summary.doubtful) < MOST_LISTED:
                summary.doubtful.append((problem_id, verdict.reason))
        tree = verdict.templates[0] if verdict.templates else parse(equation)
        _add(summary.steps, count_operators(tree))
        for op in {node.op for node in postorder(tree) if isinstance(node, Op)}:
            _add(summary.operators, op)


def _count_candidates(summary: Summary, problems: ProblemSet, found: Sequence[Sequence[Candidate]]) -> None:
    assert summary.reached is not None
    assert summary.gold_in_candidates is not None
    assert summary.candidates is not None
    for problem_id, verdict, candidates in zip(problems.ids, problems.gold_verdicts, found, strict=True):
        summary.candidates += len(candidates)
        if not candidates:
            if len(summary.unreached) < MOST_LISTED:
                summary.unreached.append(problem_id)
            continue
        summary.reached += 1
        if verdict is not None and verdict.templates:
            classes = {candidate.klass for candidate in candidates}
            summary.gold_in_candidates += not classes.isdisjoint(klasses(verdict.templates))


def _add(counts: dict[Key, int], key: Key) -> None:
    counts[key] = counts.get(key, 0) + 1
