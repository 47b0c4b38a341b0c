"""One of two ranks of a solver: reads its shard, trains 20 batches.

python bench/ranks/solver.py LESSONS DIGEST SIZE KEY=VALUE …: prints its figures as JSON (bench/scale.py).
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl
import torch
import torch.distributed as dist
from peak import peak_mb

from toolkit.config import load_config
from toolkit.equations import DEFAULT_CONSTANTS
from toolkit.nn.workers import WorkerGroup
from toolkit.solvers import SolverProgress
from toolkit.solvers.base import PreparedLessons
from toolkit.solvers.neural.member import make_lessons, train_member
from toolkit.solvers.published import Gts


class Enough(Exception):
    pass


def stop(now: SolverProgress) -> None:
    raise Enough


def main() -> None:
    folder, digest, size, *settings = sys.argv[1:]
    torch.set_num_threads(1)
    config = load_config(Gts.Config, None, settings)
    some = make_lessons(
        Gts, PreparedLessons(Path(folder), digest, DEFAULT_CONSTANTS, config), WorkerGroup(0, 2)
    )
    times = max(1, round(int(size) / some.count))

    def parts(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        return (part for _ in range(times) for part in some.parts(columns))

    lessons = replace(some, count=times * some.count, parts=parts)
    begun = time.process_time()
    shard = lessons.shard
    read = time.process_time()
    with tempfile.TemporaryDirectory() as group:  # the other rank is not there: gradients are not waited for
        dist.init_process_group("gloo", init_method=f"file://{group}/group", rank=0, world_size=1)
        with suppress(Enough):
            train_member(Gts, lessons, 0, torch.device("cpu"), None, stop)  # called after 20 batches
        dist.destroy_process_group()
    tensors = [value for part in (shard, shard.tensors, shard.equations) for value in vars(part).values()]
    held = sum(tensor.nbytes for tensor in tensors if isinstance(tensor, torch.Tensor))
    figures = {
        "problems": lessons.count,
        "read_core_seconds": read - begun,
        "train_core_seconds": time.process_time() - read,
        "equations_a_problem": len(shard.equations.sizes) / len(shard.tensors),
        "bytes_a_problem": held / len(shard.tensors),
        "peak_mb": peak_mb(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
