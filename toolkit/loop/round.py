"""One round without annotators: step one, candidates, a solver, and their figures.

The loop, a trial of a sweep and `warmkit train --then-solver` all run this round, with different settings.
`known` is D_s. The gold equations of all other problems are hidden from training, and used to measure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolkit.compute import Compute
from toolkit.data import Candidates, ProblemSet
from toolkit.data.stored import PART
from toolkit.equations import klass
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.generation import calibrate, trusted_candidates
from toolkit.methods import Epoch, FitInput, FitOptions, Generated, Known, StepOne
from toolkit.methods.base import nothing
from toolkit.methods.prepared import PreparedInput
from toolkit.solvers import OnProgress, Solver, SolverInput
from toolkit.solvers.base import PreparedLessons
from toolkit.solvers.evaluate import outcomes
from toolkit.statistics import Difference, paired

ACCURACIES = ("answer_accuracy", "class_accuracy")


@dataclass(frozen=True)
class Round:
    """What a round works on."""

    problems: ProblemSet
    known: Known  # D_s
    config: LoopConfig
    compute: Compute

    def fit(
        self,
        folder: Path,
        *,
        label: str,
        start: Path | None = None,
        on_batch: Callable[[int], object] = nothing,
        on_epoch: Callable[[Epoch, int], object] = nothing,
    ) -> StepOne:
        """Step one, in a folder: it goes on with what the folder holds.

        `start` is a model to begin with, that of the previous round for instance; a method that can't use it
        starts from scratch. `on_epoch` also gets the number of epochs.
        """
        data = FitInput(self.problems, self.known, self.config.method_settings, self.config.seed)
        return fit_step_one(
            data,
            self.config,
            self.compute,
            folder,
            label=label,
            start=start,
            on_batch=on_batch,
            on_epoch=on_epoch,
        )

    def generate(self, model: StepOne, on_part: Callable[[int], object] = nothing) -> list[Generated]:
        """What the model finds for all problems."""
        generated: list[Generated] = []
        for found in self.compute.candidates(model, self.problems.parts(PART), self.config.generate):
            generated += found
            on_part(len(found))
        return generated

    def candidates(self, generated: list[Generated]) -> Candidates:
        """Candidates with posteriors, at a temperature that is fitted on D_s."""
        right = [
            (classes or frozenset({klass(self.known[problem_id])}))
            if problem_id in self.known
            else frozenset[int]()
            for problem_id, classes in zip(self.problems.ids, self.problems.gold_classes, strict=True)
        ]
        return trusted_candidates(generated, self.problems, calibrate(generated, right))

    def fit_solver(
        self,
        candidates: Candidates | None,
        folder: Path | None = None,
        *,
        label: str,
        start: Path | None = None,
        on_progress: OnProgress = nothing,
    ) -> Solver | None:
        """Step two, on D_s and the candidates of the other problems; None if it can learn from no equation.

        In a folder it goes on with what the folder holds. `start` is the solver of the previous round; a
        kind that can't use it starts from scratch. The solver is not saved yet.
        """
        if not self.known and not candidates:
            return None
        data = SolverInput(
            self.problems, self.known, candidates, self.config.solver_settings, self.config.seed
        )
        return fit_step_two(
            data, self.config, self.compute, folder, label=label, start=start, on_progress=on_progress
        )

    def everything_known(self) -> "Round":
        """The same with all gold equations in D_s."""
        return replace(self, known=self.problems.gold_templates)

    def gold_equivalent(self, candidates: Candidates) -> float | None:
        """The share of problems whose equation is of the gold class, None if there are no gold equations.

        The equation of a problem is the one in D_s, or otherwise its likeliest candidate.
        """
        right = [
            klass(self.known[problem_id]) in classes
            if problem_id in self.known
            else problem_id in candidates.top and candidates.top[problem_id].klass in classes
            for problem_id, classes in zip(self.problems.ids, self.problems.gold_classes, strict=True)
            if classes
        ]
        return sum(right) / len(right) if right else None


def fit_step_one(
    data: FitInput | PreparedInput,
    config: LoopConfig,
    compute: Compute,
    folder: Path,
    *,
    label: str,
    start: Path | None,
    on_batch: Callable[[int], object],
    on_epoch: Callable[[Epoch, int], object],
) -> StepOne:
    """`Round.fit`, for problems in memory or in parts."""
    method, settings = config.step_one, data.config
    if start is not None:
        warm = method.warm_started(settings, config.later_epochs)
        start, settings = (None, settings) if warm is None else (start, warm)
    epochs = method.epochs(settings)
    options = FitOptions(
        resume=(folder / "model.json").exists(),
        start=start,
        on_batch=on_batch,
        on_epoch=lambda epoch: on_epoch(epoch, epochs),
    )
    return compute.fit(method, replace(data, config=settings), folder, options, label=label)


def fit_step_two(
    data: SolverInput | PreparedLessons,
    config: LoopConfig,
    compute: Compute,
    folder: Path | None,
    *,
    label: str,
    start: Path | None,
    on_progress: OnProgress,
) -> Solver | None:
    """`Round.fit_solver`, for problems in memory or in parts."""
    solver, settings = config.solver_class, data.config
    if start is not None:
        warm = solver.warm_started(settings)
        start, settings = (None, settings) if warm is None else (start, warm)
    try:
        return compute.fit_solver(
            solver,
            replace(data, config=settings, start=start),
            folder=folder,
            resume=True,
            on_progress=on_progress,
            label=label,
        )
    except WarmkitError as error:
        if error.code == "no-equations":  # those that were found are too long
            return None
        raise


def measure(solver: Solver | None, test: ProblemSet) -> dict[str, Any]:
    """The accuracies of a solver on the test problems: 0 if there is no solver.

    `right` has a 1 for each problem whose answer is right, otherwise a 0: two solvers are compared problem by
    problem.
    """
    if solver is None:
        return {**dict.fromkeys(ACCURACIES, 0.0), "right": "0" * len(test)}
    found = outcomes(solver, test)
    return {**found.accuracies, "right": "".join("01"[right] for right in found.answers.astype(int))}


def difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> Difference:
    """How many more answers are right in `second`; both are what `measure` found on the same problems."""
    return paired(*([float(right) for right in measured["right"]] for measured in (first, second)))
