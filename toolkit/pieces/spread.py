"""Pieces on the workers of a Ray cluster: each is a task with one core, and writes its result itself."""

from pathlib import Path
from typing import Any, Generic

from toolkit.cluster.nodes import check_nodes
from toolkit.cluster.session import RESTARTS, Session, worker_error
from toolkit.pieces.run import Job, P, R, Worker


class RayExecutor(Generic[P, R]):
    """As many pieces at once as the session has workers. All nodes must see the folder of the results."""

    def __init__(self, session: Session, worker: Worker[P, R], folder: Path) -> None:
        import ray

        session.require(session.spec.workers)
        check_nodes(session, str(folder))
        self.slots = session.spec.workers
        self.worker = worker
        self._shared = ray.put(worker)
        self._task = ray.remote(num_cpus=1, max_retries=RESTARTS)(_work)
        self._running: dict[Any, P] = {}

    def begin(self, job: Job[P, R]) -> None:
        task = self._task.options(name=f"warmkit {job.piece}").remote(self._shared, job)
        self._running[task] = job.piece

    def wait(self) -> tuple[P, R]:
        import ray

        (ended, *_), _ = ray.wait(list(self._running), num_returns=1)
        piece = self._running.pop(ended)
        try:
            return piece, ray.get(ended)
        except ray.exceptions.RayError as error:
            return piece, self.worker.failed(piece, worker_error(error, "The measurement"))


def _work(worker: Worker[P, R], job: Job[P, R]) -> R:
    import torch

    torch.set_num_threads(1)  # a task has one core
    return worker.measure(job)
