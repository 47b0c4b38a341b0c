"""What is left of the speed beside other busy processes, as a share of what would be fair.

    python bench/busy.py --data FOLDER                       both tables: ten minutes
    python bench/busy.py --data FOLDER --seconds 5 --turns 1    a look

FOLDER holds allarith.jsonl in the native format (it does not come with warmkit). Everything runs on two
cores, however many there are, so that figures of different machines compare. The machine must be quiet: the
busy processes, each of which uses one core, are started and ended here.

Beside b busy processes a process with t threads has a fair share of min(t, max(2 - b, 2 / (b + 1))) cores:
the cores that nobody else wants, or as many as everybody has. Its fair speed is its speed on the quiet
machine, times its fair share here to that there. One thread: all of its speed beside one process, two thirds
beside two. Two threads: half, and a third. A ratio of 1 is fair. The claim is that with one thread, the
default of every command, no ratio is below 0.8.

Each figure is of a process of its own, from its first batch on, at the default settings. A turn measures
everything once; speeds are medians over the turns, and so are the ratios, each made within its turn.
"""

import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolkit.cli.output import print_table

if TYPE_CHECKING:
    from toolkit.methods import FitInput

CORES = 2
BUSY = (0, 1, 2)
THREADS = (1, 2)
TRAIN, GENERATE = "training", "generation"
PROBLEMS = 480
PART = 96  # problems generated for at a time, as many as in a batch of training
PATIENCE = 3  # times as long as a measurement may the first batch take

Case = tuple[str, int, int]  # what, threads, busy processes


def fair_cores(threads: int, busy: int) -> float:
    return min(threads, max(CORES - busy, CORES / (busy + 1)))


def ratio(speeds: dict[Case, float], case: Case) -> float:
    """The speed of a case to its fair speed, both of one turn."""
    what, threads, busy = case
    fair = fair_cores(threads, busy) / fair_cores(threads, 0)
    return speeds[case] / (speeds[what, threads, 0] * fair)


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


class Clock:
    """Counts from the first batch on. When the time is up, it sends the speed and ends the process."""

    def __init__(self, seconds: float, answer: Connection) -> None:
        self.seconds, self.answer = seconds, answer
        self.ends: list[tuple[float, int]] = []  # of batches: when, and how many problems each had

    def start(self) -> None:
        """The time for the first batch is limited too: with threads that wait for a core it may never end."""
        self.begun = time.perf_counter()
        threading.Timer(PATIENCE * self.seconds, self.finish).start()

    def __call__(self, problems: int) -> None:
        self.ends.append((time.perf_counter(), problems))
        if len(self.ends) == 1:
            threading.Timer(self.seconds, self.finish).start()

    def finish(self) -> None:
        """Up to the end of the last batch; if hardly any has ended, up to now."""
        if len(self.ends) > 3:
            seconds = self.ends[-1][0] - self.ends[0][0]
            self.answer.send(sum(problems for _, problems in self.ends[1:]) / seconds)
        else:
            done = sum(problems for _, problems in self.ends)
            self.answer.send(done / (time.perf_counter() - self.begun))
        os._exit(0)


def work(what: str, threads: int, data: Path, model: Path, clock: Clock) -> None:
    """In a process of its own: what the commands do, for ever."""
    import torch

    from toolkit.methods import FitOptions, GenerateConfig, load_model
    from toolkit.methods.warm import Warm

    torch.set_num_threads(threads)
    fitted, settings = fit_input(data, epochs=100_000), GenerateConfig()
    trained = load_model(model)
    clock.start()
    if what == TRAIN:
        Warm.fit(fitted, None, FitOptions(on_batch=clock))
    while True:
        for part in fitted.problems.parts(PART):
            trained.candidates(part, settings)
            clock(len(part))


def fit_input(data: Path, epochs: int) -> "FitInput":
    from toolkit.data import read_problems
    from toolkit.methods import FitInput
    from toolkit.methods.warm.config import WarmConfig

    problems = read_problems(data / "allarith.jsonl").take(range(PROBLEMS))
    return FitInput(problems, {}, WarmConfig.model_validate({"train": {"epochs": epochs}}), seed=0)


def measured(case: Case, data: Path, model: Path, seconds: float) -> float:
    """Problems a second."""
    what, threads, busy = case
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    with busy_processes(busy):
        process = context.Process(target=work, args=(what, threads, data, model, Clock(seconds, theirs)))
        process.start()
        theirs.close()
        try:
            return float(ours.recv())
        finally:
            process.join()


def turns(data: Path, model: Path, seconds: float, count: int) -> list[dict[Case, float]]:
    cases = [(what, threads, busy) for what in (TRAIN, GENERATE) for busy in BUSY for threads in THREADS]
    return [{case: measured(case, data, model, seconds) for case in cases} for _ in range(count)]


def rows(found: list[dict[Case, float]], what: str) -> list[tuple[str, ...]]:
    def cell(value: Callable[[dict[Case, float]], float], digits: int) -> str:
        return f"{statistics.median(map(value, found)):.{digits}f}"

    made = []
    for threads in THREADS:
        row = ["1 thread (default)" if threads == 1 else f"{threads} threads"]
        for busy in BUSY:
            case = (what, threads, busy)
            row.append(cell(lambda speeds, case=case: speeds[case], 0))
            if busy:
                row.append(cell(lambda speeds, case=case: ratio(speeds, case), 2))
        made.append(tuple(row))
    return made


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--data", required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--seconds", default=10.0, show_default=True, help="Of each measurement.")
@click.option("--turns", "count", default=3, show_default=True)
def main(data: Path, seconds: float, count: int) -> None:
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    if len(cores) < CORES:
        raise click.ClickException(f"This needs {CORES} cores.")
    os.sched_setaffinity(0, cores)  # what is started here inherits it
    with tempfile.TemporaryDirectory() as folder:
        from toolkit.methods.warm import Warm

        model = Path(folder) / "model"
        Warm.fit(fit_input(data, epochs=1), model)
        found = turns(data, model, seconds, count)
    headers = ("", "quiet", "beside one", "of fair", "beside two", "of fair")
    for what in (TRAIN, GENERATE):
        print_table(
            f"{what}, problems a second: AllArith, {count} × {seconds:g} s", rows(found, what), headers
        )
    default = [(what, 1, busy) for what in (TRAIN, GENERATE) for busy in BUSY]
    lowest = min(statistics.median(ratio(speeds, case) for speeds in found) for case in default)
    click.echo(f"lowest ratio with one thread: {lowest:.2f}")


if __name__ == "__main__":
    main()
