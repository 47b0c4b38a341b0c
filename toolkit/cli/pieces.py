"""What commands that measure in pieces share: where the pieces run, and how progress is shown."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Generic

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from toolkit.cli.output import note
from toolkit.cluster.session import ClusterSpec, session
from toolkit.pieces.run import LocalExecutor, P, Piece, R
from toolkit.screen import Screen

if TYPE_CHECKING:
    from toolkit.pieces.run import Executor, Worker


@contextmanager
def executing(worker: "Worker[P, R]", folder: Path, spec: ClusterSpec | None) -> Iterator["Executor[P, R]"]:
    """This process, or the workers of a cluster, all of which must see the folder."""
    if spec is None:
        yield LocalExecutor(worker)
        return
    from toolkit.pieces.spread import RayExecutor

    with session(spec) as started:
        yield RayExecutor(started, worker, folder)


class Watch(Generic[R]):
    """A bar on the error stream; in a pipe, a line per piece."""

    def __init__(self, bar: Progress, noun: str, total: int, done: int, told: Callable[[R], str]) -> None:
        self.bar, self.noun, self.total, self.done, self.told = bar, noun, total, done, told
        self.task = bar.add_task(noun, total=total, completed=done, piece="")

    def begin(self, piece: Piece) -> None:
        self.bar.update(self.task, piece=str(piece))

    def end(self, piece: Piece, result: R) -> None:
        self.done += 1
        self.bar.update(self.task, completed=self.done)
        if not self.bar.console.is_terminal:
            note(f"{self.noun} {self.done} of {self.total}: {piece}: {self.told(result)}")


@contextmanager
def measuring(noun: str, total: int, done: int, told: Callable[[R], str]) -> Iterator[Watch[R]]:
    """A watch over so many pieces; `told` says in a few words what came of one."""
    screen = Screen(stderr=True)
    columns = (TextColumn(f"{noun}s"), BarColumn(bar_width=20), MofNCompleteColumn(), TimeElapsedColumn())
    piece = TextColumn("{task.fields[piece]}", markup=False)
    with Progress(*columns, piece, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        yield Watch(bar, noun, total, done, told)
