"""`warmkit data show`."""

import click
import polars as pl
from rich.text import Text

from toolkit.cli.output import console, json_option, print_json
from toolkit.cli.parameters import constants_option, skip_bad_option
from toolkit.data.numbers import find_numbers
from toolkit.data.read import read_problems
from toolkit.equations import Constant, show, verify
from toolkit.errors import WarmkitError


@click.command(
    "show",
    epilog="""\b
Examples:
  warmkit data show bundled:hi
  warmkit data show allarith.jsonl --id 1314""",
)
@click.argument("file")
@click.option("--count", default=5, show_default=True, type=click.IntRange(min=1), help="How many problems.")
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
    problems = read_problems(file, skip_bad=skip_bad).problems
    if missing := set(ids) - set(problems["id"]):
        raise WarmkitError(f"{file}: there is no problem with id {', '.join(sorted(missing))}.")
    chosen = problems.filter(pl.col("id").is_in(ids)) if ids else problems.head(count)
    for row in chosen.iter_rows(named=True):
        _show_problem(row, constants, as_json)


def _show_problem(row: dict[str, object], constants: tuple[Constant, ...], as_json: bool) -> None:
    text, answer, equation = str(row["text"]), row["answer"], row["equation"]
    assert isinstance(answer, float)
    operands = find_numbers(text, str(row["lang"]))
    verdict = verify(str(equation), [o.value for o in operands], answer, constants) if equation else None
    template = show(verdict.templates[0]) if verdict and verdict.templates else None
    if as_json:
        numbers = [{"written": text[o.start : o.end], "value": float(o.value)} for o in operands]
        print_json({**row, "numbers": numbers, "template": template})
        return
    out = console()
    marked = Text()
    done = 0
    for j, operand in enumerate(operands):
        marked.append(text[done : operand.start])
        marked.append(text[operand.start : operand.end], "bold cyan")
        marked.append(f"[N{j}]", "dim")
        done = operand.end
    marked.append(text[done:])
    out.print(Text(" · ".join(str(row[name]) for name in ("id", "lang", "split") if row[name]), "bold"))
    out.print(marked)
    said = f"answer {answer:.12g}"
    if equation:
        said += f"   equation {equation}   " + (f"template {template}" if template else "")
    if verdict and not verdict.ok:
        said += f"   ({verdict.reason})"
    out.print(Text(said.rstrip(), "green" if verdict is None or verdict.ok else "red"))
    out.print()
