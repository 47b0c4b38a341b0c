"""`warmkit annotate serve`."""

from contextlib import ExitStack
from typing import Any

import click

from annotation.environment import find_environment
from annotation.keys import connection_file, data_folder, store_connection
from annotation.server import HOST, Server, running
from toolkit.cli.annotate.stopping import until_stopped
from toolkit.cli.output import echo, json_option, print_json, print_table, waiting


@click.command(
    epilog="""\b
Examples:
  warmkit annotate serve
  warmkit annotate serve --port 9000
  warmkit annotate serve --host 192.168.1.20
  warmkit annotate serve --port 0 --json"""
)
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="0 is any free port.",
)
@click.option(
    "--host",
    default=HOST,
    show_default=True,
    metavar="ADDRESS",
    help="The address of this machine at which colleagues reach it; 0.0.0.0 is all of them.",
)
@json_option
def serve(port: int, host: str, as_json: bool) -> None:
    """Start a local Label Studio, and keep it running until Ctrl-C.

    The first call installs it, into its own environment. It can be reached from this machine only,
    unless --host names another address: then nobody can sign up without an invitation (Organization, Add
    People), and what is sent is plain http, for a network that you trust. Its data
    are kept in your data folder (WARMKIT_HOME, or ~/.local/share/warmkit). `warmkit loop` and
    `warmkit annotate push` make the projects.
    """
    own = data_folder() / "label-studio"
    with until_stopped("Label Studio was stopped."), ExitStack() as stack:
        with waiting("Label Studio") as report:
            program = find_environment(own, report)
            server = stack.enter_context(running(program, own, port, report, host))
            store_connection(server.connection)
        _print(server, as_json)
        server.wait()


def _print(server: Server, as_json: bool) -> None:
    facts: dict[str, Any] = {
        "url": server.url,
        "user": server.user,
        "password_file": str(server.password_file),
        "connection_file": str(connection_file()),
        "log": str(server.log),
    }
    if as_json:
        print_json(facts)
        return
    rows = [
        ("log in as", facts["user"]),
        ("with the password in", facts["password_file"]),
        ("key, for the other commands", facts["connection_file"]),
        ("log", facts["log"]),
    ]
    print_table(f"Label Studio runs at {server.url}", rows)
    echo("Stop it with Ctrl-C.")
