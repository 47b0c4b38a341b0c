"""`warmkit annotate backend`."""

import secrets
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import click

from toolkit.cli.annotate.listen import listen_of, listen_options
from toolkit.cli.annotate.stopping import until_stopped
from toolkit.cli.output import echo, json_option, print_json, waiting
from toolkit.cli.parameters import device_option, runs_option
from toolkit.errors import WarmkitError


@click.command(
    epilog="""\b
Examples:
  warmkit annotate backend --run mine
  warmkit annotate backend --run mine --port 9090 --json
  warmkit annotate backend --run mine --port 9090 --public-url https://models.example.org/mine"""
)
@click.option("--run", "name", required=True, help="The run whose newest model makes suggestions.")
@click.option(
    "--port", default=0, show_default=True, type=click.IntRange(0, 65535), help="0 is any free port."
)
@listen_options
@runs_option
@device_option
@json_option
def backend(
    name: str, port: int, host: str, public_url: str | None, runs: Path, device: str, as_json: bool
) -> None:
    """Let Label Studio ask the newest model of a run for equations, until Ctrl-C.

    The backend is added to the run's project, and removed at the end. In the Data Manager: choose tasks,
    then Actions, Retrieve Predictions. Tasks that show candidates get only a new score.
    """
    with waiting("Loading torch"):
        from annotation.backend import LARGEST, Backend, attached
        from annotation.client import Client
        from annotation.keys import find_connection
        from annotation.listener import listening
        from annotation.store import TaskStore
        from toolkit.loop.run import open_run
        from toolkit.loop.suggest import Suggester
        from toolkit.nn.device import pick_device

    run = open_run(runs, name)
    with closing(run.ledger):
        answers: dict[str, float] = dict(run.stored.columns("id", "answer").iter_rows())
    project = None
    if TaskStore.exists(run.store):
        with closing(TaskStore(run.store)) as store:
            project = store.project
    if project is None:
        raise WarmkitError(f"{run.folder}: it has no project in Label Studio yet. Start its loop first.")
    with until_stopped("The backend was stopped."), ExitStack() as stack:
        with waiting("Loading the model"):
            suggester = Suggester(run.folder, run.config.generate, pick_device(device))
            client = stack.enter_context(Client(find_connection()))
            listen = listen_of(host, public_url, port)
            listen.check(client.connection)
            secret = secrets.token_urlsafe(32)
            answer = Backend(suggester, answers).answer
            url = stack.enter_context(listening(answer, secret, LARGEST, listen))
            stack.enter_context(attached(client, project, url, secret))
        project_url = f"{client.url}/projects/{project}"
        if as_json:
            print_json({"url": url, "project": project_url, "model_version": suggester.version})
        else:
            echo(f"{project_url} asks {suggester.version} at {url}. Stop it with Ctrl-C.")
        threading.Event().wait()
