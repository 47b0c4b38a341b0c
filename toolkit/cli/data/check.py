"""`warmkit data check`."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

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
from toolkit.cli.parameters import DiskPath, constants_option, lang_option, skip_bad_option
from toolkit.data.check import PART, Summary, summarise
from toolkit.data.duplicates import across_splits, near_duplicates
from toolkit.data.read import read_parts, read_problems
from toolkit.data.skipped import SkippedRows, skipping
from toolkit.equations import Constant
from toolkit.equations.search import MAX_OPERATORS


@click.command(
    epilog="""\b
Examples:
  warmkit data check allarith.jsonl
  warmkit data check ew10k.jsonl --reuse 1 --constants 1,π,100
  warmkit data check math23k.jsonl --no-search --json
  warmkit data check "parts/*.parquet" --bad-rows bad.jsonl
  warmkit data check s3://bucket/parts --no-search"""
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
@click.option(
    "--duplicates",
    is_flag=True,
    help="Also look for near-duplicates across splits; for this all texts are held in memory.",
)
@click.option(
    "--bad-rows",
    type=DiskPath(),
    metavar="FILE",
    help="Write all rows that can't be used to this file (JSON Lines: file, line, id, reason).",
)
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
    bad_rows: Path | None,
    constants: tuple[Constant, ...],
    lang: str | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Show what is in FILE and what is wrong with it. Exit 1 if it has bad rows.

    FILE may be a folder or a pattern of Parquet or JSON Lines parts, of any size.
    """
    with skipping(bad_rows) as bad:
        with waiting(f"Reading {file}"):
            count, parts = read_parts(file, PART, skipped=bad, lang=lang, constants=constants)
        with progress("Checking", count) as advance:
            summary = summarise(parts, operators if searching else None, reuse, advance)
    pairs = None
    if duplicates:
        with waiting("Looking for near-duplicates"):
            read = read_problems(file, skip_bad=True, lang=lang)
            pairs = across_splits(read.table, near_duplicates(read))
    if as_json:
        figures = {key: value for key, value in asdict(summary).items() if key != "first_left_out"}
        figures["formats"] = list(summary.formats)
        rows = {
            "bad_rows": [asdict(row) for row in bad.first],
            "equations_left_out": [asdict(row) for row in summary.first_left_out],
        }
        extra = {} if pairs is None else {"duplicates_across_splits": len(pairs)}
        print_json({"bad": bad.count, **figures, **rows, **extra})
    else:
        _print_summary(file, bad, summary, operators, reuse)
        if pairs is not None:
            print_duplicates(pairs)
    if bad.count and not skip_bad:
        if not as_json:
            echo("Some rows can't be used: fix them, or leave them out with --skip-bad.", err=True)
        sys.exit(1)


def _print_summary(file: str, bad: SkippedRows, summary: Summary, operators: int, reuse: int) -> None:
    whole, gold = summary.problems, summary.with_equation
    rows = [
        ("problems", f"{whole:,}", ""),
        ("rows that can't be used", f"{bad.count:,}", ""),
        ("with a gold equation", f"{gold:,}", share(gold, whole)),
    ]
    if gold:
        rows += [
            ("  that gives the answer", f"{summary.equation_ok:,}", share(summary.equation_ok, gold)),
            ("  over numbers of the text", f"{summary.bound:,}", share(summary.bound, gold)),
        ]
    if summary.left_out:
        rows.append(("equations left out", f"{summary.left_out:,}", share(summary.left_out, whole)))
    if summary.reached is not None and summary.gold_in_candidates is not None:
        rows.append(("answer reached by search", f"{summary.reached:,}", share(summary.reached, whole)))
        if gold:
            found = summary.gold_in_candidates
            rows.append(("  gold among the candidates", f"{found:,}", share(found, gold)))
        rows.append(("  candidates a problem", f"{(summary.candidates or 0) / max(whole, 1):.1f}", ""))
    print_table(f"{file} ({', '.join(summary.formats)})", rows)
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
    if bad.count:
        echo(f"\nrows that can't be used:\n{bad}")
    if summary.left_out:
        _print_some("equations left out", [str(row) for row in summary.first_left_out], summary.left_out, 10)
    if summary.doubtful:
        doubtful = [f"{name}: {reason}" for name, reason in summary.doubtful]
        _print_some("gold equations to look at", doubtful, summary.not_holding)


def _print_some(title: str, lines: Sequence[str], count: int, most: int = 5) -> None:
    echo(f"\n{title}:")
    for line in lines[:most]:
        echo(f"  {line}")
    if count > most:
        all_of_them = "all" if count == len(lines) else f"{len(lines):,}"
        echo(f"  … and {count - most:,} more ({all_of_them} with --json)")
