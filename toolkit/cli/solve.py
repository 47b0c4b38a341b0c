"""`warmkit solve`: an answer from the text alone."""

import sys
from pathlib import Path

import click
from rich.text import Text

from toolkit.cli.output import console, json_option, print_json, waiting
from toolkit.cli.parameters import lang_option, solver_option
from toolkit.data.numbers import find_numbers
from toolkit.data.schema import MAX_NUMBERS, detect_lang
from toolkit.equations import draw, show
from toolkit.errors import WarmkitError

UNLIKE = 0.4  # share of words never seen in training from which a text is called unlike


@click.command(
    epilog="""\b
Examples:
  warmkit solve --model models/gts "A square barn has 4 sides of 7 metres. How long is its fence?"
  warmkit solve --model models/gts problems.txt --json
  echo "Tom had 12 apples and ate 5. How many are left?" | warmkit solve --model models/gts -"""
)
@click.argument("text")
@solver_option
@click.option(
    "--top", default=1, show_default=True, type=click.IntRange(1, 20), help="How many equations to show."
)
@lang_option
@json_option
def solve(text: str, folder: Path, top: int, lang: str | None, as_json: bool) -> None:
    """Solve the problem TEXT; or each line of a file of that name, or of standard input (-)."""
    texts = _texts(text)
    with waiting("Loading the solver"):
        from toolkit.solvers.solver import Solution, Solver, as_problems

        solver = Solver.load(folder)
    langs = [lang or detect_lang(one) for one in texts]
    operands = [find_numbers(one, code) for one, code in zip(texts, langs, strict=True)]
    solvable = [i for i, numbers in enumerate(operands) if 1 <= len(numbers) <= MAX_NUMBERS]
    found: dict[int, list[Solution]] = {}
    if solvable:
        problems = as_problems([texts[i] for i in solvable], [langs[i] for i in solvable])
        found = dict(zip(solvable, solver.solve(problems, top), strict=True))
    for i, one in enumerate(texts):
        unlike = solver.unknown_share(one, langs[i]) > UNLIKE
        solutions = found.get(i, [])
        if as_json:
            print_json(
                {
                    "text": one,
                    "answer": solutions[0].value if solutions else None,
                    "template": show(solutions[0].template) if solutions else None,
                    "confidence": solutions[0].probability if solutions else None,
                    "unlike_training": unlike,
                    "solutions": [
                        {"template": show(s.template), "answer": s.value, "confidence": s.probability}
                        for s in solutions
                    ],
                }
            )
            continue
        out = console()
        if not solutions:
            out.print(Text(f"No number to reckon with in: {one[:80]}", "red"))
            continue
        written = [one[o.start : o.end] for o in operands[i]]
        for rank, solution in enumerate(solutions):
            value = "no value" if solution.value is None else f"{solution.value:.10g}"
            line = f"{value}   {show(solution.template)}   confidence {solution.probability:.2f}"
            out.print(Text(line, "bold green" if not rank else ""))
            if not rank:
                out.print(draw(solution.template, written))
        if unlike:
            out.print(Text("This looks unlike anything the solver was trained on.", "yellow"))
    if len(texts) == 1 and not found:
        sys.exit(1)


def _texts(text: str) -> list[str]:
    if text == "-":
        lines = sys.stdin.read().splitlines()
    elif len(text) < 1_000 and "\n" not in text and Path(text).is_file():
        try:
            lines = Path(text).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise WarmkitError(f"{text}: it can't be read as UTF-8 text.") from None
    else:
        lines = [text]
    texts = [line.strip() for line in lines if line.strip()]
    if not texts:
        raise WarmkitError("There is no text to solve.")
    return texts
