"""The project of a command: that of a run, or that of a task store in a folder."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolkit.cli.output import echo
from toolkit.cli.parameters import DiskPath, runs_option
from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    from annotation.store import TaskStore
    from annotation.summary import AnnotationSummary
    from toolkit.equations import Constant
    from toolkit.loop.run import Run

DEFAULT = Path("label-studio")


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--store FOLDER, or --run NAME with --runs."""
    for option in (
        runs_option,
        click.option("--run", "run_name", metavar="NAME", help="The project of this run of the loop."),
        click.option(
            "--store",
            "folder",
            metavar="FOLDER",
            type=DiskPath(file_okay=False),
            help=f"The folder that keeps the tasks and annotations of the project. [default: {DEFAULT}]",
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class Target:
    store: "TaskStore"
    run: "Run | None"
    constants: "tuple[Constant, ...]"

    @property
    def summary(self) -> "AnnotationSummary":
        from annotation.summary import AnnotationSummary

        return AnnotationSummary(
            self.store, self.constants, self.run is None or not self.run.config.fixed_constants
        )


@contextmanager
def opened(folder: Path | None, run_name: str | None, runs: Path, *, new: bool = False) -> Iterator[Target]:
    """The task store, and the run that it belongs to. `new`: create the store if it does not exist."""
    from annotation.store import TaskStore
    from toolkit.equations import EquationError, parse_constant
    from toolkit.loop.run import open_run

    if folder is not None and run_name is not None:
        raise click.UsageError("Give --store or --run, not both.")
    run = open_run(runs, run_name) if run_name else None
    path = run.store if run else folder or DEFAULT
    if not new and not TaskStore.exists(path):
        if run:
            run.ledger.close()
        raise WarmkitError(f"{path}: nothing was sent to Label Studio yet. Begin with: warmkit annotate push")
    store = TaskStore(path)
    try:
        try:
            written = store.fact("constants") or ["1", "π"]
            constants = run.constants if run else tuple(parse_constant(text) for text in written)
        except EquationError as error:
            raise WarmkitError(f"{path}: its constants can't be read: {error}.") from None
        yield Target(store, run, constants)
    finally:
        store.close()
        if run:
            run.ledger.close()


def warn(warnings: Sequence[str]) -> None:
    for warning in warnings:
        echo(f"warning: {warning}", err=True)
