"""`warmkit generate`: candidate equations for problems whose answers are known."""

import time
from pathlib import Path

import click
import polars as pl

from toolkit.cli.output import json_option, print_json, print_table, progress, share, waiting
from toolkit.cli.parameters import device_option, out_option, skip_bad_option
from toolkit.data.read import read_problems
from toolkit.data.write import write_table


@click.command(
    epilog="""\b
Examples:
  warmkit generate --model models/en bundled:en --out candidates.parquet
  warmkit generate --model models/en mine.jsonl --search 3 --out candidates.csv --json"""
)
@click.argument("data")
@click.option("--model", "folder", required=True, type=click.Path(path_type=Path), help="What `train` wrote.")
@out_option
@click.option("--width", default=20, show_default=True, type=click.IntRange(min=1), help="Beams a problem.")
@click.option(
    "--search",
    "searched",
    default=0,
    show_default=True,
    type=click.IntRange(0, 3),
    help="Also score what exhaustive search with so many operators finds.",
)
@device_option
@skip_bad_option
@json_option
def generate(
    data: str, folder: Path, out: Path, width: int, searched: int, device: str, skip_bad: bool, as_json: bool
) -> None:
    """Write equations that reach the answers of DATA, each with its posterior, as a candidates table.

    Where DATA has gold equations, the temperature of the posterior is fitted on them.
    """
    with waiting(f"Reading {data}"):
        problems = read_problems(data, skip_bad=skip_bad).problems
    with waiting("Loading the model"):
        from toolkit.active.candidates import count_right, find_candidates, gold_classes
        from toolkit.warm.checkpoint import load_trained
        from toolkit.warm.device import pick_device

        trained = load_trained(folder, pick_device(device))
    start = time.perf_counter()
    gold = gold_classes(problems, trained.model.layout.constants)
    with progress("Generating", len(problems)) as advance:
        found = find_candidates(trained, problems, gold, width=width, searched=searched, on_batch=advance)
    write_table(found.table, out)
    right, unsolved = count_right(found.table, problems, gold), found.unsolved
    known = problems["equation"].drop_nulls().len()
    figures: dict[str, object] = {
        "problems": len(problems),
        "reached": len(problems) - len(unsolved),
        "gold_equivalent": right if known else None,
        "unsolved": len(unsolved),
        "seconds": time.perf_counter() - start,
        "temperature": found.temperature,
        "candidates": len(found.table),
        "unsolved_problems": [{"id": u.problem_id, "best_miss": u.miss} for u in unsolved],
        "out": str(out),
    }
    if as_json:
        print_json(figures)
        return
    _print(figures, found.table, len(problems), known)
    if unsolved:
        print_table("unsolved", [(u.problem_id, u.miss or "") for u in unsolved[:10]], ("id", "best miss"))


def _print(figures: dict[str, object], table: pl.DataFrame, problems: int, known: int) -> None:
    reached, right = figures["reached"], figures["gold_equivalent"]
    assert isinstance(reached, int)
    rows = [
        ("problems", f"{problems:,}", ""),
        ("answer reached", f"{reached:,}", share(reached, problems)),
    ]
    if isinstance(right, int):
        rows.append(("  top class is the gold one", f"{right:,}", share(right, known)))
    confidence = table.group_by("problem_id").agg(pl.col("posterior").max())["posterior"]
    sure = int((confidence >= 0.9).sum())
    rows += [
        ("unsolved", f"{figures['unsolved']:,}", ""),
        ("confidence of 0.9 or more", f"{sure:,}", share(sure, problems)),
        ("candidates a problem", f"{len(table) / max(problems, 1):.1f}", ""),
        ("seconds", f"{figures['seconds']:.1f}", ""),
    ]
    print_table(f"candidates in {figures['out']}", rows)
