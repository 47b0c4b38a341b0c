"""A round on problems in parts, which need not fit in one process, and solvers on them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from toolkit.compute import Compute, Done, Given
from toolkit.config import Section
from toolkit.data import ProblemSet
from toolkit.data.prepared import KnownShare, PreparedSet, known_share
from toolkit.data.preparing import Preparation, PreparedPart, Unprepared, prepare
from toolkit.data.skipped import SkippedRows
from toolkit.equations import show
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.round import Round, fit_step_one, fit_step_two
from toolkit.loop.state import RunState
from toolkit.loop.streaming import Streamed, candidates_in_parts
from toolkit.methods import Epoch, Known, StepOne
from toolkit.methods.base import nothing
from toolkit.methods.prepared import PreparedInput
from toolkit.solvers import OnProgress, Solver
from toolkit.solvers.base import PreparedLessons


@dataclass(frozen=True)
class RoundInParts:
    """What a round works on: `Round`, as far as it goes without all problems in memory."""

    problems: PreparedSet
    known: KnownShare  # D_s
    config: LoopConfig
    compute: Compute
    root: Path  # the folder in which is prepared what solvers learn
    advance: Callable[[int], object] = nothing  # called with problems that are

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
        data = PreparedInput(self.problems, self.known, self.config.method_settings, self.config.seed)
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

    def generate(
        self,
        model: StepOne,
        parts: Iterable[ProblemSet],
        out: Path,
        on_part: Callable[[int], object] = nothing,
    ) -> Streamed:
        """Write what the model finds for the problems to a new folder; the temperature is fitted on D_s."""
        own = map(self.known.only, parts)
        return candidates_in_parts(self.compute, model, self.config.generate, own, out, on_part)

    def fit_solver(
        self,
        candidates: Path | None,
        folder: Path,
        *,
        label: str,
        start: Path | None = None,
        on_progress: OnProgress = nothing,
    ) -> Solver | None:
        """`Round.fit_solver`."""
        config = self.config
        try:
            data = prepared_lessons(
                self.problems,
                self.known,
                self.root,
                config.solver_class,
                config.solver_settings,
                self.compute,
                config.seed,
                candidates=candidates,
                advance=self.advance,
            )
        except WarmkitError as error:
            if error.code == "no-equations":
                return None
            raise
        return fit_step_two(
            data, config, self.compute, folder, label=label, start=start, on_progress=on_progress
        )

    def everything_known(self) -> "RoundInParts":
        """`Round.everything_known`."""
        return replace(self, known=known_share(self.problems, 1.0, self.config.seed))


def prepared_round(
    data: Path | str,
    root: Path,
    gold: float,
    config: LoopConfig,
    compute: Compute,
    skipped: SkippedRows | None = None,
    advance: Callable[[int], object] = nothing,
    annotated: Known | None = None,
    on_wait: Callable[[], object] = nothing,
) -> RoundInParts:
    """Prepare the parts in the folder `root`, or find them there.

    D_s is a share of the gold equations, and what annotators agreed on. `on_wait` is called if another
    process prepares the parts now.
    """
    root = root.absolute()
    preparation = Preparation(root, config.v_const)
    if config.step_one.learns_in_parts:
        from toolkit.methods.warm.config import WarmConfig
        from toolkit.methods.warm.prepare import WarmPreparation

        settings = config.method_settings
        assert isinstance(settings, WarmConfig)  # of all methods that learn in parts
        preparation = WarmPreparation(root, config.v_const, settings)
    prepared = prepared_problems(data, preparation, compute, skipped, advance, on_wait)
    known = known_share(prepared, gold, config.seed, annotated)
    return RoundInParts(prepared, known, config, compute, root)


def prepared_problems(
    data: Path | str,
    preparation: Preparation,
    compute: Compute,
    skipped: SkippedRows | None = None,
    advance: Callable[[int], object] = nothing,
    on_wait: Callable[[], object] = nothing,
) -> PreparedSet:
    """`prepare`, wherever the work runs."""

    def run(given: Preparation, parts: Iterable[Unprepared]) -> Iterator[PreparedPart]:
        return _mapped(compute, preparation.folder, given, parts)

    return prepare(data, preparation, skipped=skipped, run=run, advance=advance, on_wait=on_wait)


def prepared_lessons(
    problems: PreparedSet,
    known: KnownShare,
    root: Path,
    solver: type[Solver],
    settings: Section,
    compute: Compute,
    seed: int = 0,
    *,
    candidates: Path | None = None,
    advance: Callable[[int], object] = nothing,
    on_wait: Callable[[], object] = nothing,
) -> PreparedLessons:
    """`prepare_lessons` in the folder `root`, wherever the work runs."""
    from toolkit.solvers.neural.config import SolverConfig
    from toolkit.solvers.neural.prepare import GivenPart, LessonPreparation, MadePart, prepare_lessons
    from toolkit.solvers.neural.solver import NeuralSolver

    # of all solvers that learn in parts
    assert issubclass(solver, NeuralSolver) and isinstance(settings, SolverConfig)
    root = root.absolute()

    def run(given: LessonPreparation, parts: Iterable[GivenPart]) -> Iterator[MadePart]:
        return _mapped(compute, root, given, parts)

    return prepare_lessons(
        solver,
        problems,
        known,
        candidates,
        settings,
        seed,
        root=root,
        run=run,
        advance=advance,
        on_wait=on_wait,
    )


def _mapped(
    compute: Compute, root: Path, function: Callable[[Given], Done], items: Iterable[Given]
) -> Iterator[Done]:
    return compute.map(function, items, label="prepare", what="Preparation", writes_to=root)


# Of a run


def step_one_of(
    state: RunState, round_: int, compute: Compute, advance: Callable[[int], object] = nothing
) -> Round | RoundInParts:
    """Step one of a round of a run, on problems in memory; on prepared parts, if there are many."""
    if state.stored.is_held or not state.config.step_one.learns_in_parts:
        return state.round(round_, compute)
    return _in_parts(state, round_, compute, advance)


def step_two_of(
    state: RunState,
    round_: int,
    compute: Compute,
    advance: Callable[[int], object] = nothing,
    *,
    everything: bool = False,
) -> Callable[..., Solver | None]:
    """`Round.fit_solver` of a round of a run, with the candidates that it found.

    `everything`: with all gold equations, and without candidates.
    """
    limit = state.config.solver_limit
    is_limited = limit is not None and limit < len(state.stored)
    if state.stored.is_held or is_limited or not state.config.solver_class.learns_in_parts:
        held, candidates = state.lessons(round_, compute)
        if everything:
            return partial(held.everything_known().fit_solver, None)
        return partial(held.fit_solver, candidates)
    work = _in_parts(state, round_, compute, advance)
    if everything:
        return partial(work.everything_known().fit_solver, None)
    found = state.found(round_)
    has_any = bool((found.tops("classes")["classes"] > 0).any())
    return partial(work.fit_solver, found.folder if has_any else None)


def _in_parts(
    state: RunState, round_: int, compute: Compute, advance: Callable[[int], object]
) -> RoundInParts:
    """What solvers learn is prepared in the folder of the round: no other round learns the same."""
    constants = tuple(show(constant) for constant in state.constants_in(round_))
    work = prepared_round(
        state.stored.path,
        state.run.folder / "prepared",
        0.0,
        state.config.model_copy(update={"constants": constants}),
        compute,
        advance=advance,
        annotated=state.known(round_),
    )
    return replace(work, root=state.run.lessons_folder(round_), advance=advance)
