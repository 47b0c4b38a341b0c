"""Plain search as a method: every equation of few operators that gives the answer, the shortest first.

The floor for anything that learns: it knows the answer and reads nothing of the text but its numbers.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import Field

from toolkit.config import Section
from toolkit.data import ProblemSet
from toolkit.equations import count_operators, search
from toolkit.methods.base import STEP_COST, GenerateConfig, Generated, Scored, Untrained, nothing

if TYPE_CHECKING:
    import torch

PART = 1_000  # problems that are searched at a time


class SearchConfig(Section):
    """Exhaustive search."""

    operators: int = Field(3, ge=1, le=3, description="of an equation, at most")
    reuse: int = Field(0, ge=0, le=2, description="how often a number may be used again")


class Search(Untrained):
    name = "search"
    section = "plain_search"  # `search` is a key of sweeps
    Config = SearchConfig
    config: SearchConfig

    def candidates(
        self,
        problems: ProblemSet,
        settings: GenerateConfig,
        *,
        device: "torch.device | None" = None,
        on_batch: Callable[[int], object] = nothing,
    ) -> list[Generated]:
        generated = []
        for part in problems.parts(PART):
            found = search(
                part.numbers, part.answers, self.config.operators, self.constants, self.config.reuse
            )
            for problem_id, candidates in zip(part.ids, found, strict=True):
                scored = tuple(
                    Scored(
                        candidate.template,
                        candidate.klass,
                        -STEP_COST * count_operators(candidate.template),
                        self.name,
                    )
                    for candidate in candidates
                )
                generated.append(Generated(problem_id, scored))
            on_batch(len(part))
        return generated
