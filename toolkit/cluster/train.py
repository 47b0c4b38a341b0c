"""`fit` of a method on the workers of a Ray cluster.

Ray Train places the workers, joins them in a process group, keeps the model folder of rank zero after every
epoch as a checkpoint in the storage, and starts all workers again from the last one when one dies. A run is
named by what goes into it, so that it is only ever resumed with the same problems, equations and settings.
"""

import asyncio
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from toolkit.cluster.group import joined, no_group_of_ray
from toolkit.cluster.nodes import check_nodes
from toolkit.cluster.session import RESTARTS, Session, worker_error
from toolkit.equations import show
from toolkit.errors import WarmkitError
from toolkit.methods import Epoch, FitInput, FitOptions, StepOne
from toolkit.methods.base import no_problems

PATIENCE = 10.0  # seconds for an epoch to be recorded; what records them may have died with its node


@dataclass(frozen=True)
class Task:
    """What every worker gets: what the method is fitted on, and the folder to begin with, as bytes."""

    method: type[StepOne]
    data: FitInput
    begin: dict[str, bytes]  # files of a model folder
    resume: bool  # whether the folder is this run's own, or that of the model to start from

    def name(self, label: str) -> str:
        """The label, for people, and a digest of everything that decides the result of training."""
        data = self.data
        digest = sha256(f"{self.method.name} {data.seed} {data.config.model_dump_json()}".encode())
        digest.update(data.digest().encode())
        digest.update("".join(show(constant) for constant in data.problems.constants).encode())
        for file in sorted(self.begin):
            digest.update(self.begin[file])
        return f"{label}-{digest.hexdigest()[:10]}"


def train_on_workers(
    session: Session,
    method: type[StepOne],
    data: FitInput,
    folder: Path,
    options: FitOptions,
    *,
    label: str,
    storage: str | None = None,
) -> StepOne:
    """`StepOne.fit`, on the workers of the session: the same folder at the end.

    `storage` is a folder or URL that all nodes see; the default, within the model folder, is for one machine
    and is removed at the end. A run that was stopped continues by itself from its last checkpoint there.
    """
    import ray

    session.require(session.spec.workers)
    if not len(data.problems):
        raise no_problems()
    resume = options.resume and (folder / "model.json").exists()
    task = Task(method, data, _files(folder if resume else options.start), resume)
    own = folder / "ray"
    location = storage if storage and "://" in storage else str(Path(storage or own).absolute())
    check_nodes(session, location)
    board = _board()
    watcher = Thread(target=_watch, args=(board, options.on_epoch), daemon=True)
    watcher.start()
    try:
        _fit(session, task, task.name(label), location, board, folder)
    finally:
        board.end.remote()
        watcher.join()
        ray.kill(board)
    if storage is None:
        shutil.rmtree(own, ignore_errors=True)
    return method.load(folder)


def _fit(session: Session, task: Task, name: str, storage: str, board: Any, folder: Path) -> None:
    import ray
    from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

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
            callbacks=[_reporter(board)],
        ),
    )
    try:
        result = trainer.fit()
    except Exception as error:  # Ray wraps whatever went wrong, anywhere, in errors of its own
        raise worker_error(error, "Training", storage) from None
    if result.checkpoint is None:
        raise WarmkitError(f"{storage}: the workers ended without a checkpoint.")
    with result.checkpoint.as_directory() as checkpoint:
        shutil.copytree(checkpoint, folder, dirs_exist_ok=True)


def _work(task: Task) -> None:
    """What each worker does: train, from the last checkpoint if there is one, and report every epoch."""
    import ray.train
    import torch
    from ray.train import Checkpoint
    from ray.train.torch import get_device

    from toolkit.nn.workers import WorkerGroup

    context = ray.train.get_context()
    workers = WorkerGroup(context.get_world_rank(), context.get_world_size())
    torch.set_num_threads(1)  # a worker has one core; two threads that spin on it would crawl
    with TemporaryDirectory() as temporary:
        folder, begin = Path(temporary) / "model", Path(temporary) / "begin"
        last = ray.train.get_checkpoint()
        if last is not None:
            last.to_directory(folder)
        for name, content in task.begin.items():
            into = folder if task.resume and last is None else begin
            into.mkdir(exist_ok=True)
            (into / name).write_bytes(content)

        def report(epoch: Epoch) -> None:
            checkpoint = Checkpoint(str(folder)) if workers.is_rank_zero else None
            ray.train.report(asdict(epoch), checkpoint=checkpoint)

        options = FitOptions(
            resume=(folder / "model.json").exists(),
            start=begin if begin.exists() else None,
            workers=workers,
            device=get_device(),
            on_epoch=report,
        )
        with joined(Path(temporary)):
            task.method.fit(task.data, folder, options)


def _files(folder: Path | None) -> dict[str, bytes]:
    if folder is None:
        return {}
    return {name: (folder / name).read_bytes() for name in ("model.json", "training.safetensors")}


def _reporter(board: Any) -> Any:
    """A callback of Ray, in a process of its own, which is called once a checkpoint is in the storage."""
    import ray
    from ray.train import UserCallback

    class Reporter(UserCallback):  # type: ignore[misc]
        def after_report(self, run_context: Any, metrics: list[dict[str, Any]], checkpoint: Any) -> None:
            ray.wait([board.add.remote(metrics[0])], timeout=PATIENCE)  # so that it comes before the end

    return Reporter()


def _board() -> Any:
    """An actor in which epochs are recorded for this process, once nothing can make them be trained again."""
    import ray

    class Board:
        def __init__(self) -> None:
            self.epochs: dict[int, dict[str, Any]] = {}
            self.ended = False
            self.news = asyncio.Event()

        async def add(self, epoch: dict[str, Any]) -> None:
            self.epochs.setdefault(epoch["epoch"], epoch)  # an epoch repeated after a restart is not news
            self.news.set()

        async def end(self) -> None:
            self.ended = True
            self.news.set()

        async def after(self, epoch: int) -> list[dict[str, Any]]:
            """Later epochs, as soon as there are any; none at the end."""
            while True:
                self.news.clear()
                later = [figures for number, figures in sorted(self.epochs.items()) if number > epoch]
                if later or self.ended:
                    return later
                await self.news.wait()

    return ray.remote(num_cpus=0)(Board).remote()


def _watch(board: Any, on_epoch: Callable[[Epoch], object]) -> None:
    import ray

    last = 0
    with suppress(ray.exceptions.RayError):  # the session is gone, which is reported elsewhere
        while later := ray.get(board.after.remote(last)):
            for figures in later:
                last = figures["epoch"]
                on_epoch(Epoch(**figures))
