"""The summary of a problem set: counts, gold equations that hold, answers that search reaches."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from toolkit.data.problems import ProblemSet
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

PART = 1_000  # problems per call of the search


@dataclass(slots=True)
class Summary:
    """Counts of problems, if not noted otherwise. The counts of the search are None without a search."""

    problems: int
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
    doubtful: list[tuple[str, str]] = field(
        default_factory=list
    )  # id and reason of each gold equation that does not hold
    unreached: list[str] = field(default_factory=list)  # ids


def summarise(
    problems: ProblemSet,
    k: int | None = 3,
    reuse: int = 0,
    advance: Callable[[int], object] = lambda count: None,
) -> Summary:
    """The summary of a problem set, with a search of up to k operators (None: no search).

    `advance` is called with the number of problems done since the last call.
    """
    constants = problems.constants
    summary = Summary(
        problems=len(problems),
        langs=_counts(problems.langs),
        splits=_counts([split for split in problems.table["split"] if split is not None]),
    )
    if k is not None:
        summary.reached = summary.gold_in_candidates = summary.candidates = 0
    for part in problems.parts(PART):
        _count_gold(summary, part)
        if k is not None:
            found = search(part.numbers, part.answers, k, constants, reuse)
            _count_candidates(summary, part, found)
            summary.shallow += sum(depth_for(len(values), k, constants, reuse) < k for values in part.numbers)
        advance(len(part))
    for counts in ("numbers", "steps", "operators"):
        setattr(summary, counts, dict(sorted(getattr(summary, counts).items())))
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
            summary.unreached.append(problem_id)
            continue
        summary.reached += 1
        if verdict is not None and verdict.templates:
            classes = {candidate.klass for candidate in candidates}
            summary.gold_in_candidates += not classes.isdisjoint(klasses(verdict.templates))


def _counts(values: Sequence[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _add(counts: dict[Key, int], key: Key) -> None:
    counts[key] = counts.get(key, 0) + 1
