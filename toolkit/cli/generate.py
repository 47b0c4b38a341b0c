"""`warmkit generate`: candidate equations for problems whose answers are known."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolkit.cli.output import json_option, note, print_json, print_table, progress, share, waiting
from toolkit.cli.parameters import device_option, out_option, skip_bad_option, workers_options
from toolkit.cluster.session import ClusterSpec
from toolkit.data.read import read_parts
from toolkit.equations.search import MAX_OPERATORS
from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    from toolkit.loop.generation import Streamed

PART = 1024  # problems that each worker holds at a time


@click.command(
    epilog="""\b
Examples:
  warmkit generate --model models/en bundled:en --out candidates.parquet
  warmkit generate --model models/en mine.jsonl --search 3 --out candidates.csv --json
  warmkit generate --model models/en large.parquet --out candidates.parquet --workers 8 --address auto"""
)
@click.argument("data")
@click.option("--model", "folder", required=True, type=click.Path(path_type=Path), help="What `train` wrote.")
@out_option
@click.option(
    "--width", default=20, show_default=True, type=click.IntRange(1, 100_000), help="Beams per problem."
)
@click.option(
    "--search",
    "searched",
    default=0,
    show_default=True,
    type=click.IntRange(0, MAX_OPERATORS),
    help="Also score what exhaustive search with this many operators finds.",
)
@workers_options
@device_option
@skip_bad_option
@json_option
def generate(
    data: str,
    folder: Path,
    out: Path,
    width: int,
    searched: int,
    spec: ClusterSpec | None,
    storage: str | None,
    device: str,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Write equations that reach the answers of DATA, each with its posterior, as a candidates table.

    If DATA has gold equations, the temperature of the posterior is fitted on them. A Parquet file is
    read, and the table written, part by part, so that the problems need not fit in memory.
    """
    with waiting("Loading the model"):
        from toolkit.compute import computing
        from toolkit.loop.generation import stream_candidates
        from toolkit.methods import GenerateConfig, load_model
        from toolkit.nn.device import pick_device

        torch_device = pick_device(device)
        model = load_model(folder, torch_device)
    with waiting(f"Reading {data}"):
        count, parts = read_parts(data, PART, skip_bad=skip_bad, constants=model.constants)
    if not count:
        raise WarmkitError(f"{data}: there are no problems to generate for.")
    settings = GenerateConfig(width=width, search=searched)
    start = time.perf_counter()
    with computing(spec, torch_device, storage, note) as compute, progress("Generating", count) as advance:
        found = stream_candidates(lambda sets: compute.candidates(model, sets, settings), parts, out, advance)
    seconds = time.perf_counter() - start
    figures = {
        "problems": found.problems,
        "reached": found.problems - len(found.unsolved),
        "gold_equivalent": found.right if found.known else None,
        "unsolved": len(found.unsolved),
        "seconds": seconds,
        "temperature": found.temperature,
        "candidates": found.candidates,
        "unsolved_problems": [
            {"id": unsolved.problem_id, "near_miss": unsolved.miss} for unsolved in found.unsolved
        ],
        "out": str(out),
    }
    if as_json:
        print_json(figures)
        return
    _print(found, out, seconds)
    if found.unsolved:
        rows = [(unsolved.problem_id, unsolved.miss or "") for unsolved in found.unsolved[:10]]
        print_table("unsolved", rows, ("id", "near miss"))


def _print(found: "Streamed", out: Path, seconds: float) -> None:
    problems, reached = found.problems, found.problems - len(found.unsolved)
    rows = [
        ("problems", f"{problems:,}", ""),
        ("answer reached", f"{reached:,}", share(reached, problems)),
    ]
    if found.known:
        rows.append(("  top class is the gold one", f"{found.right:,}", share(found.right, found.known)))
    rows += [
        ("unsolved", f"{len(found.unsolved):,}", ""),
        ("confidence of 0.9 or more", f"{found.sure:,}", share(found.sure, problems)),
        ("candidates a problem", f"{found.candidates / max(problems, 1):.1f}", ""),
        ("seconds", f"{seconds:.1f}", ""),
    ]
    print_table(f"candidates in {out}", rows)
