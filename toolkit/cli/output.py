"""The output of commands: tables and progress bars on a terminal, plain lines in a pipe, JSON."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
import polars as pl
from rich import box
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from toolkit.screen import Screen, harmless, harmless_json
from toolkit.solvers.base import SolverProgress

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")

WIDEST = 100_000  # characters of a line in a pipe, which has no screen to fit
LONG_FIGURE = 12  # characters; a longer cell may be a sentence that begins with a figure


def echo(text: str = "", err: bool = False) -> None:
    """A line that is shown as it is: nothing in it can change the terminal."""
    click.echo(harmless(text), err=err)


def print_json(value: dict[str, Any]) -> None:
    click.echo(harmless_json(json.dumps(value, ensure_ascii=False, allow_nan=False)))


def print_table(title: str, rows: Sequence[tuple[str, ...]], headers: Sequence[str] = ()) -> None:
    """A table that fits the screen: text folds, figures are right-aligned. In a pipe a row is a line."""
    out = Screen()
    if not out.is_terminal:
        out.width = WIDEST
    if title:
        out.print(Text(title, "bold"))
    table = Table(
        box=box.SIMPLE_HEAD if out.is_terminal else None,
        show_header=bool(headers),
        header_style="dim",
        pad_edge=False,
        collapse_padding=out.is_terminal,
    )
    for i in range(len(headers) or max((len(row) for row in rows), default=0)):
        figures = bool(rows) and all(_is_figure(row[i]) for row in rows if i < len(row))
        header = headers[i] if headers else ""
        widest = max(len(cell) for cell in (*header.split(), *(row[i] for row in rows if i < len(row)), ""))
        table.add_column(
            header,
            justify="right" if figures else "left",
            overflow="fold",
            min_width=min(widest, LONG_FIGURE) if figures else None,  # only text folds
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    out.print(table)


def _is_figure(cell: str) -> bool:
    return not cell or cell[0].isdigit() or cell in ("–",)


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], object]]:
    """A bar on the terminal's error stream that goes away when done; nothing in a pipe."""
    screen = Screen(stderr=True)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
    with bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.advance(task, count)


@contextmanager
def solver_progress(label: str) -> Iterator[Callable[[SolverProgress], None]]:
    """A bar for the training of a solver, with its figures; in a pipe a line for every epoch."""
    screen = Screen(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}", markup=False),
    )
    first: tuple[float, int] | None = None  # when it began, and what had been done before
    epochs = 0
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(label, total=None, figures="")

        def on_progress(now: SolverProgress) -> None:
            nonlocal first, epochs
            if first is None:  # what was done before it was resumed says nothing about the time left
                first = time.monotonic(), now.done
                bar.reset(task, total=now.total, completed=now.done)
            bar.update(task, completed=now.done, figures=_training_figures(now))
            if now.epochs > epochs and not screen.is_terminal:
                left = time_left(time.monotonic() - first[0], now.done - first[1], now.total - now.done)
                note(f"{label}: {share(now.done, now.total)}, {_training_figures(now)}{left}")
            epochs = max(now.epochs, epochs)

        yield on_progress


def _training_figures(now: SolverProgress) -> str:
    if not now.epochs:
        return ""
    right = "" if now.right is None else f", {percent(now.right)} of the held-out answers"
    return f"loss {now.loss:.3f}{right}"


def time_left(seconds: float, done: float, left: float) -> str:
    """Words about the time that what is left takes, as fast as what was done in so many seconds."""
    return f", about {clock(seconds / done * left)} left" if done > 0 else ""


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


@contextmanager
def waiting(label: str) -> Iterator[Callable[[str], object]]:
    """A spinner for work without measurable progress. Call what it yields to change the label."""
    screen = Screen(stderr=True)
    if not screen.is_terminal:
        yield lambda text: None
        return
    with screen.status(Text(label)) as status:
        yield lambda text: status.update(Text(text))


def note(text: str) -> None:
    """A remark on the error stream, beside the result."""
    echo(text, err=True)


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def setting(value: Any) -> str:
    """The value of a key as written in YAML: null, true, 0.5, plain words."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def print_duplicates(pairs: pl.DataFrame) -> None:
    """Near-duplicates in different splits, as a warning."""
    if not len(pairs):
        echo("no near-duplicates across splits")
        return
    echo(f"warning: {len(pairs):,} near-duplicates across splits:", err=True)
    for first, second, similarity, split, other_split in pairs.head(10).iter_rows():
        alike = f"{100 * similarity:.0f} % alike"
        echo(f"  {first} ({split}) ~ {second} ({other_split}): {alike}", err=True)
