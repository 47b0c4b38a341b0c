"""`warmkit data split`."""

from pathlib import Path

import click

from toolkit.cli.output import json_option, print_duplicates, print_json, print_table, waiting
from toolkit.cli.parameters import COUNT, SEED, shares, skip_bad_option
from toolkit.data.duplicates import across_splits, near_duplicates
from toolkit.data.read import read_problems
from toolkit.data.split import folds, split
from toolkit.data.write import WRITERS, write_table, write_tables


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
    type=click.Path(path_type=Path),
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
    """Split FILE at random into named parts or folds; near-duplicates stay together."""
    if parts and count:
        raise click.UsageError("Give --parts or --folds, not both.")
    if out.suffix and out.suffix.lower() not in WRITERS:
        raise click.UsageError(f"--out {out}: the name must end in {', '.join(WRITERS)}, or be a folder.")
    with waiting(f"Reading {file}"):
        read = read_problems(file, skip_bad=skip_bad)
        problems, pairs = read.table, near_duplicates(read)
    together = [] if part_duplicates else pairs.select("first", "second").rows()
    if count:
        problems = folds(problems, count, seed, together)
    else:
        problems = split(problems, parts or {"train": 0.8, "test": 0.2}, seed, together)
    sizes = dict(problems.group_by("split").len().sort("split").iter_rows())
    if out.suffix:
        write_table(problems, out)
    else:
        write_tables({out / f"{name}.parquet": problems.filter(split=name) for name in sizes})
    separated = across_splits(problems, pairs)
    if as_json:
        print_json({"sizes": sizes, "duplicates_across_splits": len(separated), "out": str(out)})
        return
    print_table(str(out), [(name, f"{size:,}") for name, size in sizes.items()], ("part", "problems"))
    if len(separated):
        print_duplicates(separated)
