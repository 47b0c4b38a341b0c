"""`warmkit data show`."""

import click
from rich.text import Text

from toolkit.cli.output import json_option, print_json
from toolkit.cli.parameters import COUNT, constants_option, skip_bad_option
from toolkit.data import ProblemSet, read_problems
from toolkit.equations import Constant, as_float, show
from toolkit.errors import WarmkitError
from toolkit.screen import Screen


@click.command(
    "show",
    epilog="""\b
Examples:
  warmkit data show bundled:hi
  warmkit data show allarith.jsonl --id 1314""",
)
@click.argument("file")
@click.option("--count", default=5, show_default=True, type=COUNT, help="How many problems.")
@click.option("--id", "ids", multiple=True, help="Only the problem with this id (may be given again).")
@skip_bad_option
@constants_option
@json_option
def show_command(
    file: str,
    count: int,
    ids: tuple[str, ...],
    skip_bad: bool,
    constants: tuple[Constant, ...],
    as_json: bool,
) -> None:
    """Show problems with their numbers marked N0, N1, … and their equations as templates."""
    problems = read_problems(file, skip_bad=skip_bad, constants=constants)
    if missing := [problem_id for problem_id in ids if problem_id not in problems.row]:
        raise WarmkitError(f"{file}: there is no problem with id {', '.join(sorted(missing))}.")
    rows = [problems.row[problem_id] for problem_id in ids] if ids else range(min(count, len(problems)))
    for row in sorted(rows):
        _show_problem(problems, row, as_json)


def _show_problem(problems: ProblemSet, row: int, as_json: bool) -> None:
    problem = problems.table.row(row, named=True)
    text, equation, answer = problem["text"], problem["equation"], problems.answers[row]
    operands, verdict = problems.masked[row].operands, problems.gold_verdicts[row]
    template = show(verdict.templates[0]) if verdict and verdict.templates else None
    if as_json:
        numbers = [
            {"written": text[operand.start : operand.end], "value": as_float(operand.value)}
            for operand in operands
        ]
        print_json({**problem, "numbers": numbers, "template": template})
        return
    out = Screen()
    marked = Text()
    done = 0
    for j, operand in enumerate(operands):
        marked.append(text[done : operand.start])
        marked.append(text[operand.start : operand.end], "bold cyan")
        marked.append(f"[N{j}]", "dim")
        done = operand.end
    marked.append(text[done:])
    out.print(Text(" · ".join(problem[name] for name in ("id", "lang", "split") if problem[name]), "bold"))
    out.print(marked)
    line = f"answer {answer:.12g}"
    if equation:
        line += f"   equation {equation}   " + (f"template {template}" if template else "")
    if verdict and not verdict.ok:
        line += f"   ({verdict.reason})"
    out.print(Text(line.rstrip(), "green" if verdict is None or verdict.ok else "red"))
    out.print()
