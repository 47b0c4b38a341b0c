"""`warmkit annotate status`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolkit.cli.annotate.pull import VERDICTS, fetch
from toolkit.cli.annotate.target import Target, opened, target_options, warn
from toolkit.cli.output import echo, json_option, print_json, print_table, share, waiting

if TYPE_CHECKING:
    from annotation.summary import Status
    from toolkit.annotators.team import AnnotatorRow, Team


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
        team = _team(target)
    if as_json:
        print_json({**_object(found, url), "team": [_team_object(row) for row in team.rows()]})
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
    if team_rows := team.rows():
        print_table("all rounds", [_cells(row) for row in team_rows], HEAD)
    for name, why in team.unreliable().items():
        echo(f"The annotator {name} is not to be trusted: {why}.")
    if found.shared:
        agreement = f"{found.agreed} of {found.shared} ({share(found.agreed, found.shared)})"
        echo(f"Several annotators gave an equation for the same problem: they agree in {agreement}.")


HEAD = ("annotator", "questions", "median s", "agreement κ", "gold right", "reliability")


def _team(target: Target) -> "Team":
    if target.run is None:
        return target.summary.team()
    from toolkit.loop.team import answered_problems, resolver_of, team_of

    run = target.run
    return team_of(run.ledger, resolver_of(answered_problems(run.stored, run.ledger), run.config))


def _cells(row: "AnnotatorRow") -> tuple[str, ...]:
    agreement = row.agreement
    return (
        row.name,
        str(row.tasks),
        "–" if row.seconds is None else f"{row.seconds:.0f}",
        "–" if agreement is None else f"{agreement.value:.2f} ({agreement.low:.2f} – {agreement.high:.2f})",
        f"{row.gold_right} of {row.gold_asked}" if row.gold_asked else "–",
        "–" if row.reliability is None else f"{100 * row.reliability:.0f} %",
    )


def _team_object(row: "AnnotatorRow") -> dict[str, object]:
    return {**asdict(row), "verdicts": dict(row.verdicts)}


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
