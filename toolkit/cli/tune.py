"""`warmkit tune`: a sweep over settings with Ray Tune, and its results."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from toolkit.cli.output import echo, json_option, note, percent, print_json, print_table, waiting
from toolkit.cli.parameters import (
    COUNT,
    DiskPath,
    FiniteRange,
    address_option,
    dashboard_option,
    set_option,
    verbose_option,
)
from toolkit.cluster.session import ClusterSpec
from toolkit.config import load_config
from toolkit.screen import Screen

if TYPE_CHECKING:
    from tune.results import TrialResult
    from tune.sweep import Sweep

MOST_ROWS = 10
MOST_KEYS = 4
SHARES = ("reached", "gold_equivalent", "answer_accuracy")
HEADERS = ("reached", "gold-equivalent", "solver", "seconds")


@click.command(
    epilog="""\b
Examples:
  warmkit tune configs/tune/gold_beam.yaml
  warmkit tune configs/tune/gold_beam.yaml --name first --time-budget 300
  warmkit tune configs/tune/gold_beam.yaml --name first --resume
  warmkit tune mine.yaml --out /shared/sweep --address auto
  warmkit tune mine.yaml --set data=mine.jsonl --set 'seeds=[0, 1, 2]' --trials 20 --json
  warmkit loop --config runs/tune/first/best.yaml"""
)
@click.argument("file", type=DiskPath())
@click.option("--name", help="The name of the sweep. [default: the name of FILE]")
@click.option(
    "--out",
    type=DiskPath(),
    help="The folder of the sweep. All nodes of a cluster must see it. [default: runs/tune/NAME]",
)
@click.option(
    "--resume", is_flag=True, help="Go on with a sweep that was stopped; failed trials are run again."
)
@click.option("--trials", type=COUNT, help="Run at most this many trials (budget.trials).")
@click.option(
    "--time-budget",
    type=FiniteRange(0, 1e9, min_open=True),
    metavar="SECONDS",
    help="Stop after this time (budget.seconds); go on with --resume.",
)
@set_option
@address_option
@dashboard_option
@verbose_option
@json_option
def tune(
    file: Path,
    name: str | None,
    out: Path | None,
    resume: bool,
    trials: int | None,
    time_budget: float | None,
    overrides: tuple[str, ...],
    address: str | None,
    dashboard: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Try the settings that FILE names, each with some seeds, and show the best.

    The sweep's folder holds results.parquet, page.html with maps and curves, and best.yaml, which
    `warmkit loop --config` takes. A sweep that was stopped, or killed, goes on with --resume.
    """
    from toolkit.loop.run import checked_name
    from tune.config import TuneConfig
    from tune.sweep import create_sweep, open_sweep, run_sweep
    from tune.write import write_results

    given = {"budget.trials": trials, "budget.seconds": time_budget}
    settings = [*overrides, *(f"{key}={value}" for key, value in given.items() if value is not None)]
    config = load_config(TuneConfig, file, settings)
    folder = out or Path("runs") / "tune" / checked_name(name or file.stem)
    spec = ClusterSpec(address=address, dashboard=dashboard, verbose=verbose)
    start = time.perf_counter()
    with waiting(f"Reading {config.data}"):
        sweep = open_sweep(folder, config) if resume else create_sweep(folder, config)
    interrupted = False
    with _progress(sweep) as on_end:
        try:
            run_sweep(sweep, on_end, spec, note)
        except KeyboardInterrupt:
            interrupted = True
    figures = {**write_results(sweep), "seconds": time.perf_counter() - start}
    if as_json:
        print_json(figures)
    else:
        _print_best(sweep)
        _print_end(figures, sweep.planned, sweep.left(), interrupted)
    if interrupted:
        sys.exit(130)


def _print_best(sweep: "Sweep") -> None:
    """The best settings. Each key has its own column, unless there are too many keys."""
    from tune.plan import describe, short, written
    from tune.results import ranked

    keys = list(sweep.config.space)
    by_key = len(keys) <= MOST_KEYS
    heads = [short(key).replace("_", " ") for key in keys] if by_key else ["setting"]
    rows = []
    for setting in ranked(sweep.config, sweep.results())[:MOST_ROWS]:
        named = [written(setting.keys[key]) for key in keys] if by_key else [describe(setting.keys)]
        shares = [percent(setting.mean(name)) for name in SHARES]
        seconds = setting.mean("seconds")
        rows.append((*named, *shares, "–" if seconds is None else f"{seconds:.1f}"))
    print_table(f"sweep {sweep.folder.name}", rows, (*heads, *HEADERS))


def _print_end(figures: dict[str, Any], planned: int, left: int, interrupted: bool) -> None:
    if figures["failed"]:
        echo(f"{figures['failed']} trials failed; {figures['results']} says why.", err=True)
    if left:
        reason = "It was stopped from the keyboard" if interrupted else "The time was up, or trials failed"
        echo(f"{reason}: {left} of {planned} trials are left. Go on with --resume.")
    if figures["best"]:
        best = figures["best"]
        echo(f"Best by {best['metric']}: warmkit loop --config {best['config']}")
    echo(f"Page in {figures['page']} ({figures['seconds']:.0f} s)")


@contextmanager
def _progress(sweep: "Sweep") -> Iterator[Callable[["TrialResult"], None]]:
    """A bar on the error stream with the best setting so far; in a pipe, one line per trial."""
    from tune.plan import describe
    from tune.results import ranked

    screen = Screen(stderr=True)
    metric = sweep.config.metric
    known = sweep.results()
    columns = (TextColumn("trials"), BarColumn(bar_width=20), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(
        *columns,
        TextColumn("{task.fields[best]}", markup=False),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
    with bar:
        total = sweep.planned
        task = bar.add_task("trials", total=total, completed=total - sweep.left(), best="starting Ray")

        def on_end(ended: "TrialResult") -> None:
            known.append(ended)
            best = next(iter(ranked(sweep.config, known)), None)
            value = best.mean(metric) if best else None
            shown = "" if value is None else f"{value:.1f} s" if metric == "seconds" else percent(value)
            so_far = f"best so far {shown}: {describe(best.keys)}" if best else ""
            bar.update(task, advance=1, best=so_far)
            if not screen.is_terminal:
                trial, figures = ended.trial, ended.figures
                name = f"trial {trial.number} of {total} {ended.state}: {trial.setting}, seed {trial.seed}"
                result = ended.error or f"reached {percent(figures['reached'])} ({figures['seconds']:.1f} s)"
                line = f"{name}: {result}"
                echo(f"{line}; {so_far}" if so_far else line, err=True)

        yield on_end
