"""Step one of a round, and a solver, on problems in parts, which need not fit in one process."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from toolkit.compute import Compute, Done, Given
from toolkit.config import Section
from toolkit.data.prepared import PreparedSet, known_share
from toolkit.data.preparing import Preparation, PreparedPart, Unprepared, prepare
from toolkit.data.skipped import SkippedRows
from toolkit.equations import Constant, show
from toolkit.loop.config import LoopConfig
from toolkit.loop.round import Round, fit_step_one
from toolkit.loop.state import RunState
from toolkit.methods import Epoch, Known, StepOne
from toolkit.methods.base import nothing
from toolkit.methods.prepared import PreparedInput
from toolkit.solvers import Solver
from toolkit.solvers.base import PreparedLessons


@dataclass(frozen=True)
class RoundInParts:
    """What step one works on: `Round`, as far as it goes without all problems in memory."""

    problems: PreparedSet
    data: PreparedInput
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
        """`Round.fit`."""
        return fit_step_one(
            self.data,
            self.config,
            self.compute,
            folder,
            label=label,
            start=start,
            on_batch=on_batch,
            on_epoch=on_epoch,
        )


def prepared_round(
    data: Path | str,
    root: Path,
    gold: float,
    config: LoopConfig,
    compute: Compute,
    skipped: SkippedRows | None = None,
    advance: Callable[[int], object] = nothing,
    annotated: Known | None = None,
    on_wait: Callable[[], object] = lambda: None,
) -> RoundInParts:
    """Prepare the parts in the folder `root`, or find them there.

    D_s is a share of the gold equations, and what annotators agreed on. `on_wait` is called if another
    process prepares the parts now.
    """
    from toolkit.methods.warm.config import WarmConfig
    from toolkit.methods.warm.prepare import WarmPreparation

    settings = config.method_settings
    assert isinstance(settings, WarmConfig)  # of all methods that learn in parts
    root = root.absolute()

    def run(preparation: Preparation, parts: Iterable[Unprepared]) -> Iterator[PreparedPart]:
        return compute.map(preparation, parts, label="prepare", what="Preparation", writes_to=root)

    prepared = prepare(
        data,
        WarmPreparation(root, config.v_const, settings),
        skipped=skipped,
        run=run,
        advance=advance,
        on_wait=on_wait,
    )
    templates = {problem_id: show(template) for problem_id, template in (annotated or {}).items()}
    known = known_share(prepared, gold, config.seed, templates)
    return RoundInParts(prepared, PreparedInput(prepared, known, settings, config.seed), config, compute)


def prepared_lessons(
    data: Path | str,
    root: Path,
    solver: type[Solver],
    settings: Section,
    compute: Compute,
    constants: tuple[Constant, ...],
    seed: int = 0,
    *,
    candidates: Path | None = None,
    annotated: Known | None = None,
    use_gold: bool = True,
    skipped: SkippedRows | None = None,
    advance: Callable[[int], object] = nothing,
    on_wait: Callable[[], object] = lambda: None,
) -> tuple[PreparedLessons, int]:
    """Prepare what a solver learns from parts in the folder `root`, or find it there. Also counts problems.

    `advance` is called with rows that are prepared, then with problems whose equations are.
    """
    from toolkit.solvers.neural.config import SolverConfig
    from toolkit.solvers.neural.prepare import prepare_lessons
    from toolkit.solvers.neural.solver import NeuralSolver

    # of all solvers that learn in parts
    assert issubclass(solver, NeuralSolver) and isinstance(settings, SolverConfig)
    root = root.absolute()

    def run(preparation: Callable[[Given], Done], parts: Iterable[Given]) -> Iterator[Done]:
        return compute.map(preparation, parts, label="prepare", what="Preparation", writes_to=root)

    problems = prepare(
        data, Preparation(root, constants), skipped=skipped, run=run, advance=advance, on_wait=on_wait
    )
    lessons = prepare_lessons(
        solver,
        problems,
        candidates,
        use_gold,
        settings,
        seed,
        annotated,
        root=root,
        run=run,
        advance=advance,
        on_wait=on_wait,
    )
    return lessons, len(problems)


def step_one_of(
    state: RunState, round_: int, compute: Compute, advance: Callable[[int], object] = nothing
) -> Round | RoundInParts:
    """Step one of a round of a run, on problems in memory; on prepared parts, if there are many."""
    if state.stored.is_held or not state.config.step_one.learns_in_parts:
        return state.round(round_, compute)
    constants = tuple(show(constant) for constant in state.constants_in(round_))
    return prepared_round(
        state.stored.path,
        state.run.folder / "prepared",
        0.0,
        state.config.model_copy(update={"constants": constants}),
        compute,
        advance=advance,
        annotated=state.known(round_),
    )
