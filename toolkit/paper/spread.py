"""Cells on the workers of a Ray cluster: each is a task with one core, and writes its result itself."""

from typing import Any, TypeAlias

from toolkit.cluster.nodes import check_nodes
from toolkit.cluster.session import RESTARTS, Session, worker_error
from toolkit.paper.cells import Cell, Files, Result, Settings
from toolkit.paper.plan import Plan
from toolkit.paper.run import Job, LocalExecutor
from toolkit.paper.sets import LoadedSet

Shared: TypeAlias = tuple[dict[str, LoadedSet], Settings, Files]  # what every task gets


class RayExecutor:
    """As many cells at once as the session has workers. All nodes must see the folder of the files."""

    def __init__(self, session: Session, plan: Plan, files: Files) -> None:
        import ray

        session.require(session.spec.workers)
        self.files = Files(files.folder.absolute())
        check_nodes(session, str(self.files.folder))
        self.slots = session.spec.workers
        self._shared = ray.put((dict(plan.sets), plan.settings, self.files))
        self._task = ray.remote(num_cpus=1, max_retries=RESTARTS)(_work)
        self._running: dict[Any, Cell] = {}

    def begin(self, job: Job) -> None:
        task = self._task.options(name=f"warmkit {job.cell}").remote(self._shared, job)
        self._running[task] = job.cell

    def wait(self) -> tuple[Cell, Result]:
        import ray

        (ended, *_), _ = ray.wait(list(self._running), num_returns=1)
        cell = self._running.pop(ended)
        try:
            return cell, ray.get(ended)
        except ray.exceptions.RayError as error:
            result = Result.failed(worker_error(error, "The measurement"))
            self.files.write(cell, result)
            return cell, result


def _work(shared: Shared, job: Job) -> Result:
    import torch

    from toolkit.compute import LocalCompute

    torch.set_num_threads(1)  # a task has one core
    sets, settings, files = shared
    executor = LocalExecutor(sets, settings, files, LocalCompute(torch.device("cpu")))
    executor.begin(job)
    return executor.wait()[1]
