"""`warmkit data constants`."""

import click

from toolkit.cli.output import echo, json_option, print_json, print_table, progress, waiting
from toolkit.cli.parameters import SEED, gold_option, lang_option, skip_bad_option
from toolkit.data import read_problems
from toolkit.data.constants import TO_SEARCH, ConstantChoice, Evidence, choose_constants
from toolkit.data.split import gold_ids

HEADERS = (
    *("constant", "chosen", "gold equations", "opened", "won", "lost", "p", "by chance"),
    *("commonest class", "of it"),
)


@click.command(
    epilog="""\b
Examples:
  warmkit data constants ew10k.jsonl
  warmkit data constants mawps.jsonl --gold all
  warmkit data constants ew10k.jsonl --json"""
)
@click.argument("file")
@gold_option("The share of FILE's equations to look at.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Draws the problems of a large set.")
@lang_option
@skip_bad_option
@json_option
def constants(file: str, gold: float, seed: int, lang: str | None, skip_bad: bool, as_json: bool) -> None:
    """Show the constants that equations of FILE need besides the numbers of the text, and why.

    This is what `--constants auto` takes. A constant is chosen if held-out answers profit: won and lost are
    those that are right only with it, and only without it, by the class on which similar problems agree.
    "by chance" is what the best of some numbers wins that no book asks for; p is the sign test of won against
    lost; "opened" are answers that nothing else reaches.
    """
    with waiting(f"Reading {file}"):
        problems = read_problems(file, skip_bad=skip_bad, lang=lang)
    with progress("Choosing constants", TO_SEARCH) as advance:
        choice = choose_constants(problems, gold_ids(problems, gold, seed), seed, advance)
    if as_json:
        print_json(choice.as_dict())
    else:
        _print(file, choice)


def _print(file: str, choice: ConstantChoice) -> None:
    print_table(f"{file}, {choice.problems:,} problems", [_row(row) for row in choice.evidence], HEADERS)
    echo(choice.sentence())


def _row(row: Evidence) -> tuple[str, ...]:
    figures = (row.gold, row.opened, row.won, row.lost)
    return (
        row.constant,
        "yes" if row.chosen else "no",
        *(f"{figure:,}" for figure in figures),
        f"{row.p_value:.4f}",
        f"{row.chance:,}",
        row.template or "–",
        f"{row.in_class:,}",
    )
