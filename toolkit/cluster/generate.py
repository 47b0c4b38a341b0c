"""Generation and exhaustive search on the workers of a Ray cluster.

Problems go out in parts, as many at a time as there are workers, and come back in order, so memory does not
grow with the number of problems. A part whose worker dies is done again.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl
import torch

from toolkit.cluster.nodes import check_nodes
from toolkit.cluster.session import RESTARTS, Session, told
from toolkit.warm.checkpoint import Trained
from toolkit.warm.generate import Generated, generate


def generate_on_workers(
    session: Session, trained: Trained, parts: Iterable[pl.DataFrame], **settings: Any
) -> Iterator[list[Generated]]:
    """What `generate` finds for each part, in order."""
    import ray

    session.need(session.where.workers)
    check_nodes(session)
    gpu, model = session.where.gpu, ray.put(trained)
    task = ray.remote(num_cpus=1, num_gpus=int(gpu), max_retries=RESTARTS)(_generate)
    waiting: deque[Any] = deque()
    try:
        for i, part in enumerate(parts):
            if len(waiting) == session.where.workers:
                yield ray.get(waiting.popleft())
            waiting.append(task.options(name=f"warmkit generate {i}").remote(model, part, gpu, settings))
        while waiting:
            yield ray.get(waiting.popleft())
    except ray.exceptions.RayError as error:
        raise told(error, "Generation") from None
    finally:
        for left in waiting:
            ray.cancel(left, force=True)


def _generate(
    trained: Trained, problems: pl.DataFrame, gpu: bool, settings: dict[str, Any]
) -> list[Generated]:
    torch.set_num_threads(1)  # a worker is given one core
    device = torch.device("cuda" if gpu else "cpu")
    trained.model.to(device)
    return generate(trained, problems, device=device, **settings)
