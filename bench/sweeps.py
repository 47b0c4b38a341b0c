"""What Ray Tune costs: a trial of a sweep against the same training called directly, and the default sweep.

    python bench/sweeps.py               overhead of the first and of later trials
    python bench/sweeps.py --sweep       also the whole of configs/tune/gold_beam.yaml, in minutes

Equal trials, one at a time on one core, are run by Ray Tune and by a plain loop over the same function, each
in a process of its own. The overhead is the time from the end of one trial to the end of the next, less what
the trial itself took in its actor: Ray's actors are niced, so on a machine that is not quiet training is
slower in them, and that is not what Tune costs. The first trial also pays for the start of Ray.
"""

import os
import sys

sys.path.pop(0)  # this folder, in which ray.py would pass for Ray itself
os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import click

from toolkit.cli.output import print_table
from toolkit.config import load_config
from tune.config import TuneConfig

ROOT = Path(__file__).parents[1]
SWEEP = ROOT / "configs" / "tune" / "gold_beam.yaml"
SETTINGS = (
    "space={gold: [0.2]}",
    "limit=100",
    "warm.train.epochs=4",
    "measure_solver=false",
    "metric=reached",
)


def equal_trials(count: int) -> TuneConfig:
    """The same trial again and again: seeds differ, which costs nothing."""
    return load_config(TuneConfig, SWEEP, (*SETTINGS, f"seeds={list(range(count))}"))


def directly(config: TuneConfig) -> list[tuple[float, float]]:
    """Of each trial: seconds from the end of the one before, and seconds that it took by itself."""
    import torch

    from toolkit.loop.sets import read_sets
    from tune.plan import trials
    from tune.trial import run_trial

    torch.set_num_threads(1)
    problems, _ = read_sets(config)
    times, last = [], time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for trial in trials(config):
            own = run_trial(problems, None, trial.config, Path(folder) / trial.name)["seconds"]
            times.append((time.perf_counter() - last, own))
            last = time.perf_counter()
    return times


def by_tune(config: TuneConfig) -> list[tuple[float, float]]:
    """The same by Ray Tune, whose cluster has one core."""
    import ray

    from tune.results import TrialResult
    from tune.sweep import create_sweep, run_sweep

    times: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        sweep = create_sweep(Path(folder) / "sweep", config)
        last = time.perf_counter()
        ray.init("local", num_cpus=1, include_dashboard=False, logging_level="ERROR", log_to_driver=False)

        def on_end(outcome: TrialResult) -> None:
            nonlocal last
            assert outcome.state == "done", outcome.error
            times.append((time.perf_counter() - last, outcome.figures["seconds"]))
            last = time.perf_counter()

        run_sweep(sweep, on_end)
        ray.shutdown()
    return times


def measured(how: str, count: int) -> list[tuple[float, float]]:
    """In a process of its own."""
    command = [sys.executable, __file__, "--only", how, "--trials", str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [(whole, own) for whole, own in json.loads(done.stdout.splitlines()[-1])]


def whole_sweep() -> tuple[float, int]:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "toolkit.cli",
            "tune",
            str(SWEEP),
            "--out",
            f"{folder}/sweep",
            "--json",
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout)
    return figures["seconds"], figures["trials"]


def _row(times: list[tuple[float, float]]) -> tuple[str, ...]:
    overheads = [whole - own for whole, own in times]
    means = [statistics.fmean(of) for of in (*zip(*times, strict=True), overheads)]
    return (*(f"{mean:.2f}" for mean in means), f"{max(overheads):.2f}")


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--trials", "count", default=6, show_default=True)
@click.option("--sweep", is_flag=True, help="Also run the default sweep.")
@click.option("--only", type=click.Choice(["tune", "directly"]), hidden=True)
def main(count: int, sweep: bool, only: str | None) -> None:
    if only:
        config = equal_trials(count)
        click.echo(json.dumps(by_tune(config) if only == "tune" else directly(config)))
        return
    plain, tuned = measured("directly", count), measured("tune", count)
    rows = [
        (name, *(f"{statistics.fmean(of):.2f}" for of in zip(*plain[part], strict=True)), *_row(tuned[part]))
        for name, part in (("first", slice(1)), ("later, mean", slice(1, None)))
    ]
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    headers = ("trial", "directly", "its own", "by Tune", "its own", "overhead", "largest")
    print_table(f"{count} equal trials, seconds a trial, {load}", rows, headers)
    if sweep:
        seconds, done = whole_sweep()
        click.echo(f"{SWEEP.relative_to(ROOT)}: {done} trials in {seconds:.0f} s, {load}")


if __name__ == "__main__":
    main()
