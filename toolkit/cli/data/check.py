"""`warmkit data check`."""

import sys
from collections.abc import Sequence
from dataclasses import asdict

import click

from toolkit.cli.output import (
    echo,
    json_option,
    print_duplicates,
    print_json,
    print_table,
    progress,
    share,
    waiting,
)
from toolkit.cli.parameters import constants_option, lang_option, skip_bad_option
from toolkit.data import ProblemSet, read_problems
from toolkit.data.check import Summary, summarise
from toolkit.data.duplicates import across_splits, near_duplicates
from toolkit.data.schema import list_bad
from toolkit.equations import Constant
from toolkit.equations.search import MAX_OPERATORS


@click.command(
    epilog="""\b
Examples:
  warmkit data check allarith.jsonl
  warmkit data check ew10k.jsonl --reuse 1 --constants 1,π,100
  warmkit data check math23k.jsonl --no-search --json"""
)
@click.argument("file")
@click.option(
    "-k",
    "--operators",
    default=3,
    show_default=True,
    type=click.IntRange(0, MAX_OPERATORS),
    help="Search equations with up to this many operators.",
)
@click.option(
    "--reuse",
    default=0,
    show_default=True,
    type=click.IntRange(0, 2),
    help="How often a number may be used again in a searched equation.",
)
@click.option(
    "--search/--no-search", "searching", default=True, help="Whether to search for equations at all."
)
@click.option("--duplicates", is_flag=True, help="Also look for near-duplicates across splits.")
@constants_option
@lang_option
@skip_bad_option
@json_option
def check(
    file: str,
    operators: int,
    reuse: int,
    searching: bool,
    duplicates: bool,
    constants: tuple[Constant, ...],
    lang: str | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Show what is in FILE and what is wrong with it. Exit 1 if it has bad rows."""
    with waiting(f"Reading {file}"):
        read = read_problems(file, skip_bad=True, lang=lang, constants=constants)
    with progress("Checking", len(read)) as advance:
        summary = summarise(read, operators if searching else None, reuse, advance)
    pairs = across_splits(read.table, near_duplicates(read)) if duplicates else None
    if as_json:
        extra = {} if pairs is None else {"duplicates_across_splits": len(pairs)}
        rows = {
            "bad_rows": [asdict(row) for row in read.bad],
            "equations_left_out": [asdict(row) for row in read.left_out],
        }
        print_json({"bad": len(read.bad), **asdict(summary), **rows, **extra})
    else:
        _print_summary(file, read, summary, operators, reuse)
        if pairs is not None:
            print_duplicates(pairs)
    if read.bad and not skip_bad:
        if not as_json:
            echo("Some rows can't be used: fix them, or leave them out with --skip-bad.", err=True)
        sys.exit(1)


def _print_summary(file: str, read: ProblemSet, summary: Summary, operators: int, reuse: int) -> None:
    whole, gold = summary.problems, summary.with_equation
    rows = [
        ("problems", f"{whole:,}", ""),
        ("rows that can't be used", f"{len(read.bad):,}", ""),
        ("with a gold equation", f"{gold:,}", share(gold, whole)),
    ]
    if gold:
        rows += [
            ("  that gives the answer", f"{summary.equation_ok:,}", share(summary.equation_ok, gold)),
            ("  over numbers of the text", f"{summary.bound:,}", share(summary.bound, gold)),
        ]
    if read.left_out:
        rows.append(("equations left out", f"{len(read.left_out):,}", share(len(read.left_out), whole)))
    if summary.reached is not None and summary.gold_in_candidates is not None:
        rows.append(("answer reached by search", f"{summary.reached:,}", share(summary.reached, whole)))
        if gold:
            found = summary.gold_in_candidates
            rows.append(("  gold among the candidates", f"{found:,}", share(found, gold)))
        rows.append(("  candidates a problem", f"{(summary.candidates or 0) / max(whole, 1):.1f}", ""))
    print_table(f"{file} ({read.format})", rows)
    if summary.reached is not None:
        again = "each number at most once" if not reuse else f"{reuse} used again"
        echo(f"search: up to {operators} operators, {again}")
        if summary.shallow:
            echo(f"  {summary.shallow:,} with too many numbers for that were searched with fewer operators")
        echo()
    for title, counts in (
        ("languages", summary.langs),
        ("splits", summary.splits),
        ("numbers in the text", summary.numbers),
        ("operators in the gold equation", summary.steps),
        ("gold equations that use", summary.operators),
    ):
        if counts:
            echo(f"{title}: " + ", ".join(f"{name} ({count:,})" for name, count in counts.items()))
    if read.bad:
        echo(f"\nrows that can't be used:\n{list_bad(read.bad)}")
    if read.left_out:
        echo(f"\nequations left out:\n{list_bad(read.left_out)}")
    if summary.doubtful:
        echo("\ngold equations to look at:")
        _print_some([f"{name}: {reason}" for name, reason in summary.doubtful])


def _print_some(lines: Sequence[str], most: int = 5) -> None:
    for line in lines[:most]:
        echo(f"  {line}")
    if len(lines) > most:
        echo(f"  … and {len(lines) - most:,} more (all with --json)")
