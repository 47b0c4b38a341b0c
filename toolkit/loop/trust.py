"""The facts of candidates that tell how far the likeliest class of a problem can be trusted."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from toolkit.active.trust import log_odds, trusted
from toolkit.data import Candidates, ProblemSet
from toolkit.equations import Expr, parse_template
from toolkit.equations.tree import Const, Pi, Ref, postorder

Floats = npt.NDArray[np.float64]

FARTHEST = 20.0  # log-probability between the two best classes; more says no more


def facts_of(candidates: Candidates, problems: ProblemSet) -> dict[str, Floats]:
    """For each problem with candidates: log-odds of the top class, its log-probability, how far the second
    class is behind, the log of the number of classes, and of the top template the operators, numbers of the
    text that it does not use, numbers that it uses again, and constants.

    Probabilities are those of the method, at no other temperature: what is learnt is none of them.
    """
    found = {}
    for problem_id, scores in candidates.scores.items():
        row = problems.row.get(problem_id)
        if row is None:
            continue
        ranked = sorted(scores.values(), reverse=True)
        share = np.exp(ranked[0] - np.logaddexp.reduce(ranked))
        behind = min(ranked[0] - ranked[1], FARTHEST) if len(ranked) > 1 else FARTHEST
        found[problem_id] = np.array(
            [
                *log_odds(np.array([share])),
                ranked[0],
                behind,
                np.log(len(ranked)),
                *_form(
                    _top_template(candidates, problem_id), len(problems.numbers[problems.row[problem_id]])
                ),
            ]
        )
    return found


def with_trust(posteriors: Floats, classes: Iterable[int], confidence: Floats) -> Floats:
    """The posteriors of problems, one after the other, with the confidence that was learnt for each.

    `classes` is how many posteriors each of them has.
    """
    changed, start = posteriors.copy(), 0
    for count, sure in zip(classes, confidence.tolist(), strict=True):
        changed[start : start + count] = trusted(posteriors[start : start + count], sure)
        start += count
    return changed


def _top_template(candidates: Candidates, problem_id: str) -> Expr:
    return parse_template(candidates.by_problem[problem_id]["template"][0])


def _form(template: Expr, numbers: int) -> tuple[int, int, int, int]:
    """Operators, numbers of the text that are not used, numbers that are used again, and constants."""
    leaves = list(postorder(template))
    references = [leaf.index for leaf in leaves if isinstance(leaf, Ref)]
    constants = sum(isinstance(leaf, Const | Pi) for leaf in leaves)
    used = len(set(references))
    operators = len(references) + constants - 1
    return operators, numbers - used, len(references) - used, constants
