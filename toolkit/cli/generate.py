"""`warmkit generate`: candidate equations for problems whose answers are known."""

import time
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolkit.annotators.llm import LlmConfig
from toolkit.cli.output import echo, json_option, note, print_json, print_table, progress, share, waiting
from toolkit.cli.parameters import (
    DiskPath,
    device_option,
    llm_set_option,
    skip_bad_option,
    table_or_folder,
    workers_options,
)
from toolkit.cluster.session import ClusterSpec
from toolkit.config import load_config
from toolkit.data.read import read_parts
from toolkit.data.skipped import bad_rows_beside, skipping
from toolkit.equations import DEFAULT_CONSTANTS
from toolkit.equations.search import MAX_OPERATORS
from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    from toolkit.loop.streaming import Generate, Streamed

PART = 1024  # problems that each worker holds at a time


@click.command(
    epilog="""\b
Examples:
  warmkit generate --model models/en bundled:en --out candidates.parquet
  warmkit generate --model models/en mine.jsonl --search 3 --out candidates.csv --json
  warmkit generate --model models/en large.parquet --out candidates.parquet --workers 8 --address auto
  warmkit generate --model models/parts "parts/*.parquet" --out candidates/ --workers 2
  warmkit generate --model models/parts s3://bucket/parts --out candidates/
  warmkit generate --llm http://127.0.0.1:8080/v1 mine.jsonl --set samples=5 --out candidates.parquet"""
)
@click.argument("data")
@click.option("--model", "folder", type=DiskPath(), help="What `train` wrote.")
@click.option(
    "--llm",
    metavar="URL",
    help="Also, or alone without --model: what a language model proposes. Texts are sent to this address.",
)
@click.option(
    "--out",
    required=True,
    type=DiskPath(),
    callback=table_or_folder,
    help="Ends in .parquet, .jsonl or .csv. Otherwise a new folder of Parquet parts, which workers write "
    "themselves: all nodes of a cluster must see it.",
)
@click.option(
    "--width", default=20, show_default=True, type=click.IntRange(1, 100_000), help="Beams per problem."
)
@click.option(
    "--search",
    "searched",
    type=click.IntRange(0, MAX_OPERATORS),
    help="Also score what exhaustive search with this many operators finds.  [default: as in training]",
)
@llm_set_option
@workers_options
@device_option
@skip_bad_option
@json_option
def generate(
    data: str,
    folder: Path | None,
    llm: str | None,
    out: Path,
    width: int,
    searched: int,
    llm_settings: tuple[str, ...],
    spec: ClusterSpec | None,
    storage: str | None,
    device: str,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Write equations that reach the answers of DATA, each with its posterior, as a candidates table.

    If DATA has gold equations, the temperature of the posterior is fitted on them. Parquet and JSON Lines
    are read, and the table written, part by part, so that the problems need not fit in memory. DATA may be
    a folder or a pattern of such files.

    What a language model proposes counts if it verifies: over the numbers of the text, giving the answer,
    which it is not told. Gold equations of DATA are shown to it as solved problems, never a problem's own.
    What it said is kept in llm.sqlite beside the table, and is not asked again.
    """
    if folder is None and llm is None:
        raise click.UsageError("Name a model: --model FOLDER, or --llm URL.")
    if llm_settings and llm is None:
        raise click.UsageError("--set is for a language model: --llm URL.")
    if llm is not None and not out.suffix:
        raise click.UsageError("What a language model proposes goes to one file: --out candidates.parquet.")
    config = load_config(LlmConfig, None, [*llm_settings, *([f"url={llm}"] if llm else [])])
    with waiting("Loading the model"):
        from toolkit.compute import computing
        from toolkit.loop.streaming import candidates_in_parts, stream_candidates
        from toolkit.methods import GenerateConfig, load_model
        from toolkit.nn.device import pick_device

        torch_device = pick_device(device)
        model = None if folder is None else load_model(folder, torch_device)
    constants = DEFAULT_CONSTANTS if model is None else model.constants
    settings = GenerateConfig(width=width, search=searched)
    start = time.perf_counter()
    proposer = None
    with ExitStack() as stack:
        bad = stack.enter_context(skipping(bad_rows_beside(out) if skip_bad else None))
        with waiting(f"Reading {data}"):
            count, parts = read_parts(data, PART, skipped=bad if skip_bad else None, constants=constants)
        if not count:
            raise WarmkitError(f"{data}: there are no problems to generate for.")
        compute = stack.enter_context(computing(spec, torch_device, storage, note))
        find: Generate | None = None
        if model is not None:
            find = partial(compute.candidates, model, settings=settings)
        if llm is not None:
            from toolkit.loop.proposals import Proposer

            proposer = stack.enter_context(closing(Proposer(config, out.parent, constants)))
            find = proposer.beside(find, note)
        advance = stack.enter_context(progress("Generating", count))
        if model is not None and not out.suffix:
            found = candidates_in_parts(compute, model, settings, parts, out, advance)
        else:
            assert find is not None  # without a model there is a proposer
            found = stream_candidates(find, parts, out, advance)
    seconds = time.perf_counter() - start
    figures: dict[str, Any] = {
        "problems": found.problems,
        "bad": bad.count,
        "reached": found.reached,
        "gold_equivalent": found.right if found.known else None,
        "unsolved": found.not_reached,
        "seconds": seconds,
        "temperature": found.temperature,
        "candidates": found.candidates,
        "unsolved_problems": [
            {"id": unsolved.problem_id, "near_miss": unsolved.miss} for unsolved in found.unsolved
        ],
        "out": str(out),
    }
    if proposer is not None:
        figures["llm"] = proposer.figures
    if as_json:
        print_json(figures)
        return
    _print(found, out, seconds)
    if proposer is not None:
        for sentence in proposer.cost().sentences():
            echo(sentence)
    if bad.count:
        echo(f"{bad.count:,} rows were left out:\n{bad}", err=True)
    if found.unsolved:
        rows = [(unsolved.problem_id, unsolved.miss or "") for unsolved in found.unsolved[:10]]
        print_table("unsolved", rows, ("id", "near miss"))


def _print(found: "Streamed", out: Path, seconds: float) -> None:
    problems, reached = found.problems, found.reached
    rows = [
        ("problems", f"{problems:,}", ""),
        ("answer reached", f"{reached:,}", share(reached, problems)),
    ]
    if found.known:
        rows.append(("  top class is the gold one", f"{found.right:,}", share(found.right, found.known)))
    rows += [
        ("unsolved", f"{found.not_reached:,}", ""),
        ("confidence of 0.9 or more", f"{found.sure:,}", share(found.sure, problems)),
        ("candidates a problem", f"{found.candidates / max(problems, 1):.1f}", ""),
        ("seconds", f"{seconds:.1f}", ""),
    ]
    print_table(f"candidates in {out}", rows)
