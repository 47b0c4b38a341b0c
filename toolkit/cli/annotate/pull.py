"""`warmkit annotate pull`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolkit.cli.annotate.target import Target, opened, target_options, warn
from toolkit.cli.output import echo, json_option, print_json, print_table, waiting
from toolkit.data.write import write_table

if TYPE_CHECKING:
    from toolkit.annotators.judge import AnnotationVerdict

VERDICTS: "tuple[AnnotationVerdict, ...]" = ("accepted", "rejected", "disputed", "skipped")


@click.command(
    epilog="""\b
Examples:
  warmkit annotate pull
  warmkit annotate pull --store grade-5 --json
  warmkit annotate pull --run mine"""
)
@target_options
@json_option
def pull(folder: Path | None, run_name: str | None, runs: Path, as_json: bool) -> None:
    """Fetch new annotations, and write all of them to annotations.parquet in the store's folder.

    With --run they are also recorded in the run's ledger, and count when its next round opens.
    """
    with opened(folder, run_name, runs) as target:
        with waiting("Asking Label Studio"):
            new, warnings = fetch(target)
        warn(warnings)
        table = target.summary.table()
        out = target.store.folder / "annotations.parquet"
        write_table(table, out)
    counts = dict(table["verdict"].value_counts().iter_rows())
    verdicts = {verdict: counts.get(verdict, 0) for verdict in VERDICTS}
    if as_json:
        print_json({"new": new, "annotations": len(table), "verdicts": verdicts, "file": str(out)})
        return
    print_table("annotations", [(name, f"{count:,}") for name, count in verdicts.items()])
    echo(f"{new:,} are new or changed. All of them are in {out}")


def fetch(target: Target) -> tuple[int, tuple[str, ...]]:
    """Update store and ledger. Returns how many annotations are new, changed or deleted, and warnings."""
    from annotation.client import Client
    from annotation.keys import find_connection
    from annotation.pull import pull as pull_into

    with Client(find_connection()) as client:
        before = target.store.last()
        done = pull_into(client, target.store)
    unclear = target.store.responses(before)[1]
    if target.run is not None:
        with target.run.ledger.transaction():
            target.run.ledger.record(target.store.responses()[0])
    return done.new, (*done.warnings, *unclear)
