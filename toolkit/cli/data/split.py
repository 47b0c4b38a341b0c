"""`warmkit data split`."""

from pathlib import Path

import click

from toolkit.cli.output import echo, json_option, print_duplicates, print_json, print_table, progress, waiting
from toolkit.cli.parameters import COUNT, SEED, DiskPath, shares, skip_bad_option
from toolkit.data.read import read_parts
from toolkit.data.skipped import bad_rows_beside, skipping
from toolkit.data.split_file import MOST_COMPARED, PIECE, split_file
from toolkit.data.write import WRITERS


@click.command(
    "split",
    epilog="""\b
Examples:
  warmkit data split mine.jsonl --parts train=0.8,test=0.2 --seed 1 --out mine-split.parquet
  warmkit data split mine.jsonl --folds 5 --seed 1 --out folds/""",
)
@click.argument("file")
@click.option(
    "--out",
    required=True,
    type=DiskPath(),
    help="One table with the column `split` (.parquet, .jsonl, .csv), or a folder with one file per part.",
)
@click.option("--parts", callback=shares, help="Names and shares. [default: train=0.8,test=0.2]")
@click.option(
    "--folds", "count", type=click.IntRange(2, COUNT.max), help="Equal parts fold0, fold1, … instead."
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="The same seed gives the same split.")
@click.option("--part-duplicates", is_flag=True, help="Let near-duplicates fall into different parts.")
@skip_bad_option
@json_option
def split_command(
    file: str,
    out: Path,
    parts: dict[str, float] | None,
    count: int | None,
    seed: int,
    part_duplicates: bool,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Split FILE at random into named parts or folds; near-duplicates stay together.

    FILE may be a folder or a pattern of Parquet or JSON Lines parts, of any size. Of more than 25,000
    problems only those that differ in nothing but their numbers stay together.
    """
    if parts and count:
        raise click.UsageError("Give --parts or --folds, not both.")
    if out.suffix and out.suffix.lower() not in WRITERS:
        raise click.UsageError(f"--out {out}: the name must end in {', '.join(WRITERS)}, or be a folder.")
    with skipping(bad_rows_beside(out) if skip_bad else None) as bad:
        with waiting(f"Reading {file}"):
            rows, problems = read_parts(file, PIECE, skipped=bad if skip_bad else None)
        with progress("Splitting", rows) as advance:
            made = split_file(
                problems,
                out,
                count or parts or {"train": 0.8, "test": 0.2},
                seed,
                part_duplicates=part_duplicates,
                advance=advance,
            )
    separated = made.separated
    if as_json:
        apart = None if separated is None else len(separated)
        print_json(
            {"sizes": made.sizes, "bad": bad.count, "duplicates_across_splits": apart, "out": str(out)}
        )
        return
    print_table(str(out), [(name, f"{size:,}") for name, size in made.sizes.items()], ("part", "problems"))
    if bad.count:
        echo(f"{bad.count:,} rows were left out:\n{bad}", err=True)
    if separated is None and not part_duplicates:
        alike = "only those that differ in nothing but their numbers stay together"
        echo(f"more than {MOST_COMPARED:,} problems: {alike}")
    elif separated is not None and len(separated):
        print_duplicates(separated)
