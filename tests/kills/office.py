"""Annotators in a process of their own, who answer all that runs in a folder ask, in sheets or Label Studio.

They write the gold equation. Of some problems they first write a wrong one, so that those are asked again.
"""

import csv
import os
import signal
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from integration.annotators import Annotators, written

from annotation.answers import Task
from annotation.api import list_tasks
from annotation.client import Client
from annotation.keys import Connection
from annotation.store import TaskStore
from toolkit.errors import WarmkitError

WRONG = "1 + 1"


@contextmanager
def open_office(root: Path, connection: Connection | None) -> Iterator[None]:
    """They work while the block runs."""
    child = os.fork()
    if child == 0:
        try:
            _work(root, connection)
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _work(root: Path, connection: Connection | None) -> None:
    import polars as pl

    golds: dict[Path, dict[str, str]] = {}
    while True:
        for problems in root.glob("[!.]*/problems.parquet"):
            run = problems.parent
            if run not in golds:
                table = pl.read_parquet(problems)
                golds[run] = dict(zip(table["id"], table["equation"], strict=True))
            for sheet in (run / "annotate").glob("*.csv"):
                _fill_in(sheet, golds[run])
            if connection is not None and TaskStore.exists(run / "label-studio"):
                # The server fails now and then, and a store may be half made by a loop that is about to die.
                with suppress(WarmkitError, OSError), Client(connection) as client:
                    _annotate(client, run / "label-studio", golds[run])
        time.sleep(0.1)


def _answer(problem: str, attempt: int, gold: dict[str, str]) -> str:
    return WRONG if attempt == 0 and zlib.crc32(problem.encode()) % 3 == 0 else gold[problem]


def _fill_in(sheet: Path, gold: dict[str, str]) -> None:
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or all(row["equation"] for row in rows):
        return
    for row in rows:
        row["equation"] = _answer(row["problem_id"], int("again" in sheet.name), gold)
    part = sheet.with_name(f"{sheet.name}.filled")
    with part.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    part.replace(sheet)


def _annotate(client: Client, folder: Path, gold: dict[str, str]) -> None:
    with closing(TaskStore(folder)) as store:
        project = store.project
    if project is None:
        return
    annotators = Annotators(client, project)
    for task in list_tasks(client, project, Task):
        if not task.total_annotations:
            equation = _answer(task.data["problem_id"], task.data["attempt"], gold)
            annotators.annotate(task.id, written(equation))
