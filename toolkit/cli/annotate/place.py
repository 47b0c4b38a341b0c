"""Which project a command is about: that of a run, or of a folder with a book in it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolkit.cli.parameters import runs_option
from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    from annotation.book import Book
    from annotation.outcome import Outcome
    from toolkit.equations import Constant
    from toolkit.loop.run import Run

DEFAULT = Path("label-studio")


def place_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--book FOLDER, or --run NAME with --runs."""
    for option in (
        runs_option,
        click.option("--run", "run_name", metavar="NAME", help="The project of this run of the loop."),
        click.option(
            "--book",
            "folder",
            metavar="FOLDER",
            type=click.Path(path_type=Path, file_okay=False),
            help=f"Where what was sent and said is kept. [default: {DEFAULT}]",
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class Place:
    book: "Book"
    run: "Run | None"
    constants: "tuple[Constant, ...]"

    @property
    def outcome(self) -> "Outcome":
        from annotation.outcome import Outcome

        return Outcome(self.book, self.constants)


@contextmanager
def opened(folder: Path | None, run_name: str | None, runs: Path, *, new: bool = False) -> Iterator[Place]:
    """The book, and the run it belongs to; `new` where it may be made."""
    from annotation.book import Book
    from toolkit.equations import parse_constant
    from toolkit.loop.run import open_run

    if folder is not None and run_name is not None:
        raise click.UsageError("Give --book or --run, not both.")
    run = open_run(runs, run_name) if run_name else None
    place = run.book if run else folder or DEFAULT
    if not new and not (place / "book.sqlite").exists():
        if run:
            run.ledger.close()
        raise WarmkitError(
            f"{place}: nothing was sent to Label Studio from here. Begin with: warmkit annotate push"
        )
    book = Book(place)
    try:
        written = book.fact("constants") or ["1", "π"]
        yield Place(book, run, run.constants if run else tuple(parse_constant(one) for one in written))
    finally:
        book.close()
        if run:
            run.ledger.close()


def warn(warnings: "tuple[str, ...] | list[str]") -> None:
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
