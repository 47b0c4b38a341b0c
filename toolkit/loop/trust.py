"""The facts of candidates that tell how far the likeliest class of a problem can be trusted."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import polars as pl

from toolkit.active.trust import Trust, trusted
from toolkit.data import Candidates, ProblemSet
from toolkit.equations import Expr, parse_template
from toolkit.equations.tree import Const, Pi, Ref, postorder

Floats = npt.NDArray[np.float64]

FACTS = (
    "log-odds of the top class among those found; 0 if it is the only one",
    "whether it is the only one",
    "log of the number of classes",
    "log-probability of the top class for each of its operators",
    "operators",
    "numbers of the text that it does not use",
    "numbers that it uses again",
    "constants",
    "digits of the answer: a long one is seldom reached by accident",
)
FARTHEST = 6.0  # log-odds; more says no more
FINEST = 1_000  # denominator of an answer

# What to believe before anybody is asked: `python bench/trust.py` learns it from the bundled problems.
PRIOR = Trust(
    means=(0.944, 0.766, 0.210, -3.072, 1.539, 0.423, 0.250, 0.081, 5.155),
    scales=(1.939, 0.424, 0.412, 1.096, 0.711, 0.706, 0.589, 0.282, 2.953),
    weights=(0.195, 0.310, -0.381, 0.359, -0.600, -0.987, -0.017, -0.150, 0.275, 2.864),
)


def facts_of(candidates: Candidates, problems: ProblemSet) -> dict[str, Floats]:
    """FACTS of each problem that has candidates, in their order.

    Probabilities are those of the method, at no other temperature: what is learnt is none of them.
    """
    score, best = pl.col("log_prob"), pl.col("log_prob").max()
    found = candidates.table.group_by("problem_id", maintain_order=True).agg(
        pl.col("template").first(),
        pl.len().alias("classes"),
        best.alias("best"),
        ((score - best).exp().sum() - 1).alias("others"),  # odds against the top class
    )
    return {
        problem_id: np.array(
            [
                0.0 if classes == 1 else _within(-math.log(max(others, 1e-12))),
                classes == 1,
                math.log(classes),
                *_form(parse_template(template), best, len(problems.numbers[row])),
                _digits(problems.answers[row]),
            ]
        )
        for problem_id, template, classes, best, others in found.iter_rows()
        for row in (problems.row[problem_id],)
    }


def prior_confidence(candidates: Candidates, problems: ProblemSet) -> Floats:
    """What is believed, before anybody is asked, of the top class of each problem that has candidates [P]."""
    facts = list(facts_of(candidates, problems).values())
    return PRIOR.confidence(np.array(facts).reshape(-1, len(FACTS)))


def with_confidence(table: pl.DataFrame, confidence: Floats) -> pl.DataFrame:
    """The candidates table with this confidence in the top class of each of its problems [P]."""
    problem = table["problem_id"].rle_id().cast(pl.Int64).to_numpy()
    return table.with_columns(
        posterior=pl.Series(trusted(table["posterior"].to_numpy(), problem, confidence))
    )


def _form(template: Expr, score: float, numbers: int) -> tuple[float, int, int, int, int]:
    """Log-probability for each operator, operators, numbers of the text that are not used, numbers that are
    used again, and constants."""
    leaves = list(postorder(template))
    references = [leaf.index for leaf in leaves if isinstance(leaf, Ref)]
    constants = sum(isinstance(leaf, Const | Pi) for leaf in leaves)
    used = len(set(references))
    operators = len(references) + constants - 1
    return score / max(operators, 1), operators, numbers - used, len(references) - used, constants


def _within(odds: float) -> float:
    return max(-FARTHEST, min(odds, FARTHEST))


def _digits(answer: float) -> float:
    """Of numerator and denominator, as a natural logarithm."""
    exact = Fraction(answer).limit_denominator(FINEST)
    return math.log1p(abs(exact.numerator)) + math.log(exact.denominator)
