"""`warmkit data`: import, show, check and split problem sets, choose constants, and generate new ones."""

import click

from toolkit.cli.data.check import check
from toolkit.cli.data.constants import constants
from toolkit.cli.data.generate import generate
from toolkit.cli.data.import_ import import_command
from toolkit.cli.data.show import show_command
from toolkit.cli.data.split import split_command


@click.group()
def data() -> None:
    """Problem sets: import, show, check, split, generate, and their constants.

    FILE is a problem set in any known format (JSON, JSON Lines, CSV, Parquet, XML), recognised by its
    content, or a folder or a pattern ("parts/*.parquet") of Parquet and JSON Lines parts; each may be in S3
    (s3://bucket/parts), with keys from the environment. bundled:en, bundled:hi and bundled:zh are the
    problems that come with warmkit.
    """


for command in (import_command, show_command, check, constants, split_command, generate):
    data.add_command(command)
