"""The candidates table: what a model generated, one row a class, with its posterior."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from toolkit.active.confidence import class_scores, fit_temperature, posterior
from toolkit.data import numbers_of
from toolkit.data.candidates import likeliest
from toolkit.data.gold import gold_verdicts
from toolkit.data.schema import CANDIDATES
from toolkit.equations import Constant, count_operators, klasses, over_values, show
from toolkit.warm.checkpoint import Trained
from toolkit.warm.generate import Generated, generate


@dataclass(frozen=True)
class Found:
    """What a model found for a problem set."""

    table: pl.DataFrame  # candidates
    temperature: float
    generated: Sequence[Generated]  # one for each problem, in order

    @property
    def unsolved(self) -> list[Generated]:
        return [of_problem for of_problem in self.generated if not of_problem.scored]


def find_candidates(
    trained: Trained, problems: pl.DataFrame, known: Sequence[frozenset[int]], **settings: Any
) -> Found:
    """Generate for the problems, and fit the temperature on those whose right classes are known.

    `settings` are those of `generate`.
    """
    generated = generate(trained, problems, **settings)
    temperature = calibrate(generated, known)
    return Found(candidates_table(generated, problems, temperature), temperature, generated)


def candidates_table(
    generated: Sequence[Generated], problems: pl.DataFrame, temperature: float
) -> pl.DataFrame:
    """Candidates of each problem, the likeliest class first; a class is shown by its likeliest template."""
    rows = []
    for of_problem, numbers in zip(generated, numbers_of(problems), strict=True):
        best = {scored.klass: scored for scored in reversed(of_problem.scored)}
        scores = _scores(of_problem)
        for its_class, share in sorted(posterior(scores, temperature).items(), key=lambda item: -item[1]):
            assert isinstance(its_class, int)
            template = best[its_class].template
            rows.append(
                (
                    of_problem.problem_id,
                    show(over_values(template, numbers)),
                    show(template),
                    its_class,
                    scores[its_class],
                    share,
                    count_operators(template),
                    best[its_class].origin,
                )
            )
    return pl.DataFrame(rows, schema=CANDIDATES, orient="row")


def calibrate(generated: Sequence[Generated], gold: Sequence[frozenset[int]]) -> float:
    """The temperature fitted where the class is known; gold[i] holds the classes that are right for i."""
    scores = [_scores(of_problem) for of_problem in generated]
    known = [next((k for k in s if k in right), None) for s, right in zip(scores, gold, strict=True)]
    return fit_temperature(scores, known)


def gold_classes(problems: pl.DataFrame, constants: Sequence[Constant]) -> list[frozenset[int]]:
    """The classes that each gold equation may mean; empty where there is none that holds."""
    return [
        frozenset(klasses(verdict.templates)) if verdict is not None and verdict.ok else frozenset()
        for verdict in gold_verdicts(problems, constants)
    ]


def count_right(table: pl.DataFrame, problems: pl.DataFrame, gold: Sequence[frozenset[int]]) -> int:
    """Problems whose top class is the gold one."""
    top = dict(likeliest(table).select("problem_id", "klass").iter_rows())
    return sum(top.get(name) in right for name, right in zip(problems["id"], gold, strict=True))


def _scores(of_problem: Generated) -> dict[object, float]:
    return class_scores([s.klass for s in of_problem.scored], [s.log_prob for s in of_problem.scored])
