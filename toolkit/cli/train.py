"""`warmkit train`: step one of the paper, from problems with answers to a model; step two if wanted."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from toolkit.cli.annotations import annotated, annotated_problems
from toolkit.cli.output import echo, json_option, note, print_json, progress, solver_progress, waiting
from toolkit.cli.parameters import (
    SEED,
    DiskPath,
    annotations_option,
    auto_constants_option,
    device_option,
    gold_option,
    method_option,
    prepared_option,
    set_option,
    skip_bad_option,
    solver_choice,
    test_option,
    workers_options,
)
from toolkit.cli.preparing import prepared_root, preparing
from toolkit.cluster.session import ClusterSpec
from toolkit.config import load_config
from toolkit.data import PROBLEMS, ProblemSet, read_problems, write_table
from toolkit.data.constants import AUTO, MOST_PROBLEMS, TO_SEARCH, with_constants_of
from toolkit.data.read import is_in_parts, read_parts, read_sample
from toolkit.data.skipped import SkippedRows
from toolkit.data.split import chosen_gold
from toolkit.equations import Constant, show
from toolkit.errors import WarmkitError
from toolkit.methods import Epoch, Known, StepOne, find_method
from toolkit.methods.base import read_constants
from toolkit.screen import Screen
from toolkit.solvers import DEFAULT_SOLVER, find_solver
from toolkit.storage.folder import check_folder, training_in

PART = 1024  # problems that are searched at a time

if TYPE_CHECKING:
    from toolkit.compute import Compute
    from toolkit.loop.config import LoopConfig
    from toolkit.loop.in_parts import RoundInParts
    from toolkit.loop.round import Round


@click.command(
    epilog="""\b
Examples:
  warmkit train bundled:en --out models/en
  warmkit train allarith.jsonl --out models/allarith --gold 0.1 --set train.epochs=40
  warmkit train allarith.jsonl --out models/allarith --then-solver ensemble --test test.jsonl
  warmkit train mine.jsonl --out models/mine --annotations label-studio/annotations.parquet
  warmkit train allarith.jsonl --out models/paper --config configs/paper/warm.yaml
  warmkit train allarith.jsonl --out models/seq2seq --method seq2seq
  warmkit train allarith.jsonl --out models/lbf --method lbf --set epochs=40
  warmkit train allarith.jsonl --out models/allarith --gold 0.1 --set train.epochs=40 --resume
  warmkit train "parts/*.parquet" --out models/parts --workers 2
  warmkit train parts/ --out models/parts --workers 2 --then-solver ensemble
  warmkit train s3://bucket/parts --out models/parts --workers 2
  warmkit train large.parquet --out models/large --workers 8 --gpu --address auto --storage s3://bucket/warmkit"""
)
@click.argument("data")
@click.option("--out", required=True, type=DiskPath(), help="The folder of the model.")
@method_option
@click.option("--config", "config_file", type=DiskPath(), help="A YAML file (see configs/).")
@set_option
@click.option("--seed", type=SEED, default=0, show_default=True, help="The same seed gives the same model.")
@gold_option("The share of DATA's equations to use (D_s). none: answers only (WARM). Otherwise: WARM-S.")
@annotations_option
@click.option("--resume", is_flag=True, help="Go on with the stopped run in --out.")
@click.option(
    "--then-solver",
    type=solver_choice,
    help="Go on with step two: write OUT/candidates.parquet, of parts a folder OUT/candidates, and train "
    "OUT/solver on it.",
)
@test_option
@prepared_option
@workers_options
@device_option
@auto_constants_option
@skip_bad_option
@json_option
def train(
    data: str,
    out: Path,
    method: str,
    config_file: Path | None,
    overrides: tuple[str, ...],
    seed: int,
    gold: float,
    annotations: Path | None,
    resume: bool,
    then_solver: str | None,
    test: str | None,
    prepared: Path | None,
    spec: ClusterSpec | None,
    storage: str | None,
    device: str,
    constants: tuple[Constant, ...] | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Learn from the answers of DATA to find its equations; the model goes to the folder --out.

    It is saved after every epoch: a run that is stopped goes on with --resume. TensorBoard reads
    the folder OUT/tensorboard.

    With workers, or if DATA is a folder or a pattern of Parquet and JSON Lines parts, WARM prepares the
    problems once (tokens, gold templates, search), and each worker holds its share of them alone: they need
    not fit in one process. So it is with the solver of --then-solver.
    """
    config = load_config(find_method(method).Config, config_file, overrides)
    _check_out(out, resume, spec)
    if test and not then_solver:
        raise click.UsageError("--test is for the solver: give --then-solver too.")
    if constants is None and (out / "model.json").exists():
        constants = read_constants(out)  # those it began with
    in_parts = (spec is not None or is_in_parts(data)) and find_method(method).learns_in_parts
    in_parts = in_parts and (then_solver is None or find_solver(then_solver).learns_in_parts)
    with waiting(f"Reading {data}"):
        if not in_parts:
            problems = read_problems(data, skip_bad=skip_bad)
        elif constants is None:  # they are chosen by a sample
            problems = read_sample(data, MOST_PROBLEMS, seed, skip_bad=skip_bad)
        else:  # no problem has to be seen here
            problems = ProblemSet(PROBLEMS.to_frame())
        tested = read_problems(test, skip_bad=skip_bad) if test else None
        if constants is not None:
            problems = problems.with_constants(constants)
        marked = problems
        if in_parts:
            marked = annotated_problems(annotations, data, skip_bad=skip_bad)
            marked = marked.with_constants(problems.constants)
        agreed = annotated(annotations, marked, more_constants=constants is None)
        if constants is None:
            problems = with_constants_of(problems, agreed.values())
    with waiting("Loading torch"):
        from torch.utils.tensorboard.writer import SummaryWriter

        from toolkit.compute import computing
        from toolkit.loop.config import LoopConfig
        from toolkit.loop.round import Round
        from toolkit.nn.device import pick_device

    settings = LoopConfig(
        method=method,
        seed=seed,
        known=gold,
        constants=AUTO if constants is None else tuple(show(constant) for constant in constants),
        solver_kind=then_solver or DEFAULT_SOLVER,
        **{find_method(method).section: config},
    )
    start = time.perf_counter()
    with progress("Choosing constants", TO_SEARCH) as advance:
        settings, choice = settings.with_chosen_constants(problems, advance)
    if choice is not None:
        note(choice.sentence())
    problems = problems.with_constants(settings.v_const)
    with (
        computing(spec, pick_device(device), storage, note) as compute,
        training_in(out),
        SummaryWriter(str(out / "tensorboard")) as writer,
    ):
        _check_out(out, resume, spec)  # another process may have trained here meanwhile
        work: Round | RoundInParts
        preparation = 0.0
        if in_parts:
            root = prepared_root(prepared, storage, out)
            begun = time.perf_counter()
            work = _prepare(data, root, gold, agreed, settings, compute, out if skip_bad else None)
            preparation = time.perf_counter() - begun
        else:
            work = Round(problems, chosen_gold(problems, gold, seed) | agreed, settings, compute)
        with _bars(find_method(method).epochs(config), len(work.problems)) as bars:

            def on_epoch(figures: Epoch, epochs: int) -> None:
                for name, value in (("loss", figures.loss), ("reached", figures.reached)):
                    if value is not None:
                        writer.add_scalar(name, value, figures.epoch)
                writer.add_scalar("problems_per_second", figures.problems_per_second, figures.epoch)
                bars.epoch(figures)

            model = work.fit(out, label=out.name, on_batch=bars.batch, on_epoch=on_epoch)
        if choice is not None:
            choice.save(out)
        last = model.history[-1]
        figures: dict[str, Any] = {
            "out": str(out),
            "method": method,
            "problems": model.origin.problems,
            "gold": model.origin.known,
            "constants": list(settings.constants),
            "epochs": last.epoch,
            "loss": last.loss,
            "reached": last.reached,
        }
        if in_parts:
            figures["preparation_seconds"] = preparation
        if then_solver:
            figures |= _step_two(work, model, data, out, tested, skip_bad)
    figures["seconds"] = time.perf_counter() - start
    if as_json:
        print_json(figures)
        return
    epochs = "1 epoch" if last.epoch == 1 else f"{last.epoch} epochs"
    echo(
        f"{model.origin.problems:,} problems, {model.origin.known:,} with gold equations: after {epochs} "
        f"{100 * last.reached:.1f} % reach their answer ({figures['seconds']:.0f} s). Model in {out}"
    )
    if then_solver:
        echo(f"{then_solver} in {figures['solver']}")
    if "answer_accuracy" in figures:
        echo(f"{100 * figures['answer_accuracy']:.1f} % of the answers of {test} are right")


def _prepare(
    data: str,
    root: Path,
    gold: float,
    agreed: Known,
    settings: "LoopConfig",
    compute: "Compute",
    out: Path | None,
) -> "RoundInParts":
    """A round on prepared parts; bad rows go to a file in the folder `out`, if there is one."""
    from toolkit.loop.in_parts import prepared_round

    with preparing(data, root, out) as told:
        return prepared_round(
            data, root, gold, settings, compute, told.skipped, told.advance, agreed, told.on_wait
        )


def _check_out(out: Path, resume: bool, spec: ClusterSpec | None) -> None:
    """Whether the folder of the model is free, or with --resume has a model."""
    check_folder(out)
    if (out / "model.json").exists() and not resume:
        raise WarmkitError(f"{out}: there is a model already. Go on with --resume, or name another folder.")
    if resume and not (out / "model.json").exists() and not spec:
        raise WarmkitError(f"{out}: there is no model to go on with. Leave out --resume.")


def _step_two(
    work: "Round | RoundInParts",
    model: StepOne,
    data: str,
    out: Path,
    tested: ProblemSet | None,
    skip_bad: bool,
) -> dict[str, Any]:
    """Candidates and a solver beside the model. Gold equations that training did not use stay unused."""
    from toolkit.loop.round import Round, measure

    with progress("Generating", len(work.problems)) as advance:
        if isinstance(work, Round):
            candidates = work.candidates(work.generate(model, advance))
            write_table(candidates.table, out / "candidates.parquet")
            found, fit = len(candidates), partial(work.fit_solver, candidates)
        else:
            folder = out / "candidates"
            shutil.rmtree(folder, ignore_errors=True)  # those of an earlier training
            skipped = SkippedRows() if skip_bad else None  # they were told when they were prepared
            _, parts = read_parts(data, PART, skipped=skipped, constants=model.constants)
            found = work.generate(model, parts, folder, advance).candidates
            fit = partial(work.fit_solver, folder if found else None)
    with solver_progress(f"Training {work.config.solver_kind}") as on_progress:
        solver = fit(out / "solver", label=f"{out.name}-solver", on_progress=on_progress)
    if solver is None:
        raise WarmkitError("There is no equation to learn from: no problem was reached.")
    solver.save(out / "solver")
    figures: dict[str, Any] = {"candidates": found, "solver": str(out / "solver")}
    return figures | (measure(solver, tested) if tested is not None else {})


class _Bars:
    """Two bars on the error stream: epochs with their figures, and problems within the epoch."""

    def __init__(self, bars: Progress, epochs: int, problems: int) -> None:
        self.bars = bars
        self.epochs = bars.add_task("training", total=epochs, figures="")
        self.problems = bars.add_task("  epoch", total=problems, figures="")

    def batch(self, count: int) -> None:
        self.bars.advance(self.problems, count)

    def epoch(self, done: Epoch) -> None:
        loss = "" if done.loss is None else f"loss {done.loss:.3f}  "
        figures = f"{loss}reached {100 * done.reached:.1f} %  {done.problems_per_second:.0f} problems/s"
        self.bars.update(self.epochs, completed=done.epoch, figures=figures)
        self.bars.reset(self.problems)
        if not self.bars.console.is_terminal:
            echo(f"epoch {done.epoch}: {figures}", err=True)


@contextmanager
def _bars(epochs: int, problems: int) -> Iterator[_Bars]:
    screen = Screen(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}"),
    )
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bars:
        yield _Bars(bars, epochs, problems)
