"""`warmkit solve`: an answer from the text alone."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from toolkit.cli.output import json_option, print_json, waiting
from toolkit.cli.parameters import device_option, lang_option, solver_option
from toolkit.equations import draw, show
from toolkit.errors import WarmkitError
from toolkit.screen import Screen
from toolkit.storage.files import read_text

if TYPE_CHECKING:
    from toolkit.solvers.answer import Answered


LONGEST_INPUT = 100_000_000  # characters on standard input


@click.command(
    epilog="""\b
Examples:
  warmkit solve --model models/gts "A square barn has 4 sides of 7 metres. How long is its fence?"
  warmkit solve --model models/gts --file problems.txt --json
  echo "Tom had 12 apples and ate 5. How many are left?" | warmkit solve --model models/gts"""
)
@click.argument("text", required=False)
@solver_option
@click.option(
    "--file", "source", type=click.Path(path_type=Path), help="One problem per line; - is standard input."
)
@click.option(
    "--top", default=1, show_default=True, type=click.IntRange(1, 20), help="How many equations to show."
)
@lang_option
@device_option
@json_option
def solve(
    text: str | None,
    folder: Path,
    source: Path | None,
    top: int,
    lang: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Solve the problem TEXT, or each line of a file or of standard input."""
    texts = _texts(text, source)
    with waiting("Loading the solver"):
        from toolkit.nn.device import pick_device
        from toolkit.solvers import load_solver
        from toolkit.solvers.answer import answer

        solver = load_solver(folder, pick_device(device))
    answers = answer(solver, texts, top, lang)
    for answered in answers:
        if as_json:
            print_json(_described(answered))
        else:
            _print(answered)
    if all(answered.trouble for answered in answers):
        sys.exit(1)


def _texts(text: str | None, source: Path | None) -> list[str]:
    if text is not None and source is not None:
        raise click.UsageError("Give a TEXT or a --file, not both.")
    if text is not None:
        return [text]
    given = _standard_input() if source in (None, Path("-")) else read_text(source)
    if not (texts := [line.strip() for line in given.splitlines() if line.strip()]):
        raise WarmkitError(f"{source or 'standard input'}: there is no text to solve.")
    return texts


def _standard_input() -> str:
    if sys.stdin.isatty():
        raise click.UsageError("Give a TEXT, a --file, or text on standard input.")
    try:
        given = sys.stdin.read(LONGEST_INPUT)
    except UnicodeDecodeError:
        raise WarmkitError("standard input: it can't be read as UTF-8 text.") from None
    if len(given) == LONGEST_INPUT:
        raise WarmkitError("standard input: it does not end. Write it into a file, and give --file.")
    return given


def _described(answered: "Answered") -> dict[str, object]:
    solutions = [
        {"template": show(found.template), "answer": found.value, "confidence": found.probability}
        for found in answered.solutions
    ]
    best = solutions[0] if solutions else dict.fromkeys(("template", "answer", "confidence"))
    return {
        "text": answered.text,
        **best,
        "numbers": list(answered.numbers),
        "trouble": answered.trouble,
        "unlike_training": answered.unlike_training,
        "solutions": solutions,
    }


def _print(answered: "Answered") -> None:
    out = Screen()
    if answered.trouble:
        out.print(Text(f"{answered.trouble} {answered.text[:80]}", "red"))
    for rank, found in enumerate(answered.solutions):
        value = "no value" if found.value is None else f"{found.value:.10g}"
        line = f"{value}   {show(found.template)}   confidence {found.probability:.2f}"
        out.print(Text(line, "" if rank else "bold green"))
        if not rank:
            out.print(draw(found.template, answered.numbers))
    if answered.unlike_training:
        out.print(Text("This looks unlike anything the solver was trained on.", "yellow"))
