"""`warmkit annotate`: annotators who work in Label Studio."""

import click

from toolkit.cli.annotate.backend import backend
from toolkit.cli.annotate.connect import connect
from toolkit.cli.annotate.pull import pull
from toolkit.cli.annotate.push import push
from toolkit.cli.annotate.serve import serve
from toolkit.cli.annotate.status import status
from toolkit.cli.annotate.watch import watch


@click.group()
def annotate() -> None:
    """Label Studio: start a server or connect to one, and let annotators work there.

    The address and the key come from LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY, or from a file that serve
    or connect wrote and that only you can read.
    """


for command in (serve, connect, push, pull, status, watch, backend):
    annotate.add_command(command)
