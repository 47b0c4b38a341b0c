"""From what a method found to candidates with posteriors, in memory."""

from collections.abc import Mapping, Sequence

import polars as pl

from toolkit.active.confidence import class_scores, fit_temperature, posterior
from toolkit.data import Candidates, ProblemSet, as_problem_set
from toolkit.data.schema import CANDIDATES
from toolkit.equations import count_operators, over_values, show
from toolkit.loop.trust import prior_confidence, with_confidence
from toolkit.methods import GenerateConfig, Generated, StepOne


def generate(
    model: StepOne, problems: ProblemSet | pl.DataFrame, *, width: int = 20, search: int | None = None
) -> pl.DataFrame:
    """The candidates table of a problem set; the temperature is fitted on the gold equations it has.

    `width` is the number of beams. The equations that exhaustive search finds with `search` operators are
    scored as well; None: with as many as in training.
    """
    given = as_problem_set(problems).with_constants(model.constants)
    generated = model.candidates(given, GenerateConfig(width=width, search=search))
    return trusted_candidates(generated, given, calibrate(generated, given.gold_classes)).table


def candidates_of(generated: Sequence[Generated], problems: ProblemSet, temperature: float) -> Candidates:
    """Candidates of each problem, the likeliest class first, each class with its likeliest template."""
    rows = []
    for found, numbers in zip(generated, problems.numbers, strict=True):
        best = {scored.klass: scored for scored in reversed(found.scored)}
        scores = class_scores_of(found)
        for klass, share in sorted(posterior(scores, temperature).items(), key=lambda item: -item[1]):
            template = best[klass].template
            rows.append(
                (
                    found.problem_id,
                    show(over_values(template, numbers)),
                    show(template),
                    klass,
                    scores[klass],
                    share,
                    count_operators(template),
                    best[klass].origin,
                )
            )
    return Candidates(pl.DataFrame(rows, schema=CANDIDATES, orient="row"))


def trusted_candidates(
    generated: Sequence[Generated], problems: ProblemSet, temperature: float
) -> Candidates:
    """`candidates_of` with the confidence that is believed before anybody is asked.

    What posteriors lack of 1 is the probability that no class is right. A solver that learns from them
    learns less from what is doubtful. Gold equations teach no confidence here: a model that has learnt them
    is right about them more often than about others.
    """
    candidates = candidates_of(generated, problems, temperature)
    return Candidates(with_confidence(candidates.table, prior_confidence(candidates, problems)))


def calibrate(generated: Sequence[Generated], right: Sequence[frozenset[int]]) -> float:
    """The temperature, fitted on the problems whose class is known: right[i] has those of problem i."""
    scores = [class_scores_of(found) for found in generated]
    known = [
        known_class(problem_scores, classes) for problem_scores, classes in zip(scores, right, strict=True)
    ]
    return fit_temperature(scores, known)


def known_class(scores: Mapping[int, float], right: frozenset[int]) -> int | None:
    """The right class among those that were found."""
    return next((klass for klass in scores if klass in right), None)


def with_posterior(table: pl.DataFrame, temperature: float) -> pl.DataFrame:
    """The candidates table at another temperature: `confidence.posterior`, for all problems at once."""
    score = pl.col("log_prob") / temperature
    share = (score - score.max().over("problem_id")).exp()
    return table.with_columns(posterior=share / share.sum().over("problem_id"))


def class_scores_of(found: Generated) -> dict[int, float]:
    return class_scores(
        [scored.klass for scored in found.scored], [scored.log_prob for scored in found.scored]
    )
