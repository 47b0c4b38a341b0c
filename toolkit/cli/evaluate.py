"""`warmkit evaluate`: how good a solver is on problems whose answers are known."""

import time
from dataclasses import asdict
from pathlib import Path

import click

from toolkit.cli.output import echo, json_option, percent, print_json, print_table, waiting
from toolkit.cli.parameters import DiskPath, device_option, skip_bad_option, solver_option
from toolkit.data import read_problems
from toolkit.report.values import percents
from toolkit.statistics import Share
from toolkit.storage.atomic import replacing


@click.command(
    epilog="""\b
Examples:
  warmkit evaluate --model models/gts test.jsonl
  warmkit evaluate --model models/gts test.jsonl --plot confusion.svg --json"""
)
@click.argument("data")
@solver_option
@click.option("--plot", type=DiskPath(), help="Draw the confusion of operators as an SVG file.")
@device_option
@skip_bad_option
@json_option
def evaluate(data: str, folder: Path, plot: Path | None, device: str, skip_bad: bool, as_json: bool) -> None:
    """Answer and equation accuracy on DATA, with 95 % intervals (Wilson).

    The gap between the two comes from answers that are right by a wrong equation. The control leaves out
    the last sentence: a solver that does as well without the question does not read the question.
    """
    if plot is not None and plot.suffix.lower() != ".svg":
        raise click.UsageError(f"{plot}: the plot is an .svg file.")
    with waiting(f"Reading {data}"):
        problems = read_problems(data, skip_bad=skip_bad)
    with waiting("Solving"):
        from toolkit.nn.device import pick_device
        from toolkit.solvers import load_solver
        from toolkit.solvers.evaluate import evaluate_solver

        solver = load_solver(folder, pick_device(device))
        start = time.perf_counter()
        found = evaluate_solver(solver, problems)
        seconds = time.perf_counter() - start
    if plot is not None:
        from toolkit.report.confusion import confusion_plot

        with replacing(plot) as temporary:
            temporary.write_text(confusion_plot(found.confusion), encoding="utf-8")
    if as_json:
        print_json(
            {
                "problems": len(problems),
                "answer_accuracy": found.answers.share,
                "class_accuracy": found.equations.share if found.equations else None,
                "seconds": seconds,
                **asdict(found),
            }
        )
        return

    def row(name: str, share: Share) -> tuple[str, ...]:
        return name, percent(share.share), percents(*share.interval), f"{share.count:,}"

    rows = [row("answers", found.answers)]
    if found.equations is not None:
        rows.append(row("equations (gold class)", found.equations))
    rows.append(row("answers without the question", found.without_question))
    rows += [row(f"  {steps} operators", share) for steps, share in found.by_steps.items()]
    if len(found.by_lang) > 1:
        rows += [row(f"  {lang}", share) for lang, share in found.by_lang.items()]
    print_table(f"{folder} on {data}", rows, ("what", "right", "95 % interval", "problems"))
    if plot is not None:
        echo(f"confusion of operators in {plot}")
