"""`warmkit annotate watch`."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

from toolkit.cli.annotate.place import Place, opened, place_options, warn
from toolkit.cli.annotate.pull import fetch
from toolkit.cli.output import print_json

SLOWEST = 30.0  # seconds

Sleep = Callable[[float], object]


@click.command(
    epilog="""\b
Examples:
  warmkit annotate watch
  warmkit annotate watch --run mine --every 10 --webhook
  warmkit annotate watch --book grade-5 --json"""
)
@click.option(
    "--every",
    default=2.0,
    show_default=True,
    type=click.FloatRange(min=0.1),
    metavar="SECONDS",
    help="Look so often; less often while nothing comes.",
)
@click.option("--webhook", is_flag=True, help="Let a Label Studio on this machine say when to look.")
@place_options
@click.option("--json", "as_json", is_flag=True, help="Print each annotation as one JSON object a line.")
def watch(
    every: float, webhook: bool, folder: Path | None, run_name: str | None, runs: Path, as_json: bool
) -> None:
    """Show what people say as it comes in, until everything is answered, or Ctrl-C."""
    with opened(folder, run_name, runs) as place:
        try:
            with _bell(place) if webhook else nullcontext(time.sleep) as sleep:
                _watch(place, every, sleep, as_json)
        except KeyboardInterrupt:
            sys.exit(130)


@contextmanager
def _bell(place: Place) -> Iterator[Sleep]:
    from annotation.client import Client
    from annotation.keys import find_connection
    from annotation.webhook import bell

    with Client(find_connection()) as client, bell(client, place.book.project or 0) as rung:
        yield rung.wait


def _watch(place: Place, every: float, sleep: Sleep, as_json: bool) -> None:
    from annotation.client import Unreachable

    outcome, last, pause = place.outcome, place.book.last(), every
    told = ""
    while True:
        try:
            new, warnings = fetch(place)
        except Unreachable as error:
            new, warnings = 0, (f"{error} It is tried again.",)
        if "".join(warnings) != told:
            warn(warnings)
        told = "".join(warnings)
        responses, _, last = place.book.responses(last)
        for response in responses:
            judged = outcome.judged(response)
            verdict = "withdrawn" if response.kind == "withdrawn" else judged.verdict
            said = {
                "problem_id": response.problem_id,
                "round": response.round,
                "annotator": response.annotator,
                "verdict": verdict,
                "equation": response.equation,
                "reason": judged.reason or None,
            }
            if as_json:
                print_json(said)
            else:
                what = "  ".join(filter(None, (response.equation, judged.reason)))
                click.echo(f"{response.problem_id}  {verdict}  {what}  ({response.annotator})")
        status = outcome.status()
        if not status.open:
            if not as_json:
                click.echo(f"All {status.tasks:,} tasks are answered.")
            return
        pause = every if new else min(1.5 * pause, max(SLOWEST, every))
        sleep(pause)
