"""`warmkit data generate`."""

from pathlib import Path

import click

from toolkit.cli.output import echo, json_option, print_json, progress
from toolkit.cli.parameters import COUNT, SEED, out_option
from toolkit.data.stories import languages
from toolkit.data.stories.table import write_story_table


@click.command(
    epilog="""\b
Examples:
  warmkit data generate --lang en --count 1200 --seed 2022 --out problems.jsonl
  warmkit data generate --count 1000000 --out million.parquet"""
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
    with progress("Writing", count) as advance:
        written = write_story_table(lang, count, seed, out, advance)
    if as_json:
        print_json({"problems": written, "out": str(out)})
    else:
        echo(f"{written:,} problems written to {out}")
