"""`warmkit solver`: step two of the paper, a solver that needs the text alone."""

import time
from pathlib import Path

import click

from toolkit.cli.output import json_option, print_json, progress, waiting
from toolkit.cli.parameters import constants_option, set_option, skip_bad_option
from toolkit.config import load_config
from toolkit.data.read import read_candidates, read_problems
from toolkit.equations import Constant
from toolkit.errors import WarmkitError


@click.group()
def solver() -> None:
    """Train a solver on equations: gold ones, and those that `warmkit generate` found."""


@solver.command(
    epilog="""\b
Examples:
  warmkit solver fit bundled:en --gold --out models/gts
  warmkit solver fit mine.jsonl --candidates candidates.parquet --solver graph2tree --out models/g2t"""
)
@click.argument("data")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder of the solver.")
@click.option("--solver", "kind", type=click.Choice(["gts", "graph2tree"]), default="gts", show_default=True)
@click.option("--candidates", type=click.Path(path_type=Path), help="What `warmkit generate` wrote.")
@click.option("--gold", is_flag=True, help="Use the gold equations of DATA (else candidates alone).")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="A YAML file.")
@set_option
@click.option("--seed", type=int, help="The same seed gives the same solver.")
@constants_option
@skip_bad_option
@json_option
def fit(
    data: str,
    out: Path,
    kind: str,
    candidates: Path | None,
    gold: bool,
    config_file: Path | None,
    overrides: tuple[str, ...],
    seed: int | None,
    constants: tuple[Constant, ...],
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Train on the equations of DATA; the solver goes to the folder --out."""
    from toolkit.solvers.config import SolverConfig

    if not gold and candidates is None:
        raise click.UsageError("Say what to learn from: --gold, --candidates FILE, or both.")
    if (out / "solver.json").exists():
        raise WarmkitError(f"{out}: there is a solver already. Name another folder.")
    if seed is not None:
        overrides = (*overrides, f"seed={seed}")
    config = load_config(SolverConfig, config_file, overrides)
    with waiting(f"Reading {data}"):
        problems = read_problems(data, skip_bad=skip_bad).problems
        table = read_candidates(candidates) if candidates else None
    with waiting("Loading torch"):
        from toolkit.solvers.solver import Solver, SolverEpoch

    start = time.perf_counter()
    losses: list[float] = []
    with progress(f"Training {kind}", config.epochs) as advance:

        def on_epoch(epoch: SolverEpoch) -> None:
            losses.append(epoch.loss)
            advance(1)

        trained = Solver.fit(
            kind,
            problems,
            table,
            config,
            gold=gold,
            constants=constants,
            on_epoch=on_epoch,
        )
    trained.save(out)
    figures = {
        "out": str(out),
        "solver": kind,
        "problems": len(problems),
        "epochs": len(losses),
        "loss": losses[-1],
        "seconds": time.perf_counter() - start,
    }
    if as_json:
        print_json(figures)
    else:
        click.echo(
            f"{kind} trained on {len(problems):,} problems in {figures['seconds']:.0f} s. Solver in {out}"
        )
