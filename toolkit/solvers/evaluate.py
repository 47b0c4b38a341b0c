"""How good a solver is: answers, equations, where it fails, and whether it needs the question at all."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from toolkit.data.gold import gold_verdicts
from toolkit.equations import Expr, Op, Verdict, count_operators, klass, klasses, matches
from toolkit.equations.tree import OPERATORS, postorder
from toolkit.solvers.solver import Solution, Solver

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
    equations: Share | None  # the class is the gold one, where gold is known; less than answers by luck
    without_question: Share  # the answers with the last sentence left out: what an artefact would give
    by_steps: Mapping[int, Share]  # answers by the operators of the gold equation
    by_lang: Mapping[str, Share]
    confusion: Mapping[str, Mapping[str, int]]  # the operators of the gold equation → those of the solver's


def evaluate_solver(solver: Solver, problems: pl.DataFrame, seed: int = 0) -> Evaluation:
    """Solve problems by their texts, and compare with their answers and gold equations."""
    rng = np.random.default_rng(seed)
    solutions = solver.solve(problems)
    right = _right_answers(solutions, problems)
    verdicts = gold_verdicts(problems, solver.tokens.constants)
    same, known, steps = _compare_classes(solutions, verdicts)
    bare = problems.with_columns(
        text=pl.Series([without_question(text) for text in problems["text"]], dtype=pl.String)
    )
    langs = np.array(problems["lang"].to_list())
    return Evaluation(
        answers=interval(right, rng),
        equations=interval(same[known], rng) if known.any() else None,
        without_question=interval(_right_answers(solver.solve(bare), problems), rng),
        by_steps={int(k): interval(right[steps == k], rng) for k in sorted(set(steps[steps >= 0].tolist()))},
        confusion=_confusion(solutions, verdicts),
        by_lang={str(lang): interval(right[langs == lang], rng) for lang in sorted(set(langs.tolist()))},
    )


def accuracies(solver: Solver, problems: pl.DataFrame) -> dict[str, float | None]:
    """The two figures in brief: answers, and equations where gold is known."""
    solutions = solver.solve(problems)
    same, known, _ = _compare_classes(solutions, gold_verdicts(problems, solver.tokens.constants))
    return {
        "answer_accuracy": float(_right_answers(solutions, problems).mean()),
        "class_accuracy": float(same[known].mean()) if known.any() else None,
    }


def _right_answers(solutions: Sequence[Sequence[Solution]], problems: pl.DataFrame) -> npt.NDArray[np.bool_]:
    return np.array(
        [
            bool(found) and found[0].value is not None and matches(found[0].value, answer)
            for found, answer in zip(solutions, problems["answer"], strict=True)
        ]
    )


def _compare_classes(
    solutions: Sequence[Sequence[Solution]], verdicts: Sequence[Verdict | None]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Whether the class is the gold one, whether gold is known, and gold's operators (-1: unknown)."""
    same, known, steps = [], [], []
    for found, verdict in zip(solutions, verdicts, strict=True):
        templates = verdict.templates if verdict is not None and verdict.ok else ()
        known.append(bool(templates))
        steps.append(count_operators(templates[0]) if templates else -1)
        same.append(bool(found) and klass(found[0].template) in klasses(templates))
    return np.array(same), np.array(known), np.array(steps)


def _confusion(
    solutions: Sequence[Sequence[Solution]], verdicts: Sequence[Verdict | None]
) -> dict[str, dict[str, int]]:
    """How often equations with some operators were taken for ones with others; rare sets are "other"."""
    pairs = [
        (_operators(verdict.templates[0]), _operators(found[0].template) if found else "none")
        for found, verdict in zip(solutions, verdicts, strict=True)
        if verdict is not None and verdict.ok
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
    """The text without its last sentence, where there is more than one and a number remains."""
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    shorter = " ".join(sentences[:-1])
    return shorter if len(sentences) > 1 and re.search(r"\d", shorter) else text
