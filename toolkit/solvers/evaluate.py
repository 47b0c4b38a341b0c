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
from toolkit.statistics import Share, share_of

_SENTENCE_END = re.compile(r"(?<=[?!।|。？！．])\s*|(?<=\.)\s+")
MOST_SETS = 8  # sets of operators that the confusion table names


@dataclass(frozen=True)
class Evaluation:
    answers: Share  # the value is the answer
    equations: Share | None  # the class is the gold one, if gold is known; luck does not count
    without_question: Share  # the answers with the last sentence left out: what an artefact would give
    by_steps: Mapping[int, Share]  # answers by the operators of the gold equation
    by_lang: Mapping[str, Share]
    confusion: Mapping[str, Mapping[str, int]]  # the operators of the gold equation → those of the solver's


def evaluate_solver(solver: Solver, problems: ProblemSet | pl.DataFrame) -> Evaluation:
    """Solve problems by their texts, and compare with their answers and gold equations."""
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
        answers=share_of(right),
        equations=share_of(same[known]) if known.any() else None,
        without_question=share_of(_right_answers(solver.solve(bare), bare)),
        by_steps={int(k): share_of(right[steps == k]) for k in sorted(set(steps[steps >= 0].tolist()))},
        confusion=_confusion(solutions, problems),
        by_lang={str(lang): share_of(right[langs == lang]) for lang in sorted(set(langs.tolist()))},
    )


@dataclass(frozen=True)
class Outcomes:
    """Which test problems a solver gets right: by their answers, and by their classes if gold is known."""

    answers: npt.NDArray[np.bool_]  # of each problem
    classes: npt.NDArray[np.bool_]  # of each problem with a gold equation

    @property
    def accuracies(self) -> dict[str, float | None]:
        return {
            "answer_accuracy": float(self.answers.mean()),
            "class_accuracy": float(self.classes.mean()) if len(self.classes) else None,
        }


def outcomes(solver: Solver, problems: ProblemSet) -> Outcomes:
    """Solve test problems by their texts."""
    problems = problems.with_constants(solver.constants)
    solutions = solver.solve(problems)
    same, known, _ = _compare_classes(solutions, problems)
    return Outcomes(_right_answers(solutions, problems), same[known])


def accuracies(solver: Solver, problems: ProblemSet) -> dict[str, float | None]:
    """The two figures in brief: answers, and equations if gold is known."""
    return outcomes(solver, problems).accuracies


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


def without_question(text: str) -> str:
    """The text without its last sentence, if there is more than one and a number remains."""
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    shorter = " ".join(sentences[:-1])
    return shorter if len(sentences) > 1 and re.search(r"\d", shorter) else text
