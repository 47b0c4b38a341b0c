"""The one training function (`toolkit.warm.train`) on the workers of a Ray cluster.

Ray Train places the workers, joins them in a process group, keeps the leader's model folder after every
epoch as a checkpoint in the storage, and starts all workers again from the last one when one dies. A run is
named by what goes into it, so that it is only ever resumed with the same problems, equations and settings.
"""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import polars as pl
import torch

from toolkit.cluster.nodes import check_nodes
from toolkit.cluster.session import RESTARTS, Session, told
from toolkit.equations import Constant, show
from toolkit.errors import WarmkitError
from toolkit.warm.checkpoint import Trained, data_hash, load_trained
from toolkit.warm.config import WarmConfig
from toolkit.warm.team import Team
from toolkit.warm.train import Epoch, train


@dataclass(frozen=True)
class Task:
    """What every worker is given: the arguments of `train`, and the folder to begin with, as bytes."""

    problems: pl.DataFrame
    config: WarmConfig
    gold: Sequence[bool] | None
    constants: Sequence[Constant]
    begin: dict[str, bytes]  # files of a model folder
    resume: bool  # whether it is this run's own folder, or that of the model to start from

    def name(self, label: str) -> str:
        """The label, for people, and a digest of all that decides what training comes to."""
        digest = sha256(self.config.model_dump_json().encode())
        digest.update(data_hash(self.problems, self.gold).encode())
        digest.update("".join(show(constant) for constant in self.constants).encode())
        for file in sorted(self.begin):
            digest.update(self.begin[file])
        return f"{label}-{digest.hexdigest()[:10]}"


def train_on_workers(
    session: Session,
    problems: pl.DataFrame,
    config: WarmConfig,
    out: Path,
    *,
    label: str,
    storage: str | None = None,
    gold: Sequence[bool] | None = None,
    constants: Sequence[Constant],
    resume: bool = False,
    start: Path | None = None,
    on_epoch: Callable[[Epoch], object] = lambda epoch: None,
) -> Trained:
    """`train`, on the workers of the session: the same arguments, the same folder `out` at the end.

    `storage` is a folder or URL that all nodes see; the default, within `out`, is for one machine and is
    removed when all is done. A run that was stopped goes on by itself from its last checkpoint there.
    """
    import ray

    session.need(session.where.workers)
    if not len(problems):
        raise WarmkitError("There are no problems to train on.")
    before = out if resume and (out / "model.json").exists() else start
    task = Task(problems, config, gold, constants, _files(before), resume=before is out)
    own = out / "ray"
    place = storage if storage and "://" in storage else str(Path(storage or own).absolute())
    check_nodes(session, place)
    board = _board()
    watcher = Thread(target=_watch, args=(board, on_epoch), daemon=True)
    watcher.start()
    try:
        _fit(session, task, task.name(label), place, board, out)
    finally:
        board.end.remote()
        watcher.join()
        ray.kill(board)
    if storage is None:
        shutil.rmtree(own, ignore_errors=True)
    return load_trained(out)


def _fit(session: Session, task: Task, name: str, place: str, board: Any, out: Path) -> None:
    import ray
    from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    given, gpu = ray.put(task), session.where.gpu
    trainer = TorchTrainer(
        lambda: _work(ray.get(given), board),
        scaling_config=ScalingConfig(num_workers=session.where.workers, use_gpu=gpu),
        torch_config=TorchConfig(backend="nccl" if gpu else "gloo"),
        run_config=RunConfig(
            name=name,
            storage_path=place,
            checkpoint_config=CheckpointConfig(num_to_keep=2),
            failure_config=FailureConfig(max_failures=RESTARTS, controller_failure_limit=1),
        ),
    )
    try:
        result = trainer.fit()
    except Exception as error:  # Ray wraps whatever went wrong, anywhere, in errors of its own
        raise told(error, "Training", place) from None
    if result.checkpoint is None:
        raise WarmkitError(f"{place}: the workers ended without a checkpoint.")
    with result.checkpoint.as_directory() as folder:
        shutil.copytree(folder, out, dirs_exist_ok=True)


def _work(task: Task, board: Any) -> None:
    """What each worker does: train, from the last checkpoint if there is one, and report every epoch."""
    import ray.train
    from ray.train import Checkpoint
    from ray.train.torch import get_device

    context = ray.train.get_context()
    team = Team(context.get_world_rank(), context.get_world_size())
    torch.set_num_threads(1)  # a worker is given one core; two that spin on it would crawl
    with TemporaryDirectory() as temporary:
        out, begin = Path(temporary) / "model", Path(temporary) / "begin"
        last = ray.train.get_checkpoint()
        if last is not None:
            last.to_directory(out)
        for name, content in task.begin.items():
            folder = out if task.resume and last is None else begin
            folder.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)

        def report(epoch: Epoch) -> None:
            if team.leads:
                board.add.remote(asdict(epoch))
            ray.train.report(asdict(epoch), checkpoint=Checkpoint(str(out)) if team.leads else None)

        train(
            task.problems,
            task.config,
            out,
            gold=task.gold,
            constants=task.constants,
            device=get_device(),
            resume=(out / "model.json").exists(),
            start=begin if begin.exists() else None,
            team=team,
            on_epoch=report,
        )


def _files(folder: Path | None) -> dict[str, bytes]:
    if folder is None:
        return {}
    return {name: (folder / name).read_bytes() for name in ("model.json", "training.safetensors")}


def _board() -> Any:
    """Where the leader writes down epochs for this process to see: Ray's own callbacks run elsewhere."""
    import ray

    class Board:
        def __init__(self) -> None:
            self.epochs: dict[int, dict[str, Any]] = {}
            self.ended = False
            self.news = asyncio.Event()

        async def add(self, epoch: dict[str, Any]) -> None:
            self.epochs.setdefault(epoch["epoch"], epoch)  # done again after a restart, it is not news
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
    with suppress(ray.exceptions.RayError):  # the session is gone: so it is said elsewhere
        while later := ray.get(board.after.remote(last)):
            for figures in later:
                last = figures["epoch"]
                on_epoch(Epoch(**figures))
