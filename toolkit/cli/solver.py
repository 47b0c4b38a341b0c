"""`warmkit solver`: step two of the paper, a solver that needs the text alone."""

import time
from pathlib import Path
from typing import Any

import click

from toolkit.cli.annotations import annotated
from toolkit.cli.output import echo, json_option, note, print_json, solver_progress, waiting
from toolkit.cli.parameters import (
    SEED,
    DiskPath,
    annotations_option,
    auto_constants_option,
    device_option,
    set_option,
    skip_bad_option,
    solver_choice,
    test_option,
    workers_options,
)
from toolkit.cluster.session import ClusterSpec
from toolkit.config import load_config
from toolkit.data import read_candidates, read_problems
from toolkit.data.constants import with_constants_of
from toolkit.equations import Constant
from toolkit.errors import WarmkitError
from toolkit.solvers import SolverInput, SolverProgress, find_solver
from toolkit.storage.folder import check_folder, training_in


@click.group()
def solver() -> None:
    """Train a solver on gold equations, and on those that `warmkit generate` found."""


@solver.command(
    epilog="""\b
Examples:
  warmkit solver fit bundled:en --out models/gts
  warmkit solver fit mine.jsonl --candidates candidates.parquet --kind graph2tree --out models/g2t
  warmkit solver fit mine.jsonl --candidates candidates.parquet --test test.jsonl --out models/gts
  warmkit solver fit mine.jsonl --annotations label-studio/annotations.parquet --out models/gts
  warmkit solver fit mine.jsonl --candidates candidates.parquet --test test.jsonl --out models/gts --resume
  warmkit solver fit large.parquet --out models/large --workers 8 --gpu --address auto --storage s3://bucket/warmkit"""
)
@click.argument("data")
@click.option("--out", required=True, type=DiskPath(), help="The folder of the solver.")
@click.option("--kind", type=solver_choice, default="gts", show_default=True, help="Which solver.")
@click.option("--candidates", type=DiskPath(), help="What `warmkit generate` wrote.")
@annotations_option
@click.option(
    "--gold", is_flag=True, help="With --candidates or --annotations: use the gold equations of DATA too."
)
@test_option
@click.option("--config", "config_file", type=DiskPath(), help="A YAML file.")
@set_option
@click.option("--seed", type=SEED, default=0, show_default=True, help="The same seed gives the same solver.")
@click.option("--resume", is_flag=True, help="Go on with the stopped training in --out.")
@workers_options
@device_option
@auto_constants_option
@skip_bad_option
@json_option
def fit(
    data: str,
    out: Path,
    kind: str,
    candidates: Path | None,
    annotations: Path | None,
    gold: bool,
    test: str | None,
    config_file: Path | None,
    overrides: tuple[str, ...],
    seed: int,
    spec: ClusterSpec | None,
    storage: str | None,
    device: str,
    constants: tuple[Constant, ...] | None,
    skip_bad: bool,
    as_json: bool,
    resume: bool,
) -> None:
    """Train on the equations of DATA; the solver goes to the folder --out.

    What was learnt is kept there after every epoch: a training that is stopped goes on with --resume.

    Without --candidates and --annotations it learns from the gold equations of DATA; with them it learns from
    these alone, unless --gold is given. What annotators agree on comes before gold equations and candidates.
    """
    _check_out(out)
    chosen = find_solver(kind)
    config = load_config(chosen.Config, config_file, overrides)
    with waiting(f"Reading {data}"):
        problems = read_problems(data, skip_bad=skip_bad)
        table = read_candidates(candidates, problems) if candidates else None
        use_gold = gold or (table is None and annotations is None)
        if constants is not None:
            problems = problems.with_constants(constants)
        agreed = annotated(annotations, problems, more_constants=constants is None)
        if constants is None:
            templates = [*(table.templates if table else ()), *agreed.values()]
            problems = with_constants_of(problems, templates, use_gold)
        tested = read_problems(test, skip_bad=skip_bad) if test else None
    with waiting("Loading torch"):
        from toolkit.compute import computing
        from toolkit.nn.device import pick_device
        from toolkit.solvers.evaluate import accuracies

    start = time.perf_counter()
    loss = 0.0
    with (
        computing(spec, pick_device(device), storage, note) as compute,
        training_in(out),
        solver_progress(f"Training {kind}") as show_progress,
    ):
        _check_out(out)  # another process may have trained here meanwhile

        def on_progress(now: SolverProgress) -> None:
            nonlocal loss
            loss = now.loss
            show_progress(now)

        known = (problems.gold_templates if use_gold else {}) | agreed
        trained = compute.fit_solver(
            chosen,
            SolverInput(problems, known, table, config, seed),
            folder=out,
            resume=resume,
            on_progress=on_progress,
            label=out.name,
        )
        trained.save(out)
    figures: dict[str, Any] = {
        "out": str(out),
        "kind": kind,
        "problems": len(problems),
        "loss": loss,
        "seconds": time.perf_counter() - start,
    }
    if tested is not None:
        figures |= accuracies(trained, tested)
    if as_json:
        print_json(figures)
        return
    echo(f"{kind} trained on {len(problems):,} problems in {figures['seconds']:.0f} s. Solver in {out}")
    if tested is not None:
        echo(f"{100 * figures['answer_accuracy']:.1f} % of the answers of {test} are right")


def _check_out(out: Path) -> None:
    """Whether the folder of the solver is free."""
    check_folder(out)
    if (out / "solver.json").exists():
        raise WarmkitError(f"{out}: there is a solver already. Name another folder.")
