"""`warmkit annotate watch`."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

from toolkit.cli.annotate.listen import listen_of, listen_options
from toolkit.cli.annotate.pull import fetch
from toolkit.cli.annotate.target import Target, opened, target_options, warn
from toolkit.cli.output import echo, print_json
from toolkit.cli.parameters import FiniteRange

SLOWEST = 30.0  # seconds

Sleep = Callable[[float], object]


@click.command(
    epilog="""\b
Examples:
  warmkit annotate watch
  warmkit annotate watch --run mine --every 10 --webhook
  warmkit annotate watch --store grade-5 --json"""
)
@click.option(
    "--every",
    default=2.0,
    show_default=True,
    type=FiniteRange(0.1, 1e6),
    metavar="SECONDS",
    help="Ask this often; less often while nothing is new.",
)
@click.option("--webhook", is_flag=True, help="Let Label Studio signal new annotations.")
@listen_options
@target_options
@click.option("--json", "as_json", is_flag=True, help="Print each annotation as one JSON object per line.")
def watch(
    every: float,
    webhook: bool,
    host: str,
    public_url: str | None,
    folder: Path | None,
    run_name: str | None,
    runs: Path,
    as_json: bool,
) -> None:
    """Show annotations as they arrive, until every task is answered, or Ctrl-C."""
    with opened(folder, run_name, runs) as target:
        try:
            woken = _webhook_sleep(target, host, public_url) if webhook else nullcontext(time.sleep)
            with woken as sleep:
                _watch(target, every, sleep, as_json)
        except KeyboardInterrupt:
            sys.exit(130)


@contextmanager
def _webhook_sleep(target: Target, host: str, public_url: str | None) -> Iterator[Sleep]:
    """A sleep that the webhook of the project ends early."""
    from annotation.client import Client
    from annotation.keys import find_connection
    from annotation.webhook import webhook

    listen = listen_of(host, public_url)
    with Client(find_connection()) as client, webhook(client, target.store.project or 0, listen) as wake_up:
        yield wake_up.wait


def _watch(target: Target, every: float, sleep: Sleep, as_json: bool) -> None:
    from annotation.client import Unreachable

    summary, last, pause = target.summary, target.store.last(), every
    shown: tuple[str, ...] = ()
    told, url = "", target.store.project_url
    while True:
        try:
            new, warnings = fetch(target)
        except Unreachable as error:
            new, warnings = 0, (f"{error} It is tried again.",)
        if warnings != shown:
            warn(warnings)
        shown = warnings
        responses, _, last = target.store.responses(last)
        for response in responses:
            judgement = summary.judgement(response)
            verdict = "withdrawn" if response.kind == "withdrawn" else judgement.verdict
            fields = {
                "problem_id": response.problem_id,
                "round": response.round,
                "annotator": response.annotator,
                "verdict": verdict,
                "equation": response.equation,
                "reason": judgement.reason or None,
            }
            if as_json:
                print_json(fields)
            else:
                content = "  ".join(filter(None, (response.equation, judgement.reason)))
                echo(f"{response.problem_id}  {verdict}  {content}  ({response.annotator})")
        status = summary.status()
        if not status.open:
            if not as_json:
                echo(f"All {status.tasks:,} tasks are answered.")
            return
        if (waiting := f"Waiting for {status.open:,} of {status.tasks:,} tasks: {url}") != told:
            echo(waiting, err=True)
        told = waiting
        pause = every if new else min(1.5 * pause, max(SLOWEST, every))
        sleep(pause)
