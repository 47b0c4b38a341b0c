"""`warmkit evaluate`: how good a solver is on problems whose answers are known."""

from dataclasses import asdict
from pathlib import Path

import click

from toolkit.cli.output import json_option, print_json, print_table, waiting
from toolkit.cli.parameters import skip_bad_option, solver_option
from toolkit.data.read import read_problems


@click.command(
    epilog="""\b
Examples:
  warmkit evaluate --model models/gts test.jsonl
  warmkit evaluate --model models/gts test.jsonl --json"""
)
@click.argument("data")
@solver_option
@skip_bad_option
@json_option
def evaluate(data: str, folder: Path, skip_bad: bool, as_json: bool) -> None:
    """Answer and equation accuracy on DATA, with 95 % bootstrap intervals.

    Answers that are right by a wrong equation are the gap between the two. The control leaves out the last
    sentence: a solver that does as well without the question has not read it.
    """
    with waiting(f"Reading {data}"):
        problems = read_problems(data, skip_bad=skip_bad).problems
    with waiting("Solving"):
        from toolkit.solvers.evaluate import Share, evaluate_solver
        from toolkit.solvers.solver import Solver

        found = evaluate_solver(Solver.load(folder), problems)
    if as_json:
        print_json(asdict(found))
        return

    def row(name: str, share: Share) -> tuple[str, ...]:
        inside = f"{100 * share.low:.1f} – {100 * share.high:.1f}"
        return name, f"{100 * share.share:.1f} %", inside, f"{share.count:,}"

    rows = [row("answers", found.answers)]
    if found.equations is not None:
        rows.append(row("equations (gold class)", found.equations))
    rows.append(row("answers without the question", found.without_question))
    rows += [row(f"  {steps} operators", share) for steps, share in found.by_steps.items()]
    if len(found.by_lang) > 1:
        rows += [row(f"  {lang}", share) for lang, share in found.by_lang.items()]
    print_table(f"{folder} on {data}", rows, ("what", "right", "95 % interval", "problems"))
