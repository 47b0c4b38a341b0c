"""`warmkit train`: step one of the paper, from problems with answers to a model."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import polars as pl
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from toolkit.cli.output import console, json_option, note, print_json, progress, waiting
from toolkit.cli.parameters import (
    constants_option,
    device_option,
    gold_share,
    kind_choice,
    set_option,
    skip_bad_option,
    test_option,
    workers_options,
)
from toolkit.cluster.session import Where
from toolkit.config import load_config
from toolkit.data.read import read_problems
from toolkit.data.split import chosen_share
from toolkit.data.write import write_table
from toolkit.equations import Constant
from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    from toolkit.warm.checkpoint import Trained


@click.command(
    epilog="""\b
Examples:
  warmkit train bundled:en --out models/en
  warmkit train allarith.jsonl --out models/allarith --gold 0.1 --set train.epochs=40
  warmkit train allarith.jsonl --out models/allarith --then-solver gts --test test.jsonl
  warmkit train allarith.jsonl --out models/paper --config configs/paper/warm.yaml
  warmkit train allarith.jsonl --out models/allarith --gold 0.1 --set train.epochs=40 --resume
  warmkit train large.parquet --out models/large --workers 8 --gpu --address auto --storage s3://bucket/warmkit"""
)
@click.argument("data")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder of the model.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="A YAML file (see configs/).")
@set_option
@click.option("--seed", type=int, help="The same seed gives the same model (train.seed).")
@click.option(
    "--gold",
    callback=gold_share,
    default="none",
    show_default=True,
    metavar="all|none|FRACTION",
    help="How many of DATA's equations may be used (D_s). none: answers only, WARM; else WARM-S.",
)
@click.option("--resume", is_flag=True, help="Go on with the run in --out that was stopped.")
@click.option(
    "--then-solver",
    type=kind_choice,
    help="Go on with step two: OUT/candidates.parquet and, trained on it, OUT/solver.",
)
@test_option
@workers_options
@device_option
@constants_option
@skip_bad_option
@json_option
def train(
    data: str,
    out: Path,
    config_file: Path | None,
    overrides: tuple[str, ...],
    seed: int | None,
    gold: float,
    resume: bool,
    then_solver: str | None,
    test: str | None,
    where: Where | None,
    storage: str | None,
    device: str,
    constants: tuple[Constant, ...],
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Learn from the answers of DATA to find its equations; the model goes to the folder --out.

    It is saved after every epoch: a run that is stopped goes on with --resume. TensorBoard reads
    the folder OUT/tensorboard.
    """
    from toolkit.warm.config import WarmConfig

    if seed is not None:
        overrides = (*overrides, f"train.seed={seed}")
    config = load_config(WarmConfig, config_file, overrides)
    if (out / "model.json").exists() and not resume:
        raise WarmkitError(f"{out}: there is a model already. Go on with --resume, or name another folder.")
    if test and not then_solver:
        raise click.UsageError("--test is for the solver: give --then-solver too.")
    if resume and not (out / "model.json").exists() and not where:
        raise WarmkitError(f"{out}: there is no model here to go on with. Leave out --resume.")
    with waiting(f"Reading {data}"):
        problems = read_problems(data, skip_bad=skip_bad).problems
        tested = read_problems(test, skip_bad=skip_bad).problems if test else None
    with waiting("Loading torch"):
        from torch.utils.tensorboard.writer import SummaryWriter

        from toolkit.compute import computing
        from toolkit.warm.device import pick_device
        from toolkit.warm.train import Epoch

    shown = chosen_share(problems, gold, config.train.seed)
    start = time.perf_counter()
    with (
        computing(where, pick_device(device), storage, note) as compute,
        SummaryWriter(str(out / "tensorboard")) as writer,
        _bars(config.train.epochs, len(problems)) as bars,
    ):

        def on_epoch(figures: Epoch) -> None:
            for name, value in (("loss", figures.loss), ("reached", figures.reached)):
                writer.add_scalar(name, value, figures.epoch)
            writer.add_scalar("problems_per_second", figures.problems_per_second, figures.epoch)
            bars.epoch(figures.epoch, figures.loss, figures.reached, figures.problems_per_second)

        trained = compute.train(
            problems,
            config,
            out,
            label=out.name,
            gold=shown,
            constants=constants,
            resume=resume,
            on_batch=bars.batch,
            on_epoch=on_epoch,
        )
    last: dict[str, Any] = trained.history[-1]
    figures = {
        "out": str(out),
        "problems": len(problems),
        "gold": trained.gold,
        "epochs": last["epoch"],
        "loss": last["loss"],
        "reached": last["reached"],
    }
    if then_solver:
        figures |= _step_two(then_solver, trained, problems, shown, out, tested)
    figures["seconds"] = time.perf_counter() - start
    if as_json:
        print_json(figures)
        return
    click.echo(
        f"{len(problems):,} problems, {trained.gold:,} with gold equations: after {last['epoch']} epochs "
        f"{100 * last['reached']:.1f} % reach their answer ({figures['seconds']:.0f} s). Model in {out}"
    )
    if then_solver:
        click.echo(f"{then_solver} in {figures['solver']}")
    if "answer_accuracy" in figures:
        click.echo(f"{100 * figures['answer_accuracy']:.1f} % of the answers of {test} are right")


def _step_two(
    kind: str,
    trained: "Trained",
    problems: pl.DataFrame,
    shown: Sequence[bool],
    out: Path,
    tested: pl.DataFrame | None,
) -> dict[str, Any]:
    """Candidates and a solver beside the model; the gold equations that training did not see stay unseen."""
    from toolkit.active.candidates import find_candidates, gold_classes
    from toolkit.solvers.config import SolverConfig
    from toolkit.solvers.evaluate import accuracies
    from toolkit.solvers.solver import Solver

    constants = trained.model.layout.constants
    seen = problems.with_columns(pl.when(pl.Series(shown)).then("equation").alias("equation"))
    with progress("Generating", len(problems)) as advance:
        found = find_candidates(trained, seen, gold_classes(seen, constants), on_batch=advance)
    write_table(found.table, out / "candidates.parquet")
    config = SolverConfig(seed=trained.config.train.seed)
    with progress(f"Training {kind}", config.epochs * config.members) as advance:
        solver = Solver.fit(
            kind,
            seen,
            found.table,
            config,
            gold=any(shown),
            constants=constants,
            device=next(trained.model.parameters()).device,
            on_epoch=lambda epoch: advance(1),
        )
    solver.save(out / "solver")
    figures: dict[str, Any] = {"candidates": len(found.table), "solver": str(out / "solver")}
    return figures | (accuracies(solver, tested) if tested is not None else {})


class _Bars:
    """Two bars on the error stream: epochs with their figures, and problems within the epoch."""

    def __init__(self, bars: Progress, epochs: int, problems: int) -> None:
        self.bars = bars
        self.epochs = bars.add_task("training", total=epochs, figures="")
        self.problems = bars.add_task("  epoch", total=problems, figures="")

    def batch(self, count: int) -> None:
        self.bars.advance(self.problems, count)

    def epoch(self, epoch: int, loss: float, reached: float, speed: float) -> None:
        figures = f"loss {loss:.3f}  reached {100 * reached:.1f} %  {speed:.0f} problems/s"
        self.bars.update(self.epochs, completed=epoch, figures=figures)
        self.bars.reset(self.problems)
        if not self.bars.console.is_terminal:
            click.echo(f"epoch {epoch}: {figures}", err=True)


@contextmanager
def _bars(epochs: int, problems: int) -> Iterator[_Bars]:
    screen = console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}"),
    )
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bars:
        yield _Bars(bars, epochs, problems)
