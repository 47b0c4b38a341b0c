"""The pieces of a plan, one after the other or some of them at once.

A plan orders its pieces, and may say which other piece one of them needs. The files of results are all that a
run leaves to the next one, so a run that was killed goes on where it was.
"""

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from toolkit.errors import WarmkitError
from toolkit.storage.folder import check_folder, working_in

PACKAGES = ("warmkit", "torch", "polars")
LONGEST_ERROR = 500  # characters


class Piece(Protocol):
    """What is measured at once. Its name has a digest of everything that decides the result."""

    @property
    def name(self) -> str: ...


class Outcome(Protocol):
    """The result of a piece: the figures, or why there are none."""

    @property
    def is_done(self) -> bool: ...


P = TypeVar("P", bound=Piece)
R = TypeVar("R", bound=Outcome)
P_co = TypeVar("P_co", bound=Piece, covariant=True)


@dataclass(frozen=True)
class Job(Generic[P, R]):
    """A piece to measure, and the result of the piece that it needs, if there is one."""

    piece: P
    needed: tuple[P, R] | None = None


class Plan(Protocol[P]):
    @property
    def order(self) -> Sequence[P]:
        """All pieces, in the order in which they are measured. What a piece needs stands before it."""
        ...

    def needs(self, piece: P) -> P | None: ...


class Worker(Protocol[P, R]):
    """Measures a piece and writes its result. It can be sent to another process."""

    def measure(self, job: Job[P, R]) -> R:
        """An error becomes the result."""
        ...

    def failed(self, piece: P, error: Exception) -> R:
        """Write that a piece failed, for one whose process died."""
        ...


class Executor(Protocol[P, R]):
    """Where pieces are measured, some of them at once."""

    slots: int

    def begin(self, job: Job[P, R]) -> None: ...

    def wait(self) -> tuple[P, R]:
        """The next piece that ends, of those that were begun."""
        ...


@dataclass
class LocalExecutor(Generic[P, R]):
    """This process, one piece after the other."""

    worker: Worker[P, R]
    slots: int = 1
    job: Job[P, R] | None = None

    def begin(self, job: Job[P, R]) -> None:
        self.job = job

    def wait(self) -> tuple[P, R]:
        assert self.job is not None
        return self.job.piece, self.worker.measure(self.job)


def run(
    plan: Plan[P],
    results: Mapping[str, R],
    executor: Executor[P, R],
    *,
    seconds: float | None = None,
    on_begin: Callable[[P], object] = lambda piece: None,
    on_end: Callable[[P, R], object] = lambda piece, result: None,
) -> None:
    """Measure the pieces that have no result, in order. Those that failed are measured again.

    `results` are those that are there, by the names of their pieces. No piece is begun after so many
    seconds; those that were begun end.
    """
    end = None if seconds is None else time.monotonic() + seconds
    done = {name: result for name, result in results.items() if result.is_done}
    waiting = [piece for piece in plan.order if piece.name not in done]
    running = 0
    while True:
        while running < executor.slots and (end is None or time.monotonic() < end):
            job = _next(plan, waiting, done)
            if job is None:
                break
            waiting.remove(job.piece)
            on_begin(job.piece)
            executor.begin(job)
            running += 1
        if not running:
            return
        piece, result = executor.wait()
        running -= 1
        if result.is_done:
            done[piece.name] = result
        on_end(piece, result)


def _next(plan: Plan[P], waiting: Sequence[P], done: Mapping[str, R]) -> Job[P, R] | None:
    """The first piece that can begin: the one that it needs, if any, is there."""
    for piece in waiting:
        needed = plan.needs(piece)
        if needed is None:
            return Job(piece)
        if needed.name in done:
            return Job(piece, (needed, done[needed.name]))
    return None


@contextmanager
def measuring_in(folder: Path, results: str, resume: bool) -> Iterator[None]:
    """The folder of the measurements, held by this process: a new one, or with `resume` one that is there.

    `results` is the folder in it that holds the result of each piece.
    """
    check_folder(folder)
    there = folder.is_dir() and any(folder.iterdir())
    if there and not resume:
        raise WarmkitError(f"{folder}: there is something already.", "measurements-exist")
    if resume and not (folder / results).is_dir():
        raise WarmkitError(f"{folder}: there are no measurements to resume.", "no-measurements")
    try:
        (folder / results).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WarmkitError(f"{folder}: it can't be made: {error.strerror}.") from None
    with working_in(folder, lambda process: f"{folder}: process {process} measures in this folder."):
        yield


def sentence_of(error: Exception) -> str:
    """An error on one line, as the result of a piece has it."""
    kind = "" if isinstance(error, WarmkitError) else f"{type(error).__name__}: "
    return f"{kind}{' '.join(str(error).split())}"[:LONGEST_ERROR]


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
