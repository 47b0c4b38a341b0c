"""`warmkit annotate serve`."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import click

from annotation.environment import find_environment
from annotation.keys import connection_file, data_folder, store_connection
from annotation.server import Server, running
from toolkit.cli.annotate.stopping import until_stopped
from toolkit.cli.annotate.target import DEFAULT, warn
from toolkit.cli.output import echo, json_option, print_json, print_table, waiting
from toolkit.errors import WarmkitError


@click.command(
    epilog="""\b
Examples:
  warmkit annotate serve
  warmkit annotate serve --port 9000 --project "Grade 5" --store grade-5
  warmkit annotate serve --port 0 --json"""
)
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port, on this machine alone; 0 is any free port.",
)
@click.option("--project", "title", default="warmkit", show_default=True, help="The title of the project.")
@click.option(
    "--store",
    "folder",
    default=DEFAULT,
    show_default=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder that keeps tasks and annotations of the project; push, pull, status and watch use it.",
)
@json_option
def serve(port: int, title: str, folder: Path, as_json: bool) -> None:
    """Start a local Label Studio, and keep it running until Ctrl-C.

    The first call installs it, into its own environment. It can be reached from this machine only. Its data
    are kept in your data folder (WARMKIT_HOME, or ~/.local/share/warmkit).
    """
    own = data_folder() / "label-studio"
    with until_stopped("Label Studio was stopped."), ExitStack() as stack:
        with waiting("Label Studio") as report:
            program = find_environment(own, report)
            server = stack.enter_context(running(program, own, port, report))
            store_connection(server.connection)
            report("The project is being made")
            project = _project(server, folder, title)
        _print(server, project, as_json)
        server.wait()


def _project(server: Server, folder: Path, title: str) -> str | None:
    """The URL of the store's project; None, with a warning, if it was deleted or is on another server."""
    from annotation.client import Client
    from annotation.project import ensure_project
    from annotation.store import TaskStore

    try:
        with closing(TaskStore(folder)) as store, Client(server.connection) as client:
            found = ensure_project(client, store, title)
    except WarmkitError as error:
        warn([f"No project: {error}"])
        return None
    warn(found.warnings)
    return found.url


def _print(server: Server, project: str | None, as_json: bool) -> None:
    facts: dict[str, Any] = {
        "url": server.url,
        "project": project,
        "user": server.user,
        "password_file": str(server.password_file),
        "connection_file": str(connection_file()),
        "log": str(server.log),
    }
    if as_json:
        print_json(facts)
        return
    rows = [
        ("project", project or "none"),
        ("log in as", facts["user"]),
        ("with the password in", facts["password_file"]),
        ("key, for the other commands", facts["connection_file"]),
        ("log", facts["log"]),
    ]
    print_table(f"Label Studio runs at {server.url}", rows)
    echo("Stop it with Ctrl-C.")
