"""`warmkit annotate serve`."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import click

from annotation.environment import find_environment
from annotation.keys import connection_file, data_folder, store_connection
from annotation.server import Server, running
from toolkit.cli.annotate.place import DEFAULT, warn
from toolkit.cli.annotate.stopping import until_stopped
from toolkit.cli.output import json_option, print_json, print_table, waiting
from toolkit.errors import WarmkitError


@click.command(
    epilog="""\b
Examples:
  warmkit annotate serve
  warmkit annotate serve --port 9000 --project "Grade 5" --book grade-5
  warmkit annotate serve --port 0 --json"""
)
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Where to serve, on this machine alone; 0 is any port that is free.",
)
@click.option("--project", "title", default="warmkit", show_default=True, help="The title of the project.")
@click.option(
    "--book",
    "folder",
    default=DEFAULT,
    show_default=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where what is sent and said in the project is kept; push, pull, status and watch use it.",
)
@json_option
def serve(port: int, title: str, folder: Path, as_json: bool) -> None:
    """Start a Label Studio of your own, and keep it running until Ctrl-C.

    It is installed when it is first needed, into an environment of its own, and reached from this machine
    only. Its data stay in your data folder (WARMKIT_HOME, else ~/.local/share/warmkit).
    """
    own = data_folder() / "label-studio"
    with until_stopped("Label Studio was stopped."), ExitStack() as stack:
        with waiting("Label Studio") as tell:
            program = find_environment(own, tell)
            server = stack.enter_context(running(program, own, port, tell))
            store_connection(server.connection)
            tell("The project is being made")
            project = _project(server, folder, title)
        _print(server, project, as_json)
        server.wait()


def _project(server: Server, folder: Path, title: str) -> str | None:
    """The address of the book's project. A book of another server, or a deleted project, is no hindrance."""
    from annotation.book import Book
    from annotation.client import Client
    from annotation.project import ensure_project

    try:
        with closing(Book(folder)) as book, Client(server.connection) as client:
            found = ensure_project(client, book, title)
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
    click.echo("Stop it with Ctrl-C.")
