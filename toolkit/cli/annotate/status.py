"""`warmkit annotate status`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolkit.cli.annotate.place import opened, place_options, warn
from toolkit.cli.annotate.pull import VERDICTS, fetch
from toolkit.cli.output import json_option, print_json, print_table, share, waiting

if TYPE_CHECKING:
    from annotation.outcome import Status


@click.command(
    epilog="""\b
Examples:
  warmkit annotate status
  warmkit annotate status --run mine
  warmkit annotate status --book grade-5 --offline --json"""
)
@click.option("--offline", is_flag=True, help="As it was at the last pull; the server is not asked.")
@place_options
@json_option
def status(offline: bool, folder: Path | None, run_name: str | None, runs: Path, as_json: bool) -> None:
    """Show how far people are: by round, annotator and verdict, how fast, and how well they agree."""
    with opened(folder, run_name, runs) as place:
        if not offline:
            with waiting("Asking Label Studio"):
                warn(fetch(place)[1])
        found = place.outcome.status()
        url = f"{place.book.fact('url')}/projects/{place.book.project}"
    if as_json:
        print_json(_object(found, url))
        return
    rows = [
        (
            str(one.round),
            one.annotator,
            *(str(one.verdicts.get(verdict, 0)) for verdict in VERDICTS),
            "–" if one.per_hour is None else f"{one.per_hour:.0f}",
        )
        for one in found.figures
    ]
    if rows:
        print_table("", rows, ("round", "annotator", *VERDICTS, "per hour"))
    click.echo(f"{found.answered:,} of {found.tasks:,} tasks are answered, {found.open:,} are open: {url}")
    if found.shared:
        agreed = f"{found.agreed} of {found.shared} ({share(found.agreed, found.shared)})"
        click.echo(f"Where several annotators gave an equation they mean the same in {agreed}.")


def _object(found: "Status", url: str) -> dict[str, object]:
    return {
        "url": url,
        "tasks": found.tasks,
        "answered": found.answered,
        "open": found.open,
        "annotators": [
            {
                "round": one.round,
                "annotator": one.annotator,
                **{verdict: one.verdicts.get(verdict, 0) for verdict in VERDICTS},
                "per_hour": one.per_hour,
            }
            for one in found.figures
        ],
        "shared": found.shared,
        "agreement": found.agreed / found.shared if found.shared else None,
    }
