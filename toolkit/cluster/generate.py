"""Generation and exhaustive search on the workers of a Ray cluster.

Problems go out in parts, each to the next worker in turn, and come back in order. No worker has more than two
parts before it, so memory does not grow with the number of problems. A part whose worker dies is done again.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl
import torch

from toolkit.cluster.session import RESTARTS, Session, told
from toolkit.warm.checkpoint import Trained
from toolkit.warm.generate import Generated, generate

PART = 1024  # problems
AHEAD = 2  # parts that wait for a worker: one it works on, and the next


class Generator:
    """A worker: a model, and what it finds for the parts it is given.

    The model is given as a reference in a list, to be fetched anew where the worker is started again.
    """

    def __init__(self, held: list[Any], gpu: bool) -> None:
        import ray

        torch.set_num_threads(1)
        self.trained, self.device = ray.get(held[0]), torch.device("cuda" if gpu else "cpu")
        self.trained.model.to(self.device)

    def generate(self, problems: pl.DataFrame, settings: dict[str, Any]) -> list[Generated]:
        return generate(self.trained, problems, device=self.device, **settings)


def generate_on_workers(
    session: Session, trained: Trained, parts: Iterable[pl.DataFrame], **settings: Any
) -> Iterator[list[Generated]]:
    """What `generate` finds for each part, in order."""
    import ray

    session.need(session.where.workers)
    gpu, model = session.where.gpu, ray.put(trained)
    kind = ray.remote(num_cpus=1, num_gpus=int(gpu), max_restarts=RESTARTS, max_task_retries=RESTARTS)(
        Generator
    )
    workers = [
        kind.options(name=f"warmkit generate {i}").remote([model], gpu) for i in range(session.where.workers)
    ]
    waiting: deque[Any] = deque()
    try:
        for i, part in enumerate(parts):
            waiting.append(workers[i % len(workers)].generate.remote(part, settings))
            if len(waiting) >= AHEAD * len(workers):
                yield ray.get(waiting.popleft())
        while waiting:
            yield ray.get(waiting.popleft())
    except ray.exceptions.RayError as error:
        raise told(error, "Generation") from None
    finally:
        for worker in workers:
            ray.kill(worker)
