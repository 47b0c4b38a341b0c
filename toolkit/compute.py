"""Where work runs: in this process, or on the workers of a Ray cluster. Nothing else knows about Ray."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from toolkit.cluster.session import ClusterSpec, Session, session
from toolkit.data import ProblemSet
from toolkit.methods import FitInput, FitOptions, GenerateConfig, Generated, StepOne
from toolkit.methods.prepared import PreparedInput
from toolkit.solvers import OnProgress, Solver, SolverInput
from toolkit.solvers.base import PreparedLessons, fit_any

if TYPE_CHECKING:
    import torch


Given = TypeVar("Given")
Done = TypeVar("Done")


class Compute(Protocol):
    @property
    def device(self) -> "torch.device": ...

    @property
    def worker_device(self) -> str:
        """The kind of device that a worker has."""
        ...

    def fit(
        self,
        method: type[StepOne],
        data: FitInput | PreparedInput,
        folder: Path,
        options: FitOptions,
        *,
        label: str,
    ) -> StepOne:
        """`StepOne.fit`, or `fit_prepared`; device and workers of the options are not used.

        The label is its name for people.
        """
        ...

    def map(
        self,
        function: Callable[[Given], Done],
        items: Iterable[Given],
        *,
        label: str,
        what: str,
        writes_to: Path | None = None,
    ) -> Iterator[Done]:
        """The function of each item, in order; items are taken one after the other.

        `label` and `what` name the work for people. If the function writes to a folder, all workers must see
        it.
        """
        ...

    def fit_solver(
        self,
        solver: type[Solver],
        data: SolverInput | PreparedLessons,
        *,
        folder: Path | None,
        resume: bool,
        on_progress: OnProgress,
        label: str,
    ) -> Solver:
        """`Solver.fit`, or `fit_prepared`. The label is its name for people."""
        ...

    def candidates(
        self, model: StepOne, parts: Iterable[ProblemSet], settings: GenerateConfig
    ) -> Iterator[list[Generated]]:
        """`StepOne.candidates` for each part, in order; parts are taken one after the other."""
        ...


@dataclass(frozen=True)
class LocalCompute:
    """This process. No Ray is started, or even imported."""

    device: "torch.device"

    @property
    def worker_device(self) -> str:
        return self.device.type

    def fit(
        self,
        method: type[StepOne],
        data: FitInput | PreparedInput,
        folder: Path,
        options: FitOptions,
        *,
        label: str,
    ) -> StepOne:
        options = replace(options, device=self.device)
        if isinstance(data, PreparedInput):
            return method.fit_prepared(data, folder, options)
        return method.fit(data, folder, options)

    def map(
        self,
        function: Callable[[Given], Done],
        items: Iterable[Given],
        *,
        label: str,
        what: str,
        writes_to: Path | None = None,
    ) -> Iterator[Done]:
        return map(function, items)

    def fit_solver(
        self,
        solver: type[Solver],
        data: SolverInput | PreparedLessons,
        *,
        folder: Path | None,
        resume: bool,
        on_progress: OnProgress,
        label: str,
    ) -> Solver:
        return fit_any(
            solver, data, device=self.device, folder=folder, resume=resume, on_progress=on_progress
        )

    def candidates(
        self, model: StepOne, parts: Iterable[ProblemSet], settings: GenerateConfig
    ) -> Iterator[list[Generated]]:
        for part in parts:
            yield model.candidates(part, settings)


@dataclass(frozen=True)
class ClusterCompute:
    """The workers of a Ray session. Checkpoints go to `storage`, which all of its nodes must see."""

    device: "torch.device"
    session: Session
    storage: str | None = None

    @property
    def worker_device(self) -> str:
        return "cuda" if self.session.spec.gpu else "cpu"

    def fit(
        self,
        method: type[StepOne],
        data: FitInput | PreparedInput,
        folder: Path,
        options: FitOptions,
        *,
        label: str,
    ) -> StepOne:
        """A method that can't run on several workers is fitted in this process."""
        if not method.distributed:
            return LocalCompute(self.device).fit(method, data, folder, options, label=label)
        from toolkit.cluster.fit import fit_on_workers

        return fit_on_workers(self.session, method, data, folder, options, label=label, storage=self.storage)

    def map(
        self,
        function: Callable[[Given], Done],
        items: Iterable[Given],
        *,
        label: str,
        what: str,
        writes_to: Path | None = None,
    ) -> Iterator[Done]:
        from toolkit.cluster.tasks import map_on_workers

        storage = None if writes_to is None else str(writes_to)
        return map_on_workers(
            self.session, function, items, label=f"warmkit {label}", what=what, storage=storage
        )

    def fit_solver(
        self,
        solver: type[Solver],
        data: SolverInput | PreparedLessons,
        *,
        folder: Path | None,
        resume: bool,
        on_progress: OnProgress,
        label: str,
    ) -> Solver:
        """A solver that can't run on several workers is fitted in this process."""
        if not solver.distributed:
            return LocalCompute(self.device).fit_solver(
                solver, data, folder=folder, resume=resume, on_progress=on_progress, label=label
            )
        from toolkit.cluster.fit import fit_solver_on_workers

        return fit_solver_on_workers(
            self.session,
            solver,
            data,
            device=self.device,
            folder=folder,
            resume=resume,
            on_progress=on_progress,
            label=label,
            storage=self.storage,
        )

    def candidates(
        self, model: StepOne, parts: Iterable[ProblemSet], settings: GenerateConfig
    ) -> Iterator[list[Generated]]:
        from toolkit.cluster.generate import generate_on_workers

        yield from generate_on_workers(self.session, model, parts, settings)


@contextmanager
def computing(
    spec: ClusterSpec | None, device: "torch.device", storage: str | None, notify: Callable[[str], object]
) -> Iterator[Compute]:
    """Where a command's work runs, for as long as it lasts; `notify` gets what the user should know of it."""
    if spec is None:
        yield LocalCompute(device)
        return
    with session(spec) as started:
        if started.notice:
            notify(started.notice)
        yield ClusterCompute(device, started, storage)
