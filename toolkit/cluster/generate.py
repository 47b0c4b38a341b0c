"""Generation and exhaustive search on the workers of a Ray cluster.

Problems go out in parts, a few at a time, and come back in order, so memory does not grow with the number of
problems.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from toolkit.cluster.session import Session
from toolkit.cluster.tasks import map_on_workers
from toolkit.data import ProblemSet
from toolkit.methods import GenerateConfig, Generated, StepOne


@dataclass(frozen=True)
class _Generate:
    model: StepOne
    settings: GenerateConfig
    gpu: bool

    def __call__(self, problems: ProblemSet) -> list[Generated]:
        import torch

        return self.model.candidates(
            problems, self.settings, device=torch.device("cuda" if self.gpu else "cpu")
        )


def generate_on_workers(
    session: Session, model: StepOne, parts: Iterable[ProblemSet], settings: GenerateConfig
) -> Iterator[list[Generated]]:
    """What the model finds for each part, in order."""
    find = _Generate(model, settings, session.spec.gpu)
    return map_on_workers(session, find, parts, label="warmkit generate", what="Generation")
