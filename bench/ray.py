"""What Ray workers buy and cost, against the same training in this process, in the same run.

    python bench/ray.py --data FOLDER                                   step one: 20 minutes on two cores
    python bench/ray.py --data FOLDER --hidden 128
    python bench/ray.py --data FOLDER --step solver --hidden 256 --batch 128    the network of a solver

FOLDER holds allarith.jsonl, for a solver math23k.jsonl, in the native format (neither comes with warmkit).

    problems a second of training: one process with 1 and 2 threads (a network of a solver always has one),
    1 and 2 workers; of a solver with what it costs to save an epoch
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
from typing import TypeAlias

import click
import torch

from toolkit.cli.output import print_table
from toolkit.cluster.session import ClusterSpec, session
from toolkit.compute import ClusterCompute, Compute, LocalCompute
from toolkit.config import load_config
from toolkit.data import read_problems
from toolkit.methods import Epoch, FitInput, FitOptions
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig
from toolkit.solvers import SolverInput, SolverProgress
from toolkit.solvers.neural.config import SolverConfig
from toolkit.solvers.published import Gts

Row = tuple[str, ...]
Data: TypeAlias = FitInput | SolverInput
CPU = torch.device("cpu")
COMPARED = ("1 worker", "one process, 2 threads")


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


def measured(data: Data, workers: int, threads: int = 1) -> Timed:
    """In this process (no workers), or on so many workers of a session of their own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model"
        if not workers:
            torch.set_num_threads(threads)
            return timed(lambda on_epoch: fit(LocalCompute(CPU), data, out, on_epoch))

        def on_workers(on_epoch: Callable[[Epoch], object]) -> None:
            with session(ClusterSpec(workers=workers)) as started:
                fit(ClusterCompute(CPU, started), data, out, on_epoch)

        return timed(on_workers)


def fit(compute: Compute, data: Data, out: Path, on_epoch: Callable[[Epoch], object]) -> None:
    if isinstance(data, FitInput):
        compute.fit(Warm, data, out, FitOptions(on_epoch=on_epoch), label="bench")
        return
    clock = SolverClock(len(data.problems), on_epoch)
    compute.fit_solver(Gts, data, folder=out, resume=False, on_progress=clock.tell, label="bench")


class SolverClock:
    """Epochs with their seconds, of the progress of a solver: between one and the next."""

    def __init__(self, problems: int, on_epoch: Callable[[Epoch], object]) -> None:
        self.problems, self.on_epoch, self.epochs, self.last = problems, on_epoch, 0, time.perf_counter()

    def tell(self, now: SolverProgress) -> None:
        if now.epochs > self.epochs:
            self.epochs, seconds = now.epochs, time.perf_counter() - self.last
            self.last = time.perf_counter()
            self.on_epoch(Epoch(now.epochs, now.loss, 0.0, seconds, self.problems / seconds))


def throughput(data: Data, repeats: int) -> tuple[list[Row], list[Row]]:
    ways = {
        "one process, 1 thread": (0, 1),
        "one process, 2 threads": (0, 2),
        "1 worker": (1, 1),
        "2 workers": (2, 1),
    }
    if isinstance(data, SolverInput):
        del ways["one process, 2 threads"]
    found: dict[str, list[Timed]] = {name: [] for name in ways}
    for _ in range(repeats):  # by turns: the machine is not as fast at all times
        for name, way in ways.items():
            found[name].append(measured(data, *way))
    speeds = {
        name: statistics.median(speed for run in runs for speed in run.speeds) for name, runs in found.items()
    }
    rows = [
        (name, f"{speed:.0f}", *(f"{speed / speeds[other]:.2f}×" for other in COMPARED if other in speeds))
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
@click.option("--step", type=click.Choice(["one", "solver"]), default="one", show_default=True)
@click.option("--hidden", default=512, show_default=True)
@click.option("--batch", default=256, show_default=True, help="The global batch.")
@click.option("--problems", default=4_000, show_default=True, help="Of Math23K, for a solver.")
@click.option("--epochs", default=4, show_default=True)
@click.option("--repeats", default=3, show_default=True, help="Of each training; medians are shown.")
@click.option("--seed", default=0, show_default=True)
def main(
    data: Path, step: str, hidden: int, batch: int, problems: int, epochs: int, repeats: int, seed: int
) -> None:
    given: Data
    if step == "one":
        settings = (f"train.batch={batch}", f"model.hidden={hidden}", f"model.embedding={hidden}")
        rest = (f"train.epochs={epochs}", "train.search=0")
        config = load_config(WarmConfig, None, (*settings, *rest))
        given = FitInput(read_problems(data / "allarith.jsonl"), {}, config, seed)
    else:
        learnt = read_problems(data / "math23k.jsonl").take(range(problems))
        small = SolverConfig(hidden=hidden, batch=batch, epochs=epochs, members=1, held_out=0)
        given = SolverInput(learnt, learnt.gold_templates, None, small, seed)
    rows, starts = throughput(given, repeats)
    name = "AllArith" if step == "one" else f"{problems:,} problems of Math23K, gts"
    title = f"{name}, hidden {hidden}, global batch {batch}, {repeats} × {epochs} epochs, seed {seed}"
    print_table(title, rows, ("training", "problems/s", "of 1 worker", "of 2 threads")[: len(rows[0])])
    print_table("seconds besides training", starts, ("training", "to the first epoch", "after the last"))


if __name__ == "__main__":
    main()
