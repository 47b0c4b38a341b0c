"""`warmkit solver`: step two of the paper, a solver that needs the text alone."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolkit.cli.output import json_option, print_json, progress, waiting
from toolkit.cli.parameters import (
    constants_option,
    device_option,
    kind_choice,
    set_option,
    skip_bad_option,
    test_option,
)
from toolkit.config import load_config
from toolkit.data.read import read_candidates, read_problems
from toolkit.equations import Constant
from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    from toolkit.solvers.solver import SolverEpoch


@click.group()
def solver() -> None:
    """Train a solver on equations: gold ones, and those that `warmkit generate` found."""


@solver.command(
    epilog="""\b
Examples:
  warmkit solver fit bundled:en --out models/gts
  warmkit solver fit mine.jsonl --candidates candidates.parquet --kind graph2tree --out models/g2t
  warmkit solver fit mine.jsonl --candidates candidates.parquet --test test.jsonl --out models/gts"""
)
@click.argument("data")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder of the solver.")
@click.option("--kind", type=kind_choice, default="gts", show_default=True, help="Which solver.")
@click.option("--candidates", type=click.Path(path_type=Path), help="What `warmkit generate` wrote.")
@click.option("--gold", is_flag=True, help="With --candidates: use the gold equations of DATA too.")
@test_option
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="A YAML file.")
@set_option
@click.option("--seed", type=int, help="The same seed gives the same solver.")
@device_option
@constants_option
@skip_bad_option
@json_option
def fit(
    data: str,
    out: Path,
    kind: str,
    candidates: Path | None,
    gold: bool,
    test: str | None,
    config_file: Path | None,
    overrides: tuple[str, ...],
    seed: int | None,
    device: str,
    constants: tuple[Constant, ...],
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Train on the equations of DATA; the solver goes to the folder --out.

    Without --candidates it learns from the gold equations of DATA, with them from the candidates alone.
    """
    from toolkit.solvers.config import SolverConfig

    if (out / "solver.json").exists():
        raise WarmkitError(f"{out}: there is a solver already. Name another folder.")
    if seed is not None:
        overrides = (*overrides, f"seed={seed}")
    config = load_config(SolverConfig, config_file, overrides)
    with waiting(f"Reading {data}"):
        problems = read_problems(data, skip_bad=skip_bad).problems
        table = read_candidates(candidates, problems) if candidates else None
        tested = read_problems(test, skip_bad=skip_bad).problems if test else None
    with waiting("Loading torch"):
        from toolkit.solvers.evaluate import accuracies
        from toolkit.solvers.solver import Solver
        from toolkit.warm.device import pick_device

    start = time.perf_counter()
    losses: list[float] = []
    with progress(f"Training {kind}", config.epochs * config.members) as advance:

        def on_epoch(epoch: "SolverEpoch") -> None:
            losses.append(epoch.loss)
            advance(1)

        trained = Solver.fit(
            kind,
            problems,
            table,
            config,
            gold=gold or table is None,
            constants=constants,
            device=pick_device(device),
            on_epoch=on_epoch,
        )
    trained.save(out)
    figures: dict[str, Any] = {
        "out": str(out),
        "kind": kind,
        "problems": len(problems),
        "epochs": config.epochs,
        "loss": losses[-1],
        "seconds": time.perf_counter() - start,
    }
    if tested is not None:
        figures |= accuracies(trained, tested)
    if as_json:
        print_json(figures)
        return
    click.echo(f"{kind} trained on {len(problems):,} problems in {figures['seconds']:.0f} s. Solver in {out}")
    if tested is not None:
        click.echo(f"{100 * figures['answer_accuracy']:.1f} % of the answers of {test} are right")
