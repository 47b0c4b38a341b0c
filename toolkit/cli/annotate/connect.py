"""`warmkit annotate connect`."""

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from annotation.check import Finding, examine, who
from annotation.client import Client
from annotation.keys import CA, KEY, Connection, clean_url, store_connection, stored_ca, stored_key
from toolkit.cli.output import echo, json_option, print_json, waiting
from toolkit.screen import harmless


@click.command(
    epilog="""\b
Examples:
  warmkit annotate connect https://label.example.org
  warmkit annotate connect http://127.0.0.1:8080 --check
  warmkit annotate connect https://label.example.org --ca our-authority.pem
  LABEL_STUDIO_API_KEY=$(pass label-studio) warmkit annotate connect https://label.example.org --json"""
)
@click.argument("url")
@click.option(
    "--ca",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The certificate of the server's own authority (PEM).",
)
@click.option("--check", is_flag=True, help="Show what works on the server; uses the stored key.")
@json_option
def connect(url: str, ca: Path | None, check: bool, as_json: bool) -> None:
    """Use the Label Studio at URL for all other commands.

    The key is a personal access token or a legacy token from Label Studio's Account & Settings. It is read
    from LABEL_STUDIO_API_KEY or typed in without echo, checked, and kept in a file that only you can read.
    """
    url = clean_url(url)
    key = os.environ.get(KEY) or (check and stored_key(url)) or _ask(url)
    authority = str(ca.absolute()) if ca else os.environ.get(CA) or stored_ca(url)
    connection = Connection(url, key, authority)
    if connection.warning:
        echo(f"warning: {connection.warning}", err=True)
    with Client(connection) as client:
        if check:
            with waiting(f"Looking at {url}"):
                findings = examine(client)
            valid = any(finding.name == "key" and finding.works for finding in findings)
        else:
            with waiting(f"Checking the key at {url}"):
                user = who(client)
            findings, valid = [], True
    file = store_connection(connection) if valid else None
    if as_json:
        kept = None if file is None else str(file)
        shown = [asdict(finding) for finding in findings]
        print_json({"url": url, "connection_file": kept, **({"checks": shown} if check else {"user": user})})
    elif check:
        _print(findings)
        echo(f"The key is kept in {file}." if file else "Nothing was kept.")
    else:
        echo(f"Connected to {url} as {user}. The key is kept in {file}.")
    if any(finding.works is False for finding in findings):
        sys.exit(1)


def _ask(url: str) -> str:
    """The key, typed in without echo or from a pipe; never an argument, which every process list shows."""
    if sys.stdin.isatty():
        return str(click.prompt(harmless(f"Key for {url} (not shown)"), hide_input=True, err=True))
    return sys.stdin.readline()


def _print(findings: Sequence[Finding]) -> None:
    marks = {True: "yes", False: "no ", None: "?  "}
    for finding in findings:
        echo(f"{marks[finding.works]}  {finding.sentence}")
