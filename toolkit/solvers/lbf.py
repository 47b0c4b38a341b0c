"""LBF, learning by fixing (Hong et al. 2021), as a solver: `toolkit.methods.lbf` without the answer.

It is step one and solver in one: it learns from answers, and from equations of D_s where there are some.
Candidates of another method are not used. Beams are ranked by the kind of their value as well, as those of
every solver here. The folder of the solver has the method's in it, model/, from which
`warmkit generate` finds equations for problems with answers.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field

from toolkit.data import ProblemSet
from toolkit.errors import WarmkitError
from toolkit.methods.base import Epoch, FitInput, FitOptions
from toolkit.methods.lbf import Lbf
from toolkit.methods.lbf.config import LbfConfig
from toolkit.solvers.base import (
    OnProgress,
    Solution,
    Solver,
    SolverDescription,
    SolverInput,
    SolverProgress,
    TrainElsewhere,
)
from toolkit.solvers.coherence import Coherence
from toolkit.solvers.neural.config import SolverConfig
from toolkit.solvers.plausibility import Plausibility
from toolkit.solvers.published import Gts
from toolkit.solvers.ranking import Ranker

if TYPE_CHECKING:
    import torch

    from toolkit.nn.workers import WorkerGroup

MODEL = "model"


class LbfDescription(SolverDescription):
    answers: dict[str, Annotated[float, Field(ge=0)]]


class LbfSolver(Solver):
    name = "lbf"
    section = "lbf"
    Config = LbfConfig
    Description = LbfDescription

    def __init__(self, model: Lbf, plausibility: Plausibility) -> None:
        super().__init__(model.config, model.constants)
        self.model, self.plausibility = model, plausibility
        settings = SolverConfig(beam=model.config.beam, max_tokens=model.config.max_tokens)
        model.network.eval()
        ranker = Ranker(plausibility, Coherence({}))
        self._reader = Gts([model.network], model.vocabulary, ranker, settings, model.constants)

    @classmethod
    def fit(
        cls,
        data: SolverInput,
        *,
        device: "torch.device | None" = None,
        folder: Path | None = None,
        resume: bool = False,
        on_progress: OnProgress = lambda progress: None,
        workers: "WorkerGroup | None" = None,
        elsewhere: TrainElsewhere | None = None,
    ) -> Self:
        inner = None if folder is None else folder / MODEL
        has_begun = inner is not None and (inner / "model.json").exists()
        if has_begun and not resume:
            raise WarmkitError(f"{folder}: there is an unfinished training here.", "training-exists")
        now = SolverProgress(0, len(data.problems) * Lbf.epochs(data.config), 0.0)

        def on_batch(problems: int) -> None:
            nonlocal now
            now = replace(now, done=min(now.done + problems, now.total))
            on_progress(now)

        def on_epoch(epoch: Epoch) -> None:
            nonlocal now
            done = epoch.epoch * len(data.problems)
            now = replace(now, done=done, loss=epoch.loss or 0.0, epochs=epoch.epoch)
            on_progress(now)

        options = FitOptions(resume=has_begun, device=device, on_batch=on_batch, on_epoch=on_epoch)
        problems = data.problems
        model = Lbf.fit(FitInput(problems, data.known, data.config, data.seed), inner, options)
        return cls(model, Plausibility.fit(problems.answers, problems.numbers))

    def solve(self, problems: ProblemSet, top: int = 1) -> list[list[Solution]]:
        return self._reader.solve(problems, top)

    def unknown_shares(self, problems: ProblemSet) -> list[float]:
        return self._reader.unknown_shares(problems)

    def save(self, folder: Path) -> None:
        self.model.save(folder / MODEL)
        self.describe(folder, answers=self.plausibility.counts)

    @classmethod
    def load(cls, folder: Path, device: "torch.device | None" = None) -> Self:
        written, _, _ = cls.described(folder)
        return cls(Lbf.load(folder / MODEL, device), Plausibility(written["answers"]))
