"""Tasks on the workers of a Ray cluster: a few at a time for each worker, their results in order.

So memory does not grow with the number of tasks. A task whose worker dies is done again.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from toolkit.cluster.nodes import check_nodes
from toolkit.cluster.session import RESTARTS, Session, worker_error

QUEUED = 2  # tasks of a worker: it has the next one while this process takes in what it did
Given = TypeVar("Given")
Done = TypeVar("Done")


def map_on_workers(
    session: Session,
    function: Callable[[Given], Done],
    items: Iterable[Given],
    *,
    label: str,
    what: str,
    storage: str | None = None,
) -> Iterator[Done]:
    """The function of each item. The function is sent once, each item with its task.

    `label` is the name of the tasks in Ray, `what` that of the work in errors. `storage` is a folder that the
    function writes to: all nodes must see it.
    """
    import ray

    session.require(session.spec.workers)
    check_nodes(session, storage)
    shared = ray.put(function)
    task = ray.remote(num_cpus=1, num_gpus=int(session.spec.gpu), max_retries=RESTARTS)(_apply)
    waiting: deque[Any] = deque()
    try:
        for i, item in enumerate(items):
            if len(waiting) == QUEUED * session.spec.workers:
                yield ray.get(waiting.popleft())
            waiting.append(task.options(name=f"{label} {i}").remote(shared, item))
        while waiting:
            yield ray.get(waiting.popleft())
    except ray.exceptions.RayError as error:
        raise worker_error(error, what) from None
    finally:
        for pending in waiting:
            ray.cancel(pending, force=True)


def _apply(function: Callable[[Given], Done], item: Given) -> Done:
    import torch

    torch.set_num_threads(1)  # a worker has one core
    return function(item)
