"""`warmkit annotate pull`."""

from pathlib import Path

import click

from toolkit.cli.annotate.place import Place, opened, place_options, warn
from toolkit.cli.output import json_option, print_json, print_table, waiting
from toolkit.data.write import write_table

VERDICTS = ("accepted", "rejected", "disputed", "skipped")


@click.command(
    epilog="""\b
Examples:
  warmkit annotate pull
  warmkit annotate pull --book grade-5 --json
  warmkit annotate pull --run mine"""
)
@place_options
@json_option
def pull(folder: Path | None, run_name: str | None, runs: Path, as_json: bool) -> None:
    """Fetch what people said since the last time, and write annotations.parquet beside the book.

    With --run it is also recorded in the run's ledger, and counts when its next round opens.
    """
    with opened(folder, run_name, runs) as place:
        with waiting("Asking Label Studio"):
            new, warnings = fetch(place)
        warn(warnings)
        table = place.outcome.table()
        out = place.book.folder / "annotations.parquet"
        write_table(table, out)
    counts = dict(table["verdict"].value_counts().iter_rows())
    verdicts = {verdict: counts.get(verdict, 0) for verdict in VERDICTS}
    if as_json:
        print_json({"new": new, "annotations": len(table), "verdicts": verdicts, "file": str(out)})
        return
    print_table("annotations", [(name, f"{count:,}") for name, count in verdicts.items()])
    click.echo(f"{new:,} are new or changed. All of them in {out}")


def fetch(place: Place) -> tuple[int, tuple[str, ...]]:
    """Bring book and ledger up to date; how many annotations came, changed or went, and warnings."""
    from annotation.client import Client
    from annotation.keys import find_connection
    from annotation.pull import pull as bring

    with Client(find_connection()) as client:
        before = place.book.last()
        done = bring(client, place.book)
    unclear = place.book.responses(before)[1]
    if place.run is not None:
        with place.run.ledger.transaction():
            place.run.ledger.record(place.book.responses()[0])
    return done.new, (*done.warnings, *unclear)
