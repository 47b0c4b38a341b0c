"""How good a solver is: answers, equations, where it fails, and whether it needs the question at all."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from toolkit.data import ProblemSet, as_problem_set
from toolkit.equations import Expr, Op, count_operators, klass, reaches
from toolkit.equations.tree import OPERATORS, postorder
from toolkit.solvers.base import Solution, Solver

_SENTENCE_END = re.compile(r"(?<=[?!।|。？！．])\s*|(?<=\.)\s+")
RESAMPLES = 2_000
MOST_SETS = 8  # sets of operators that the confusion table names


@dataclass(frozen=True)
class Share:
    """A share with its 95 % bootstrap interval."""

    share: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Evaluation:
    answers: Share  # the value is the answer
    equations: Share | None  # the class is the gold one, if gold is known; luck does not count
    without_question: Share  # the answers with the last sentence left out: what an artefact would give
    by_steps: Mapping[int, Share]  # answers by the operators of the gold equation
    by_lang: Mapping[str, Share]
    confusion: Mapping[str, Mapping[str, int]]  # the operators of the gold equation → those of the solver's


def evaluate_solver(solver: Solver, problems: ProblemSet | pl.DataFrame, seed: int = 0) -> Evaluation:
    """Solve problems by their texts, and compare with their answers and gold equations."""
    rng = np.random.default_rng(seed)
    problems = as_problem_set(problems, solver.constants)
    solutions = solver.solve(problems)
    right = _right_answers(solutions, problems)
    same, known, steps = _compare_classes(solutions, problems)
    without = problems.table.with_columns(
        text=pl.Series([without_question(text) for text in problems.table["text"]], dtype=pl.String)
    )
    bare = ProblemSet(without, problems.constants)
    langs = np.array(problems.langs)
    return Evaluation(
        answers=interval(right, rng),
        equations=interval(same[known], rng) if known.any() else None,
        without_question=interval(_right_answers(solver.solve(bare), bare), rng),
        by_steps={int(k): interval(right[steps == k], rng) for k in sorted(set(steps[steps >= 0].tolist()))},
        confusion=_confusion(solutions, problems),
        by_lang={str(lang): interval(right[langs == lang], rng) for lang in sorted(set(langs.tolist()))},
    )


def accuracies(solver: Solver, problems: ProblemSet) -> dict[str, float | None]:
    """The two figures in brief: answers, and equations if gold is known."""
    problems = problems.with_constants(solver.constants)
    solutions = solver.solve(problems)
    same, known, _ = _compare_classes(solutions, problems)
    return {
        "answer_accuracy": float(_right_answers(solutions, problems).mean()),
        "class_accuracy": float(same[known].mean()) if known.any() else None,
    }


def _right_answers(solutions: Sequence[Sequence[Solution]], problems: ProblemSet) -> npt.NDArray[np.bool_]:
    """Whether the first solution of each problem reaches its answer, with any reading of π."""
    return np.array(
        [
            bool(found) and reaches(found[0].template, numbers, answer)
            for found, numbers, answer in zip(solutions, problems.numbers, problems.answers, strict=True)
        ]
    )


def _compare_classes(
    solutions: Sequence[Sequence[Solution]], problems: ProblemSet
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Whether the class is the gold one, whether gold is known, and gold's operators (-1: unknown)."""
    same = [
        bool(found) and klass(found[0].template) in classes
        for found, classes in zip(solutions, problems.gold_classes, strict=True)
    ]
    steps = [-1 if template is None else count_operators(template) for template in problems.gold]
    return np.array(same), np.array(steps) >= 0, np.array(steps)


def _confusion(solutions: Sequence[Sequence[Solution]], problems: ProblemSet) -> dict[str, dict[str, int]]:
    """How often equations with some operators were taken for ones with others; rare sets are "other"."""
    pairs = [
        (_operators(gold), _operators(found[0].template) if found else "none")
        for found, gold in zip(solutions, problems.gold, strict=True)
        if gold is not None
    ]
    kept = [name for name, _ in Counter(gold for gold, _ in pairs).most_common(MOST_SETS)]
    table = {gold: dict.fromkeys([*kept, "other"], 0) for gold in [*kept, "other"]}
    for gold, found in pairs:
        table[gold if gold in kept else "other"][found if found in kept else "other"] += 1
    return table


def _operators(template: Expr) -> str:
    """The operators of a template in a fixed order: "+ − −"."""
    found = [node.op for node in postorder(template) if isinstance(node, Op)]
    return " ".join(sorted(found, key=OPERATORS.index)) or "none"


def interval(right: npt.NDArray[np.bool_] | Sequence[bool], rng: np.random.Generator) -> Share:
    """The mean with its percentile bootstrap interval (Efron 1979)."""
    values = np.asarray(right, dtype=float)
    if not len(values):
        return Share(0.0, 0.0, 0.0, 0)
    means = rng.binomial(len(values), values.mean(), RESAMPLES) / len(values)  # resampling of zeros and ones
    low, high = np.percentile(means, [2.5, 97.5])
    return Share(float(values.mean()), float(low), float(high), len(values))


def without_question(text: str) -> str:
    """The text without its last sentence, if there is more than one and a number remains."""
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    shorter = " ".join(sentences[:-1])
    return shorter if len(sentences) > 1 and re.search(r"\d", shorter) else text
