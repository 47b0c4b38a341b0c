"""What a loop on many problems costs: the peak of memory of its process, choosing, the report, `runs show`.

    python bench/loops.py --sizes 10000,100000
    python bench/loops.py --sizes 10000,100000 --workers 2        training and generation by two Ray workers
    python bench/loops.py --sizes 1000,100000 --steps report      without any training, in minutes

    loop    `warmkit loop` on problems of `warmkit data generate`: a small model of one epoch, a solver that
            learns from 2,000 problems, a round of 20 questions to the oracle; then `warmkit runs show`
    report  a run that is made: bundled:en repeated, two candidates for each problem. A process chooses 20 of
            them and asks the oracle, another one writes the page and equations.parquet, after it has made
            the page alone (page_core_seconds); then `warmkit runs show`

What matters is how figures grow, not how large they are.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click
import polars as pl
from scale import MB, Step, growth, measured_process, run, show_step

from toolkit.config import load_config
from toolkit.data import ProblemSet, read_problems, write_table
from toolkit.data.stored import PART
from toolkit.equations import klass, parse_template
from toolkit.loop.config import LoopConfig
from toolkit.loop.generation import candidates_of
from toolkit.loop.part import FoundPart, found_part
from toolkit.loop.run import create_run
from toolkit.loop.state import RunState
from toolkit.methods import Generated
from toolkit.methods.base import Scored

SETTINGS = (
    *("constants=1,π", "warm.model.hidden=16", "warm.model.embedding=16", "warm.model.max_steps=2"),
    *("warm.train.search=0", "warm.train.epochs=1", "later_epochs=1", "warm.explore.beam_width=1"),
    *("warm.explore.lookahead=false", "generate.width=1", "active.batch=20", "stop.rounds=1"),
    *("references=false", "solver_each_round=false", "solver_limit=2000", "solver.hidden=16"),
    *("solver.embedding=16", "solver.members=1", "solver.epochs=1", "solver.beam=2"),
)
BY_CHANCE = parse_template("N0 + N0")

CHOOSE = """
import json, sys
from toolkit.active.acquire import find_strategy
from toolkit.loop.loop import Loop
from toolkit.loop.run import load_run
from toolkit.loop.selection import choose_batch

loop = Loop(load_run(sys.argv[1]))
loop.state.history(1)
batch = choose_batch(loop.state, 1, None, find_strategy("margin"))  # which needs no model
with loop.ledger.transaction():
    loop.ledger.add_batch(batch)
    chosen = [(item.problem_id, item.why, item.kind, item.candidates) for item in batch]
    loop.ledger.finish(1, "choose", 0.0, {"batch": chosen})
loop._annotate(1)
print(json.dumps({"asked": float(len(batch))}))
"""

REPORT = """
import json, sys, time
from toolkit.loop.results import run_figures, write_results
from toolkit.loop.run import load_run
from toolkit.loop.state import RunState
from toolkit.report.page import render

run = load_run(sys.argv[1])
begun = time.process_time()
render(run_figures(RunState(run)))
page = time.process_time() - begun
write_results(RunState(run))
print(json.dumps({"page_core_seconds": page, "report_mb": run.report.stat().st_size / 1e6}))
"""


def loop_steps(size: int, folder: Path, workers: int) -> Iterator[Step]:
    data, test, runs = folder / "problems.parquet", folder / "test.csv", folder / "runs"
    run(size, "data", "generate", "--count", size, "--seed", 1, "--out", data)
    run(100, "data", "generate", "--count", 100, "--seed", 2, "--out", test)
    test.write_text(test.read_text().replace("en-", "test-"))  # other ids
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    on_workers = ("--workers", workers) if workers else ()
    words = ("loop", data, "--test", test, "--run", "a", "--runs", runs, *settings, *on_workers)
    step, shown = run(size, *words), run(size, "runs", "show", "a", "--runs", runs)
    report = (runs / "a" / "report.html").stat().st_size / MB
    step.figures = {"reached": step.figures["reached"], "report_mb": report} | shown.figures["stage_seconds"]
    shown.figures = {}
    yield from (step, shown)


def report_steps(size: int, folder: Path) -> Iterator[Step]:
    made = made_run(size, folder)
    for name, script in (("choose", CHOOSE), ("report", REPORT)):
        yield measured_process(name, size, [sys.executable, "-c", script, str(made)])
    shown = run(size, "runs", "show", "a", "--runs", made.parent)
    shown.figures = {}
    yield shown


def made_run(size: int, folder: Path) -> Path:
    """A run whose first round has found candidates, without any model."""
    bundled = read_problems("bundled:en").table
    copies = [
        bundled.with_columns(id=pl.lit(f"{i}-") + pl.col("id")) for i in range(size // len(bundled) + 1)
    ]
    write_table(pl.concat(copies).head(size), folder / "problems.parquet")
    write_table(bundled.head(100), folder / "test.parquet")
    settings = (*SETTINGS, f"data={folder / 'problems.parquet'}", f"test={folder / 'test.parquet'}")
    made = create_run(folder / "runs", "a", load_config(LoopConfig, None, settings))
    state, ledger = RunState(made), made.ledger
    with ledger.transaction():
        ledger.finish(1, "open", 0.0, state.snapshot())
        ledger.finish(1, "train", 0.0, {"epochs": 1})
    state.found(1).write(map(_found, made.stored.parts(PART)))
    figures = {"temperature": 1.0, **state.measured(1)}
    with ledger.transaction():
        ledger.finish(1, "generate", 0.0, figures)
        ledger.measure(1, "pool", figures)
    ledger.close()
    return made.folder


def _found(problems: ProblemSet) -> FoundPart:
    """The gold equation, and one by chance that is nearly as likely, as if a method had found them."""
    generated = []
    for row, (problem_id, gold) in enumerate(zip(problems.ids, problems.gold, strict=True)):
        templates = [BY_CHANCE] if gold is None else [gold, BY_CHANCE]
        scored = [Scored(one, klass(one), -1.0 - row % 7 * i, "warm") for i, one in enumerate(templates)]
        generated.append(Generated(problem_id, tuple(scored)))
    return found_part(problems, {}, candidates_of(generated, problems, 1.0))


@click.command()
@click.option("--sizes", default="10000,100000", show_default=True, help="Problems, separated by commas.")
@click.option("--steps", default="loop,report", show_default=True)
@click.option("--workers", default=0, show_default=True, help="Ray workers of the loop; 0: none.")
@click.option("--out", type=click.Path(path_type=Path), help="A JSON file of all figures.")
def main(sizes: str, steps: str, workers: int, out: Path | None) -> None:
    """Measure growth: the figures of each size, and those of the largest as a ratio to the smallest."""
    measured: list[Step] = []
    for size in map(int, sizes.split(",")):
        for name in steps.split(","):
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                done = loop_steps(size, folder, workers) if name == "loop" else report_steps(size, folder)
                for step in done:
                    measured.append(step)
                    show_step(step)
    if out is not None:
        out.write_text(json.dumps([asdict(step) for step in measured], indent=1))
    growth(measured)


if __name__ == "__main__":
    main()
