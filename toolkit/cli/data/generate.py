"""`warmkit data generate`."""

from pathlib import Path

import click
import polars as pl

from toolkit.cli.output import echo, json_option, print_json, waiting
from toolkit.cli.parameters import COUNT, SEED, out_option
from toolkit.data.schema import PROBLEMS
from toolkit.data.stories import languages, story_rows, write_stories
from toolkit.data.write import write_table


@click.command(
    epilog="""\b
Examples:
  warmkit data generate --lang en --count 1200 --seed 2022 --out problems.jsonl"""
)
@click.option("--lang", type=click.Choice(languages()), default="en", show_default=True)
@click.option("--count", default=1000, show_default=True, type=COUNT)
@click.option(
    "--seed", type=SEED, default=2022, show_default=True, help="The same seed gives the same problems."
)
@out_option
@json_option
def generate(lang: str, count: int, seed: int, out: Path, as_json: bool) -> None:
    """Write new word problems with gold equations, like the bundled ones."""
    with waiting(f"Writing {count:,} problems"):
        rows = story_rows(write_stories(lang, count, seed), seed)
        write_table(pl.DataFrame(rows, schema=PROBLEMS), out)
    if as_json:
        print_json({"problems": len(rows), "out": str(out)})
    else:
        echo(f"{len(rows):,} problems written to {out}")
