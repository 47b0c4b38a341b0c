"""Training on the workers of a Ray cluster: of a method of step one, or of the networks of a solver.

Ray Train places the workers, joins them in a process group, keeps the folders of the ranks after every
epoch as one checkpoint in the storage, and starts all workers again from the last one when one dies. A run is
named by what goes into it, so that it is only ever resumed with the same problems, equations and settings.
"""

import asyncio
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

from toolkit.cluster.group import joined, no_group_of_ray
from toolkit.cluster.nodes import check_nodes
from toolkit.cluster.session import RESTARTS, Session, worker_error, would_fail_again
from toolkit.cluster.snapshot import keep_snapshot, restore_snapshot
from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing

if TYPE_CHECKING:
    import torch

    from toolkit.nn.workers import WorkerGroup

PATIENCE = 10.0  # seconds for an epoch to be recorded; what records them may have died with its node

Files = Mapping[str, bytes]  # by their paths in a folder
Figures = dict[str, Any]  # of an epoch


@dataclass(frozen=True)
class Worker:
    """What a job gets on each worker. All ranks report each epoch, once its state is in the folder."""

    group: "WorkerGroup"
    device: "torch.device"
    begin: Path  # the state to go on from, of all ranks; only to be read
    folder: Path  # of this worker, empty at first
    report: Callable[[int, Figures], None]  # with the number of the epoch


class Job(Protocol):
    """What all workers do together. Ray copies it to them."""

    @property
    def state(self) -> tuple[str, ...]:
        """Patterns of the files that hold the state."""
        ...

    @property
    def by_rank(self) -> bool:
        """Whether each rank saves files of its own, and not only rank zero."""
        ...

    def digest(self) -> str:
        """Of everything that decides the result, but what the folder holds at the beginning."""
        ...

    def run(self, worker: Worker) -> None:
        """Train, from the state to begin with if there is one, until the folder has the last state."""
        ...


@dataclass(frozen=True)
class Task:
    """What every worker gets: a job, and what the folder holds at the beginning."""

    job: Job
    begin: Files

    def name(self, label: str) -> str:
        """The label, for people, and a digest of everything that decides the result of training."""
        digest = sha256(self.job.digest().encode())
        for file in sorted(self.begin):
            digest.update(self.begin[file])
        return f"{label}-{digest.hexdigest()[:10]}"


def run_on_workers(
    session: Session,
    job: Job,
    folder: Path,
    begin: Files,
    on_epoch: Callable[[Figures], object],
    *,
    label: str,
    storage: str | None = None,
) -> None:
    """Run a job on the workers of the session. In the end the folder has the last state, of all ranks.

    `storage` is a folder or URL that all nodes see; the default, within the folder, is for one machine
    and is removed at the end. A run that was stopped continues by itself from its last checkpoint there.
    """
    import ray

    session.require(session.spec.workers)
    task, own = Task(job, begin), folder / "ray"
    location = storage if storage and not is_folder(storage) else str(Path(storage or own).absolute())
    check_nodes(session, location)
    board = _board()
    watcher = Thread(target=_watch, args=(board, on_epoch), daemon=True)
    watcher.start()
    try:
        _fit(session, task, task.name(label), location, board, folder)
    finally:
        board.end.remote()
        watcher.join()
        ray.kill(board)
    if storage is None:
        shutil.rmtree(own, ignore_errors=True)


def is_folder(storage: str) -> bool:
    """Whether a storage is a folder, and not a URL."""
    return "://" not in storage


def _fit(session: Session, task: Task, name: str, storage: str, board: Any, folder: Path) -> None:
    import ray
    from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    run = Path(storage) / name if is_folder(storage) else None
    if run is not None:
        restore_snapshot(run)
    given = ray.put(task)
    trainer = TorchTrainer(
        lambda: _work(ray.get(given)),
        scaling_config=ScalingConfig(num_workers=session.spec.workers, use_gpu=session.spec.gpu),
        torch_config=no_group_of_ray(),
        run_config=RunConfig(
            name=name,
            storage_path=storage,
            checkpoint_config=CheckpointConfig(num_to_keep=2),
            failure_config=FailureConfig(max_failures=RESTARTS, controller_failure_limit=1),
            callbacks=[_reporter(board, storage, run)],
        ),
    )
    try:
        result = trainer.fit()
    except Exception as error:  # Ray wraps whatever went wrong, anywhere, in errors of its own
        raise worker_error(error, "Training", storage) from None
    if result.checkpoint is not None:
        with result.checkpoint.as_directory() as checkpoint:
            _copy(Path(checkpoint), folder, task.job.state)
    elif not task.begin:  # otherwise nothing was left to do
        raise WarmkitError(f"{storage}: the workers ended without a checkpoint.")


def _work(task: Task) -> None:
    """What each worker does: the job, from the last checkpoint if there is one, with a report every epoch."""
    import ray.train
    import torch
    from ray.train import Checkpoint
    from ray.train.torch import get_device

    from toolkit.nn.workers import WorkerGroup

    context = ray.train.get_context()
    group = WorkerGroup(context.get_world_rank(), context.get_world_size())
    torch.set_num_threads(1)  # a worker has one core; two threads that spin on it would crawl
    with TemporaryDirectory() as temporary, ExitStack() as opened:
        folder, last = Path(temporary) / "folder", ray.train.get_checkpoint()
        folder.mkdir()
        if last is not None:  # in a folder that this node sees it is not copied
            begin = Path(opened.enter_context(last.as_directory()))
        else:
            begin = Path(temporary) / "begin"
            begin.mkdir()
            write_files(begin, task.begin)

        def report(epoch: int, figures: Figures) -> None:
            saves = group.is_rank_zero or task.job.by_rank
            checkpoint = Checkpoint(str(folder)) if saves else None
            ray.train.report({"number": epoch, "figures": figures}, checkpoint=checkpoint)

        with joined(Path(temporary)):
            task.job.run(Worker(group, get_device(), begin, folder, report))


def _copy(checkpoint: Path, folder: Path, state: Iterable[str]) -> None:
    """A kill leaves each file as it was or as it is to be. Descriptions say that the rest is there.

    Files of an older state that the checkpoint does not have are deleted.
    """
    files = [path.relative_to(checkpoint) for path in checkpoint.rglob("*") if path.is_file()]
    for file in sorted(files, key=lambda file: (file.suffix == ".json", file)):
        with replacing(folder / file) as temporary:
            shutil.copyfile(checkpoint / file, temporary)
    for old in {path.relative_to(folder) for pattern in state for path in folder.glob(pattern)} - set(files):
        (folder / old).unlink(missing_ok=True)


def read_files(folder: Path | None, patterns: Iterable[str]) -> dict[str, bytes]:
    """The files of a folder that match one of the patterns; none if there is no folder."""
    if folder is None:
        return {}
    paths = [path for pattern in patterns for path in folder.glob(pattern)]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def write_files(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _reporter(board: Any, storage: str, run: Path | None) -> Any:
    """A callback of Ray, in a process of its own, which is called once a checkpoint is in the storage.

    `run` is the folder of the run, None if the storage is a URL. What would fail again ends the run at once:
    Ray would train the same epoch three times more.
    """
    import ray
    from ray.train import UserCallback

    class Reporter(UserCallback):  # type: ignore[misc]
        def after_report(self, run_context: Any, metrics: list[dict[str, Any]], checkpoint: Any) -> None:
            if run is not None:
                keep_snapshot(run)
            ray.wait([board.add.remote(metrics[0])], timeout=PATIENCE)  # so that it comes before the end

        def after_exception(self, run_context: Any, worker_exceptions: dict[int, Exception]) -> None:
            for error in worker_exceptions.values():
                if would_fail_again(error):
                    raise worker_error(error, "Training", storage)

    return Reporter()


def _board() -> Any:
    """An actor in which epochs are recorded for this process, once nothing can make them be trained again."""
    import ray

    class Board:
        def __init__(self) -> None:
            self.epochs: dict[int, Figures] = {}
            self.ended = False
            self.news = asyncio.Event()

        async def add(self, reported: dict[str, Any]) -> None:
            # An epoch repeated after a restart is not news.
            self.epochs.setdefault(reported["number"], reported["figures"])
            self.news.set()

        async def end(self) -> None:
            self.ended = True
            self.news.set()

        async def after(self, epoch: int) -> list[tuple[int, Figures]]:
            """Later epochs, as soon as there are any; none at the end."""
            while True:
                self.news.clear()
                later = [
                    (number, figures) for number, figures in sorted(self.epochs.items()) if number > epoch
                ]
                if later or self.ended:
                    return later
                await self.news.wait()

    return ray.remote(num_cpus=0)(Board).remote()


def _watch(board: Any, on_epoch: Callable[[Figures], object]) -> None:
    import ray

    last = 0
    with suppress(ray.exceptions.RayError):  # the session is gone, which is reported elsewhere
        while later := ray.get(board.after.remote(last)):
            for number, figures in later:
                last = number
                on_epoch(figures)
