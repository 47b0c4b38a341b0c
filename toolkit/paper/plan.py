"""Which cells the tables need, in the order in which they are measured: the cheapest first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from toolkit.config import Section
from toolkit.errors import WarmkitError
from toolkit.methods import METHODS
from toolkit.paper.cells import Cell, is_available
from toolkit.paper.config import PaperConfig
from toolkit.paper.sets import LoadedSet, load_set
from toolkit.paper.tables import SETS, Entry, System, Table
from toolkit.solvers import SOLVERS
from toolkit.solvers.neural.solver import NeuralSolver


@dataclass(frozen=True)
class Plan:
    """Tables, and the sets whose files are there."""

    tables: Sequence[Table]
    sets: Mapping[str, LoadedSet]
    settings: PaperConfig
    seeds: int

    def cells(self, entry: Entry) -> list[Cell]:
        """The cells of a place in a table: every fold with every seed. None if it can't be measured."""
        data = self.sets.get(entry.set)
        if data is None or entry.system is None or not is_available(entry.system):
            return []
        return [
            Cell.of(entry.set, data, fold, seed, entry.system, self.settings)
            for seed in range(self.seeds)
            for fold in data.folds[: self.settings.held_out]
        ]

    def needs(self, cell: Cell) -> Cell | None:
        """The cell of step one that the solver of this one learns from."""
        if cell.system.solver is None or cell.system.step is None:
            return None
        alone = System(cell.system.step)
        return Cell.of(cell.set, self.sets[cell.set], cell.fold, cell.seed, alone, self.settings)

    @cached_property
    def shown(self) -> dict[str, Cell]:
        """All cells that a table shows, by name."""
        return {cell.name: cell for entry in self._entries() for cell in self.cells(entry)}

    @cached_property
    def order(self) -> list[Cell]:
        """All cells, the cheapest first. What a cell needs stands before it."""
        needed = (self.needs(cell) for cell in self.shown.values())
        every = {cell.name: cell for cell in (*self.shown.values(), *filter(None, needed))}
        return sorted(every.values(), key=self.cost)

    def cost(self, cell: Cell) -> float:
        """A rough estimate: problems × epochs, of its step one and of its networks."""
        data, system = self.sets[cell.set], cell.system
        folds = len(data.folds)
        problems = round(len(data.problems) * (folds - 1) / folds) if folds > 1 else len(data.problems)
        cost = 0
        if system.step is not None:
            cost += problems * METHODS[system.step.method].epochs(self.settings.method(system.step, cell.set))
        if system.solver is not None:
            cost += problems * _epochs(self.settings.solver(system.solver, cell.set), system.solver, problems)
        return cost

    def _entries(self) -> Iterator[Entry]:
        for table in self.tables:
            for row in table.rows:
                yield from row.entries.values()


def _epochs(config: Section, solver: str, problems: int) -> int:
    """Of all networks of a solver."""
    kind = SOLVERS[solver]
    sized = kind.sized(config, problems) if issubclass(kind, NeuralSolver) else config
    return (getattr(sized, "epochs", None) or 1) * (getattr(sized, "members", None) or 1)


def make_plan(
    tables: Sequence[Table], data: Path, seeds: int = 1, settings: PaperConfig | None = None
) -> Plan:
    """The plan of tables over the sets in a folder. A set whose file is not there is left out."""
    if not data.is_dir():
        raise WarmkitError(f"{data}: there is no such folder.", "no-data-folder")
    settings = settings or PaperConfig()
    wanted = dict.fromkeys(
        entry.set for table in tables for row in table.rows for entry in row.entries.values()
    )
    loaded = {name: load_set(SETS[name], data, settings.folds) for name in wanted}
    return Plan(tables, {name: data for name, data in loaded.items() if data is not None}, settings, seeds)
