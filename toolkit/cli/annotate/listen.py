"""The options of commands that Label Studio calls: where they listen."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from toolkit.cli.annotate.target import warn

if TYPE_CHECKING:
    from annotation.listener import Listen


def listen_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--host ADDRESS and --public-url URL."""
    for option in (
        click.option(
            "--public-url",
            metavar="URL",
            help="The URL at which Label Studio reaches this command, if a proxy stands between them.",
        ),
        click.option(
            "--host",
            default="127.0.0.1",
            show_default=True,
            metavar="ADDRESS",
            help="Listen on this address. Every request must carry a secret.",
        ),
    ):
        command = option(command)
    return command


def listen_of(host: str, public_url: str | None, port: int = 0) -> "Listen":
    """Where to listen, with a warning if others can read what is sent."""
    from annotation.listener import Listen

    listen = Listen(host, port, public_url)
    warn([listen.warning] if listen.warning else [])
    return listen
