"""`fit` of a method of step one, and of a solver, on the workers of a Ray cluster."""

import shutil
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from toolkit.cluster.session import Session
from toolkit.cluster.train import Files, Worker, read_files, run_on_workers, write_files
from toolkit.equations import show
from toolkit.methods import Epoch, FitInput, FitOptions, StepOne
from toolkit.methods.base import no_problems
from toolkit.methods.prepared import PreparedInput
from toolkit.solvers import OnProgress, Solver, SolverInput, SolverProgress
from toolkit.solvers.base import PreparedLessons, fit_any

if TYPE_CHECKING:
    import torch

MODEL_STATE = ("model.json", "training.safetensors", "memory-*.safetensors")
SOLVER_STATE = ("training/*.json", "training/*/*.safetensors")


def fit_on_workers(
    session: Session,
    method: type[StepOne],
    data: FitInput | PreparedInput,
    folder: Path,
    options: FitOptions,
    *,
    label: str,
    storage: str | None = None,
) -> StepOne:
    """`StepOne.fit`, on the workers of the session: the same folder at the end."""
    if not data.size:
        raise no_problems()
    resume = options.resume and (folder / "model.json").exists()
    begin, start = (folder, None) if resume else (None, options.start)
    run_on_workers(
        session,
        _MethodJob(method, data, read_files(start, MODEL_STATE)),
        folder,
        read_files(begin, MODEL_STATE),
        lambda figures: options.on_epoch(Epoch(**figures)),
        label=label,
        storage=storage,
    )
    return method.load(folder)


def fit_solver_on_workers(
    session: Session,
    solver: type[Solver],
    data: SolverInput | PreparedLessons,
    *,
    device: "torch.device",
    folder: Path | None,
    resume: bool,
    on_progress: OnProgress,
    label: str,
    storage: str | None = None,
) -> Solver:
    """`Solver.fit` of a distributed solver, with each of its networks trained by all workers."""

    def on_workers(folder: Path) -> None:
        run_on_workers(
            session,
            _SolverJob(solver, replace(data, start=None)),  # the state has the weights to start from
            folder,
            read_files(folder, SOLVER_STATE),
            lambda figures: on_progress(SolverProgress(**figures)),
            label=label,
            storage=storage,
        )

    return fit_any(
        solver,
        data,
        device=device,
        folder=folder,
        resume=resume,
        on_progress=on_progress,
        elsewhere=on_workers,
    )


@dataclass(frozen=True)
class _MethodJob:
    method: type[StepOne]
    data: FitInput | PreparedInput
    start: Files  # of the folder of the model to start from
    state = MODEL_STATE
    by_rank = True

    def digest(self) -> str:
        digest = _digest(self.method.name, self.data)
        return digest + sha256(b"".join(self.start[name] for name in sorted(self.start))).hexdigest()

    def run(self, worker: Worker) -> None:
        with TemporaryDirectory() as start:
            write_files(Path(start), self.start)
            options = FitOptions(
                resume=(worker.begin / "model.json").exists(),
                state=worker.begin,
                start=Path(start) if self.start else None,
                workers=worker.group,
                device=worker.device,
                on_epoch=lambda epoch: worker.report(epoch.epoch, asdict(epoch)),
            )
            if isinstance(self.data, PreparedInput):
                self.method.fit_prepared(self.data, worker.folder, options)
            else:
                self.method.fit(self.data, worker.folder, options)


@dataclass(frozen=True)
class _SolverJob:
    solver: type[Solver]
    data: SolverInput | PreparedLessons
    state = SOLVER_STATE
    by_rank = False

    def digest(self) -> str:
        return _digest(self.solver.name, self.data)

    def run(self, worker: Worker) -> None:
        shutil.copytree(worker.begin, worker.folder, dirs_exist_ok=True)
        told = 0

        def report(now: SolverProgress) -> None:
            nonlocal told
            if now.epochs > told:  # not within an epoch
                told = now.epochs
                worker.report(now.epochs, asdict(now))

        fit_any(
            self.solver,
            self.data,
            device=worker.device,
            folder=worker.folder,
            resume=True,
            on_progress=report,
            workers=worker.group,
        )


def _digest(name: str, data: FitInput | PreparedInput | SolverInput | PreparedLessons) -> str:
    """Of what is trained, and of everything that it is trained on."""
    constants = "".join(show(constant) for constant in data.constants)
    return f"{name} {data.seed} {data.config.model_dump_json()} {data.digest()} {constants}"
