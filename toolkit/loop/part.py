"""What is found for the problems of a part: their candidates, and a row for each problem.

That row is all that confidence, strategies, stopping rules and reports need to know of a problem that nobody
is asked about.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from toolkit.active.confidence import posterior
from toolkit.active.trust import Trust
from toolkit.data import Candidates, ProblemSet
from toolkit.equations import klass
from toolkit.loop.generation import candidates_of
from toolkit.loop.trust import facts_of, with_confidence
from toolkit.methods import GenerateConfig, Known, StepOne

TOPS = pl.Schema(
    {
        "problem_id": pl.String(),
        "numbers": pl.Int32(),  # of the text
        "words": pl.Int32(),  # of the text
        "classes": pl.Int32(),  # that were found: 0 if the problem is unsolved
        "klass": pl.Int64(),  # the likeliest
        "posterior": pl.Float64(),  # of it
        "share": pl.Float64(),  # of it, at temperature 1: what the method alone says
        "right": pl.Boolean(),  # whether its equation is of the gold class; null without a gold equation
        "facts": pl.List(pl.Float64),  # toolkit.loop.trust
    }
)


@dataclass(frozen=True)
class FoundPart:
    """What was found for the problems of a part."""

    candidates: pl.DataFrame
    tops: pl.DataFrame


def found_part(problems: ProblemSet, known: Known, candidates: Candidates) -> FoundPart:
    """The candidates of a part with their row of `TOPS` for each problem.

    The equation of a problem is the one in D_s, or otherwise its likeliest candidate.
    """
    facts = facts_of(candidates, problems)
    rows = []
    for problem_id, text, numbers, gold in zip(
        problems.ids, problems.table["text"], problems.numbers, problems.gold_classes, strict=True
    ):
        top, scores = candidates.top.get(problem_id), candidates.scores.get(problem_id, {})
        found = None if top is None else top.klass
        meant = klass(known[problem_id]) if problem_id in known else found
        rows.append(
            (
                problem_id,
                len(numbers),
                len(text.split()),
                len(scores),
                found,
                None if top is None else top.posterior,
                None if top is None else posterior(scores)[top.klass],
                meant in gold if gold else None,
                facts[problem_id].tolist() if problem_id in facts else None,
            )
        )
    columns = {name: [row[i] for row in rows] for i, name in enumerate(TOPS)}
    return FoundPart(candidates.table, pl.DataFrame(columns, schema=TOPS))


def trusted_part(part: FoundPart, trust: Trust) -> FoundPart:
    """A part with the confidence that was learnt, in the order that it has."""
    solved = part.tops.filter(pl.col("classes") > 0)
    if not len(solved):
        return part
    confidence = trust.confidence(np.array(solved["facts"].to_list()))
    top = pl.Series("posterior", [None] * len(part.tops), dtype=pl.Float64)
    top = top.scatter((part.tops["classes"] > 0).arg_true(), confidence)
    return FoundPart(with_confidence(part.candidates, confidence), part.tops.with_columns(posterior=top))


@dataclass(frozen=True)
class FindPart:
    """How a part is searched; sent to whoever does it."""

    model: StepOne
    settings: GenerateConfig
    device: str
    temperature: float
    known: Known  # D_s

    def __call__(self, problems: ProblemSet) -> FoundPart:
        import torch

        generated = self.model.candidates(problems, self.settings, device=torch.device(self.device))
        return found_part(problems, self.known, candidates_of(generated, problems, self.temperature))
