"""What Ray workers buy and cost, against the same training in this process, in the same run.

    python bench/ray.py --data FOLDER                both tables: 20 minutes on two cores
    python bench/ray.py --data FOLDER --hidden 128

FOLDER holds allarith.jsonl in the native format (it does not come with warmkit).

    problems a second of training, global batch 256: one process with 1 and 2 threads, 1 and 2 workers
    seconds from the call to the first epoch, and from the last epoch to the return
"""

import os
import sys

sys.path.pop(0)  # this folder, in which this file would pass for Ray itself
os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count() or 1))

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import torch

from toolkit.cli.output import print_table
from toolkit.cluster.session import ClusterSpec, session
from toolkit.config import load_config
from toolkit.data import read_problems
from toolkit.methods import Epoch, FitInput, FitOptions
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig

Row = tuple[str, ...]


@dataclass(frozen=True)
class Timed:
    """The epochs of one training, and when it was called, told of an epoch first and last, and done."""

    speeds: list[float]
    first: float
    after: float


def timed(work: Callable[[Callable[[Epoch], object]], object]) -> Timed:
    epochs: list[tuple[float, Epoch]] = []
    begun = time.perf_counter()
    work(lambda epoch: epochs.append((time.perf_counter(), epoch)))
    ended = time.perf_counter()
    speeds = [epoch.problems_per_second for _, epoch in epochs[1:]]  # the first one warms up
    return Timed(speeds, epochs[0][0] - begun - epochs[0][1].seconds, ended - epochs[-1][0])


def measured(data: FitInput, workers: int, threads: int = 1) -> Timed:
    """In this process (no workers), or on so many workers of a session of their own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model"
        if not workers:
            torch.set_num_threads(threads)
            return timed(lambda on_epoch: Warm.fit(data, out, FitOptions(on_epoch=on_epoch)))

        def on_workers(on_epoch: Callable[[Epoch], object]) -> None:
            with session(ClusterSpec(workers=workers)) as started:
                from toolkit.cluster.fit import fit_on_workers

                fit_on_workers(started, Warm, data, out, FitOptions(on_epoch=on_epoch), label="bench")

        return timed(on_workers)


def throughput(data: FitInput, repeats: int) -> tuple[list[Row], list[Row]]:
    ways = {
        "one process, 1 thread": (0, 1),
        "one process, 2 threads": (0, 2),
        "1 worker": (1, 1),
        "2 workers": (2, 1),
    }
    found: dict[str, list[Timed]] = {name: [] for name in ways}
    for _ in range(repeats):  # by turns: the machine is not as fast at all times
        for name, way in ways.items():
            found[name].append(measured(data, *way))
    speeds = {
        name: statistics.median(speed for run in runs for speed in run.speeds) for name, runs in found.items()
    }
    rows = [
        (
            name,
            f"{speed:.0f}",
            f"{speed / speeds['1 worker']:.2f}×",
            f"{speed / speeds['one process, 2 threads']:.2f}×",
        )
        for name, speed in speeds.items()
    ]
    starts = [
        (
            name,
            f"{statistics.median(run.first for run in runs):.1f}",
            f"{statistics.median(run.after for run in runs):.1f}",
        )
        for name, runs in found.items()
    ]
    return rows, starts


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--data", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--hidden", default=512, show_default=True)
@click.option("--epochs", default=4, show_default=True)
@click.option("--repeats", default=3, show_default=True, help="Of each training; medians are shown.")
@click.option("--seed", default=0, show_default=True)
def main(data: Path, hidden: int, epochs: int, repeats: int, seed: int) -> None:
    problems = read_problems(data / "allarith.jsonl")
    settings = ("train.batch=256", f"model.hidden={hidden}", f"model.embedding={hidden}")
    rest = (f"train.epochs={epochs}", "train.search=0")
    config = load_config(WarmConfig, None, (*settings, *rest))
    rows, starts = throughput(FitInput(problems, {}, config, seed), repeats)
    title = f"AllArith, hidden {hidden}, global batch 256, {repeats} × {epochs} epochs, seed {seed}"
    print_table(title, rows, ("training", "problems/s", "of 1 worker", "of 2 threads"))
    print_table("seconds besides training", starts, ("training", "to the first epoch", "after the last"))


if __name__ == "__main__":
    main()
