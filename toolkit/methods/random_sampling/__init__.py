"""Random Equation Sampling (paper, section 5.4) as a method: the floor that a policy has to beat."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import Field

from toolkit.config import Section
from toolkit.data import ProblemSet
from toolkit.equations import Expr, count_operators, klass
from toolkit.methods.base import STEP_COST, GenerateConfig, Generated, Scored, Untrained, nothing

if TYPE_CHECKING:
    import torch


class RandomSamplingConfig(Section):
    """k parallel paths of d steps."""

    paths: int = Field(5, ge=1, le=10_000, description="paths per problem: the paper's k")
    length: int = Field(40, ge=1, le=1_000, description="steps of a path, at most: the paper's d")


class RandomSampling(Untrained):
    name = "random_sampling"
    section = "random_sampling"
    Config = RandomSamplingConfig
    config: RandomSamplingConfig

    def candidates(
        self,
        problems: ProblemSet,
        settings: GenerateConfig,
        *,
        device: "torch.device | None" = None,
        on_batch: Callable[[int], object] = nothing,
    ) -> list[Generated]:
        """One candidate for each class that was sampled: its shortest template."""
        from toolkit.methods.random_sampling.paths import sample_templates

        found = sample_templates(
            problems.with_constants(self.constants),
            paths=self.config.paths,
            length=self.config.length,
            seed=self.origin.seed,
        )
        generated = []
        for problem_id, templates in zip(problems.ids, found, strict=True):
            classes: dict[int, Expr] = {}
            for template in sorted(templates, key=count_operators):
                classes.setdefault(klass(template), template)
            scored = [
                Scored(template, of_class, -STEP_COST * count_operators(template), self.name)
                for of_class, template in classes.items()
            ]
            generated.append(Generated(problem_id, tuple(scored)))
        on_batch(len(problems))
        return generated
