"""A folder of measurements, which grows until all cells are there or the time is over.

    cells/CELL.json           the result of a cell
    candidates/CELL.parquet   what step one found, for the solvers that learn from it
    work/CELL/                the training of a cell that has not ended
    paper.html, paper.md      the tables

The files of the cells are all that a run leaves to the next one: what is there is not measured again.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from toolkit.compute import Compute
from toolkit.errors import WarmkitError
from toolkit.paper.cells import Cell, Files, Result, Settings
from toolkit.paper.measure import Measuring
from toolkit.paper.plan import Plan
from toolkit.paper.sets import LoadedSet
from toolkit.storage.folder import check_folder, working_in


@dataclass(frozen=True)
class Job:
    """A cell to measure, and the result of its step one if it needs one."""

    cell: Cell
    needed: tuple[Cell, Result] | None = None


class Executor(Protocol):
    """Where cells are measured, some of them at once."""

    slots: int

    def begin(self, job: Job) -> None: ...

    def wait(self) -> tuple[Cell, Result]:
        """The next cell that ends, of those that were begun."""
        ...


@dataclass
class LocalExecutor:
    """This process, one cell after the other."""

    sets: Mapping[str, LoadedSet]
    settings: Settings
    files: Files
    compute: Compute
    slots: int = 1
    job: Job | None = None

    def begin(self, job: Job) -> None:
        self.job = job

    def wait(self) -> tuple[Cell, Result]:
        assert self.job is not None
        cell = self.job.cell
        part = self.sets[cell.set].part(cell.fold, cell.seed)
        return cell, Measuring(cell, part, self.settings, self.files, self.compute, self.job.needed).run()


@contextmanager
def paper_folder(folder: Path, resume: bool) -> Iterator[Files]:
    """The folder of the measurements, held by this process: a new one, or with `resume` one that is there."""
    check_folder(folder)
    there = folder.is_dir() and any(folder.iterdir())
    if there and not resume:
        raise WarmkitError(f"{folder}: there is something already.", "paper-exists")
    if resume and not (folder / "cells").is_dir():
        raise WarmkitError(f"{folder}: there are no measurements to resume.", "no-paper")
    try:
        (folder / "cells").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WarmkitError(f"{folder}: it can't be made: {error.strerror}.") from None
    with working_in(folder, lambda process: f"{folder}: process {process} measures in this folder."):
        yield Files(folder)


def results_of(plan: Plan, files: Files) -> dict[str, Result]:
    """The results that are there, by the names of their cells."""
    found = {cell.name: files.read(cell) for cell in plan.order}
    return {name: result for name, result in found.items() if result is not None}


def run(
    plan: Plan,
    files: Files,
    executor: Executor,
    *,
    seconds: float | None = None,
    on_begin: Callable[[Cell], object] = lambda cell: None,
    on_end: Callable[[Cell, Result], object] = lambda cell, result: None,
) -> None:
    """Measure the cells that are not there, the cheapest first. Those that failed are measured again.

    No cell is begun after so many seconds; those that were begun end.
    """
    end = None if seconds is None else time.monotonic() + seconds
    done = {name: result for name, result in results_of(plan, files).items() if result.is_done}
    waiting = [cell for cell in plan.order if cell.name not in done]
    running = 0
    while True:
        while running < executor.slots and (end is None or time.monotonic() < end):
            job = _next(plan, waiting, done)
            if job is None:
                break
            waiting.remove(job.cell)
            on_begin(job.cell)
            executor.begin(job)
            running += 1
        if not running:
            return
        cell, result = executor.wait()
        running -= 1
        if result.is_done:
            done[cell.name] = result
        on_end(cell, result)


def _next(plan: Plan, waiting: list[Cell], done: Mapping[str, Result]) -> Job | None:
    """The first cell that can begin: its step one, if it needs one, is there."""
    for cell in waiting:
        needed = plan.needs(cell)
        if needed is None:
            return Job(cell)
        if needed.name in done:
            return Job(cell, (needed, done[needed.name]))
    return None
