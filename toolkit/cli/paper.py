"""`warmkit paper`: the tables of the paper, measured."""

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolkit.cli.output import echo, json_option, print_json, print_table, waiting
from toolkit.cli.parameters import WORKERS, DiskPath, FiniteRange, address_option, device_option, set_option
from toolkit.cli.pieces import executing, measuring
from toolkit.cluster.session import ClusterSpec
from toolkit.config import load_config
from toolkit.paper.tables import SETS, find_tables

if TYPE_CHECKING:
    from toolkit.paper.cells import Cell, Files, Result
    from toolkit.paper.figures import ShownTable
    from toolkit.paper.plan import Plan
    from toolkit.pieces.run import Executor

HEADERS = ("system", "set", "here", "95 %", "cells", "time", "paper")


@click.command(
    epilog="""\b
Examples:
  warmkit paper --data data --table 1 --budget 30
  warmkit paper --data data --table 1 --budget 60 --resume
  warmkit paper --data data --table 2 --on allarith --seeds 3 --out runs/three-seeds
  warmkit paper --data data --table 6 --row ensemble --on hw10k --out runs/hindi
  warmkit paper --data data --config configs/two-cores.yaml --set held_out=1
  warmkit paper --data data --table 1 --table 2 --workers 2 --json"""
)
@click.option(
    "--table",
    "numbers",
    type=click.IntRange(1, 6),
    multiple=True,
    help="Only this table (1 to 6); may be repeated.",
)
@click.option(
    "--on",
    "sets",
    type=click.Choice(SETS),
    multiple=True,
    help="Only this problem set; may be repeated.",
)
@click.option(
    "--row",
    "rows",
    multiple=True,
    metavar="NAME",
    help="Only the row of this name, or rows whose name has it; may be repeated.",
)
@click.option(
    "--data",
    default="data",
    show_default=True,
    type=DiskPath(),
    help="The folder with allarith.jsonl, math23k.jsonl, ew10k.jsonl and hw10k.jsonl.",
)
@click.option(
    "--budget",
    type=FiniteRange(0, 1e9),
    metavar="MINUTES",
    help="Begin no cell after this time; go on with --resume.",
)
@click.option(
    "--out",
    default="runs/paper",
    show_default=True,
    type=DiskPath(),
    help="The folder of the measurements. All nodes of a cluster must see it.",
)
@click.option("--resume", is_flag=True, help="Go on in a folder that has measurements; none is done again.")
@click.option(
    "--seeds",
    type=click.IntRange(1, 1_000),
    default=1,
    show_default=True,
    help="Measure with so many seeds.",
)
@click.option("--config", "config_file", type=DiskPath(), help="A YAML file: configs/two-cores.yaml.")
@set_option
@click.option("--workers", type=WORKERS, help="Measure this many cells at once, on Ray.")
@address_option
@device_option
@json_option
def paper(
    numbers: tuple[int, ...],
    sets: tuple[str, ...],
    rows: tuple[str, ...],
    data: Path,
    budget: float | None,
    out: Path,
    resume: bool,
    seeds: int,
    config_file: Path | None,
    overrides: tuple[str, ...],
    workers: int | None,
    address: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Measure the tables of the paper, and show its numbers beside.

    1: equation generation, 2: solving, 3 and 4: both with semi-supervision, 5: the figure of the appendix,
    6: every solver on the equations that WARM finds, which is in no paper.

    A cell is a system on a fold of a problem set. Each is saved when it is done, so --resume goes on after a
    kill, with more tables, seeds or time. The cheapest cells come first. OUT holds paper.html and paper.md.
    """
    from toolkit.paper.config import PaperConfig
    from toolkit.paper.figures import in_words
    from toolkit.paper.plan import make_plan
    from toolkit.paper.run import paper_folder, results_of, results_to_go_on
    from toolkit.paper.write import write_paper
    from toolkit.pieces.run import run

    tables = find_tables(numbers, sets, rows)
    settings = load_config(PaperConfig, config_file, overrides)
    start = time.perf_counter()
    with waiting(f"Reading {data}"):
        plan = make_plan(tables, data, seeds, settings)
    spec = ClusterSpec(workers or 1, address=address) if workers or address else None
    interrupted = False
    with paper_folder(out, resume) as files:
        results = results_to_go_on(plan, results_of(plan, files), files)
        done = sum(result.is_done for result in results.values())
        if done < len(plan.order) and budget != 0:
            try:
                with (
                    _executor(plan, files, device, spec) as executor,
                    measuring("cell", len(plan.order), done, _told) as watch,
                ):
                    seconds = None if budget is None else 60 * budget
                    run(plan, results, executor, seconds=seconds, on_begin=watch.begin, on_end=watch.end)
            except KeyboardInterrupt:
                interrupted = True
        written = write_paper(plan, files, _command(numbers, sets, rows, data, seeds, config_file, overrides))
    spent = time.perf_counter() - start
    if as_json:
        print_json({"out": str(out), **written.as_dict(), "seconds": spent})
    else:
        for table in written.tables:
            _print_table(table)
        left = " Go on with --resume." if written.counts["left"] or written.counts["failed"] else ""
        echo(f"{in_words(written.counts)}.{left}")
        echo(f"Page in {written.page} ({spent:.0f} s)")
    if interrupted:
        sys.exit(130)


@contextmanager
def _executor(
    plan: "Plan", files: "Files", device: str, spec: ClusterSpec | None
) -> Iterator["Executor[Cell, Result]"]:
    """Where the cells are measured."""
    with waiting("Loading torch"):
        from toolkit.compute import LocalCompute
        from toolkit.nn.device import pick_device
        from toolkit.paper.cells import Files
        from toolkit.paper.run import CellWorker

    compute = LocalCompute(pick_device("cpu" if spec else device))
    worker = CellWorker(plan.sets, plan.settings, Files(files.folder.absolute()), compute)
    with executing(worker, worker.files.folder, spec) as executor:
        yield executor


def _command(
    numbers: tuple[int, ...],
    sets: tuple[str, ...],
    rows: tuple[str, ...],
    data: Path,
    seeds: int,
    config_file: Path | None,
    overrides: tuple[str, ...],
) -> str:
    options: list[tuple[str, object]] = [("--table", number) for number in numbers]
    options += [("--on", name) for name in sets]
    options += [("--row", name) for name in rows]
    options += [("--data", data), ("--seeds", seeds)]
    options += [("--config", config_file)] if config_file else []
    options += [("--set", override) for override in overrides]
    return shlex.join(["warmkit", "paper", *(str(word) for option in options for word in option)])


def _print_table(shown: "ShownTable") -> None:
    """One line for each place: that fits a screen, whatever the number of sets."""
    rows = []
    for row in shown.rows:
        for column, place in row.places.items():
            cells = f"{place.done} of {place.planned}" if place.planned else ""
            figures = (place.figure, place.interval, cells, place.time, place.paper_figure)
            rows.append((row.row.name, column, *figures))
    print_table(f"Table {shown.table.number}: {shown.table.title}", rows, HEADERS)


def _told(result: "Result") -> str:
    found = f"{result.right} of {result.of}" if result.is_done else f"failed: {result.error}"
    return f"{found} ({result.seconds:.0f} s)"
