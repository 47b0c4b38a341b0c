"""`warmkit annotate backend`."""

import secrets
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import click

from toolkit.cli.annotate.stopping import until_stopped
from toolkit.cli.output import json_option, print_json, waiting
from toolkit.cli.parameters import device_option, runs_option
from toolkit.errors import WarmkitError


@click.command(
    epilog="""\b
Examples:
  warmkit annotate backend --run mine
  warmkit annotate backend --run mine --port 9090 --json"""
)
@click.option("--run", "name", required=True, help="The run whose newest model suggests.")
@click.option(
    "--port", default=0, show_default=True, type=click.IntRange(0, 65535), help="0 is any free one."
)
@runs_option
@device_option
@json_option
def backend(name: str, port: int, runs: Path, device: str, as_json: bool) -> None:
    """Let Label Studio ask the newest model of a run for equations, until Ctrl-C.

    It is added to the run's project as an ML backend and taken away at the end. In the Data Manager: choose
    tasks, then Actions, Retrieve Predictions. Tasks that show candidates get a new score alone.
    """
    with waiting("Loading torch"):
        from annotation.backend import LARGEST, Backend, attached
        from annotation.book import Book
        from annotation.client import Client
        from annotation.keys import find_connection
        from annotation.listener import listening
        from toolkit.loop.run import open_run
        from toolkit.loop.suggest import Suggester
        from toolkit.warm.device import pick_device

    run = open_run(runs, name)
    with closing(run.ledger):
        answers = dict(run.problems().select("id", "answer").iter_rows())
    if not (run.book / "book.sqlite").exists():
        raise WarmkitError(f"{run.folder}: it has no project in Label Studio yet. Start its loop first.")
    with closing(Book(run.book)) as book:
        project = book.project
    if project is None:
        raise WarmkitError(f"{run.folder}: it has no project in Label Studio yet. Start its loop first.")
    with until_stopped("The backend was stopped."), ExitStack() as stack:
        with waiting("Loading the model"):
            suggester = Suggester(run.folder, run.config.generate.width, pick_device(device))
            client = stack.enter_context(Client(find_connection()))
            if not client.connection.is_local:
                raise WarmkitError(f"{client.url}: it can't reach this machine; we listen on loopback alone.")
            secret = secrets.token_urlsafe(32)
            answer = Backend(suggester, answers).answer
            url = stack.enter_context(listening(answer, secret, LARGEST, port))
            stack.enter_context(attached(client, project, url, secret))
        place = f"{client.url}/projects/{project}"
        if as_json:
            print_json({"url": url, "project": place, "model_version": suggester.version})
        else:
            click.echo(f"{place} asks {suggester.version} at {url}. Stop it with Ctrl-C.")
        threading.Event().wait()
