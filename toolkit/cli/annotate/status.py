"""`warmkit annotate status`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolkit.cli.annotate.pull import VERDICTS, fetch
from toolkit.cli.annotate.target import opened, target_options, warn
from toolkit.cli.output import echo, json_option, print_json, print_table, share, waiting

if TYPE_CHECKING:
    from annotation.summary import Status


@click.command(
    epilog="""\b
Examples:
  warmkit annotate status
  warmkit annotate status --run mine
  warmkit annotate status --store grade-5 --offline --json"""
)
@click.option("--offline", is_flag=True, help="Show the state of the last pull, without asking the server.")
@target_options
@json_option
def status(offline: bool, folder: Path | None, run_name: str | None, runs: Path, as_json: bool) -> None:
    """Show the progress by round, annotator and verdict, the annotators' speed, and how well they agree."""
    with opened(folder, run_name, runs) as target:
        if not offline:
            with waiting("Asking Label Studio"):
                warn(fetch(target)[1])
        found = target.summary.status()
        url = target.store.project_url
    if as_json:
        print_json(_object(found, url))
        return
    rows = [
        (
            str(figures.round),
            figures.annotator,
            *(str(figures.verdicts.get(verdict, 0)) for verdict in VERDICTS),
            "–" if figures.per_hour is None else f"{figures.per_hour:.0f}",
        )
        for figures in found.figures
    ]
    if rows:
        print_table("", rows, ("round", "annotator", *VERDICTS, "per hour"))
    echo(f"{found.answered:,} of {found.tasks:,} tasks are answered, {found.open:,} are open: {url}")
    if found.shared:
        agreement = f"{found.agreed} of {found.shared} ({share(found.agreed, found.shared)})"
        echo(f"Several annotators gave an equation for the same problem: they agree in {agreement}.")


def _object(found: "Status", url: str) -> dict[str, object]:
    return {
        "url": url,
        "tasks": found.tasks,
        "answered": found.answered,
        "open": found.open,
        "annotators": [
            {
                "round": figures.round,
                "annotator": figures.annotator,
                **{verdict: figures.verdicts.get(verdict, 0) for verdict in VERDICTS},
                "per_hour": figures.per_hour,
            }
            for figures in found.figures
        ],
        "shared": found.shared,
        "agreement": found.agreed / found.shared if found.shared else None,
    }
