"""Generation and exhaustive search on the workers of a Ray cluster.

Problems go out in parts, as many at a time as there are workers, and come back in order, so memory does not
grow with the number of problems. A part whose worker dies is done again.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from toolkit.cluster.nodes import check_nodes
from toolkit.cluster.session import RESTARTS, Session, worker_error
from toolkit.data import ProblemSet
from toolkit.methods import GenerateConfig, Generated, StepOne


def generate_on_workers(
    session: Session, model: StepOne, parts: Iterable[ProblemSet], settings: GenerateConfig
) -> Iterator[list[Generated]]:
    """What the model finds for each part, in order."""
    import ray

    session.require(session.spec.workers)
    check_nodes(session)
    gpu, shared = session.spec.gpu, ray.put(model)
    task = ray.remote(num_cpus=1, num_gpus=int(gpu), max_retries=RESTARTS)(_generate)
    waiting: deque[Any] = deque()
    try:
        for i, part in enumerate(parts):
            if len(waiting) == session.spec.workers:
                yield ray.get(waiting.popleft())
            waiting.append(task.options(name=f"warmkit generate {i}").remote(shared, part, gpu, settings))
        while waiting:
            yield ray.get(waiting.popleft())
    except ray.exceptions.RayError as error:
        raise worker_error(error, "Generation") from None
    finally:
        for pending in waiting:
            ray.cancel(pending, force=True)


def _generate(model: StepOne, problems: ProblemSet, gpu: bool, settings: GenerateConfig) -> list[Generated]:
    import torch

    torch.set_num_threads(1)  # a worker has one core
    return model.candidates(problems, settings, device=torch.device("cuda" if gpu else "cpu"))
