"""`warmkit train`: step one of the paper, from problems with answers to a model."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from toolkit.cli.output import console, json_option, print_json, waiting
from toolkit.cli.parameters import constants_option, device_option, gold_share, set_option, skip_bad_option
from toolkit.config import load_config
from toolkit.data.read import read_problems
from toolkit.data.split import chosen_share
from toolkit.equations import Constant
from toolkit.errors import WarmkitError


@click.command(
    epilog="""\b
Examples:
  warmkit train bundled:en --out models/en
  warmkit train allarith.jsonl --out models/allarith --gold 0.1 --set train.epochs=40
  warmkit train allarith.jsonl --out models/paper --config configs/paper/warm.yaml
  warmkit train allarith.jsonl --out models/allarith --gold 0.1 --set train.epochs=40 --resume"""
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
    if resume and not (out / "model.json").exists():
        raise WarmkitError(f"{out}: there is no model here to go on with. Leave out --resume.")
    with waiting(f"Reading {data}"):
        problems = read_problems(data, skip_bad=skip_bad).problems
    with waiting("Loading torch"):
        from torch.utils.tensorboard.writer import SummaryWriter

        from toolkit.warm.device import pick_device
        from toolkit.warm.train import Epoch
        from toolkit.warm.train import train as train_model

    shown = chosen_share(problems, gold, config.train.seed)
    start = time.perf_counter()
    with SummaryWriter(str(out / "tensorboard")) as writer, _bars(config.train.epochs, len(problems)) as bars:

        def on_epoch(figures: Epoch) -> None:
            for name, value in (("loss", figures.loss), ("reached", figures.reached)):
                writer.add_scalar(name, value, figures.epoch)
            writer.add_scalar("problems_per_second", figures.problems_per_second, figures.epoch)
            bars.epoch(figures.epoch, figures.loss, figures.reached, figures.problems_per_second)

        trained = train_model(
            problems,
            config,
            out,
            gold=shown,
            constants=constants,
            device=pick_device(device),
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
        "seconds": time.perf_counter() - start,
    }
    if as_json:
        print_json(figures)
        return
    click.echo(
        f"{len(problems):,} problems, {trained.gold:,} with gold equations: after {last['epoch']} epochs "
        f"{100 * last['reached']:.1f} % reach their answer ({figures['seconds']:.0f} s). Model in {out}"
    )


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
