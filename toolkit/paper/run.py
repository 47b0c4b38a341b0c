"""A folder of measurements, which grows until all cells are there or the time is over.

    cells/CELL.json           the result of a cell
    candidates/CELL.parquet   what step one found, for the solvers that learn from it
    work/CELL/                the training of a cell that has not ended
    paper.html, paper.md      the tables

The files of the cells are all that a run leaves to the next one: what is there is not measured again.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolkit.compute import Compute
from toolkit.paper.cells import Cell, Files, Result
from toolkit.paper.config import PaperConfig
from toolkit.paper.measure import Measuring
from toolkit.paper.plan import Plan
from toolkit.paper.sets import LoadedSet
from toolkit.pieces.run import Job, measuring_in


@dataclass(frozen=True)
class CellWorker:
    """Measures cells: `toolkit.pieces` calls it, here or on a worker of a cluster."""

    sets: Mapping[str, LoadedSet]
    settings: PaperConfig
    files: Files
    compute: Compute

    def measure(self, job: Job[Cell, Result]) -> Result:
        cell = job.piece
        part = self.sets[cell.set].part(cell.fold, cell.seed)
        return Measuring(cell, part, self.settings, self.files, self.compute, job.needed).run()

    def failed(self, cell: Cell, error: Exception) -> Result:
        result = Result.failed(error)
        self.files.write(cell, result)
        return result


@contextmanager
def paper_folder(folder: Path, resume: bool) -> Iterator[Files]:
    """The folder of the measurements, held by this process: a new one, or with `resume` one that is there."""
    with measuring_in(folder, "cells", resume):
        yield Files(folder)


def results_to_go_on(plan: Plan, results: Mapping[str, Result], files: Files) -> dict[str, Result]:
    """Without those of steps one whose candidates are gone, if a solver has yet to learn from them."""
    left = [cell for cell in plan.order if cell.name not in results or not results[cell.name].is_done]
    needed = filter(None, map(plan.needs, left))
    lost = {cell.name for cell in needed if not files.candidates(cell).exists()}
    return {name: result for name, result in results.items() if name not in lost}


def results_of(plan: Plan, files: Files) -> dict[str, Result]:
    """The results that are there, by the names of their cells."""
    found = {cell.name: files.read(cell) for cell in plan.order}
    return {name: result for name, result in found.items() if result is not None}
