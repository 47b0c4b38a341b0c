"""A cell: a system, on a fold of a set, with a seed. Its result is a small file of its own.

The name of the file has a digest of everything that decides the result: data, fold, seed and settings. So a
cell whose file is there need not be measured again, whichever table asks for it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal, Self

from pydantic import Field

from toolkit.errors import WarmkitError
from toolkit.methods import METHODS
from toolkit.paper.config import PaperConfig
from toolkit.paper.sets import LoadedSet
from toolkit.paper.tables import System
from toolkit.pieces.run import LONGEST_ERROR, sentence_of, versions
from toolkit.solvers import SOLVERS
from toolkit.storage.description import Description, read_description, write_description

FORMAT = "warmkit-cell-1"


def is_available(system: System) -> bool:
    """Whether this version of warmkit has the method and the solver."""
    return (system.step is None or system.step.method in METHODS) and (
        system.solver is None or system.solver in SOLVERS
    )


@dataclass(frozen=True)
class Cell:
    set: str
    fold: str
    seed: int
    system: System
    digest: str

    @classmethod
    def of(
        cls, name: str, data: LoadedSet, fold: str, seed: int, system: System, settings: PaperConfig
    ) -> Self:
        decides = {
            "data": data.digest,
            "folds": data.count if data.data.folds == "seed" else data.data.folds,
            "fold": fold,
            "seed": seed,
            "system": asdict(system),
            "method": settings.method(system.step, name).model_dump(mode="json") if system.step else None,
            "generate": settings.generate.model_dump() if system.step else None,
            "solver": settings.solver(system.solver, name).model_dump(mode="json") if system.solver else None,
        }
        return cls(name, fold, seed, system, sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest())

    @property
    def name(self) -> str:
        return f"{self.set}-{self.fold}-seed{self.seed}-{self.system.name}-{self.digest[:10]}"

    def __str__(self) -> str:
        return f"{self.system.name}, {self.set} {self.fold}, seed {self.seed}"


class _Written(Description):
    """The file of a cell."""

    digest: str
    state: Literal["done", "failed"]
    error: str = Field(max_length=2 * LONGEST_ERROR)
    right: int = Field(ge=0)
    of: int = Field(ge=0)
    gold: int = Field(ge=0)
    by_set: dict[str, tuple[int, int]] = Field(max_length=100)
    constants: list[str] = Field(max_length=1_000)
    seconds: float = Field(ge=0)


@dataclass(frozen=True)
class Result:
    """How many of the problems that count were reached, or answered; or why there is no such figure."""

    right: int = 0
    of: int = 0
    gold: int = 0  # gold equations that were seen
    by_set: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # (right, of) of sets that are joined
    constants: tuple[str, ...] = ()
    seconds: float = 0.0
    state: Literal["done", "failed"] = "done"
    error: str = ""

    @property
    def is_done(self) -> bool:
        return self.state == "done"

    @classmethod
    def failed(cls, error: Exception, seconds: float = 0.0) -> Self:
        return cls(state="failed", error=sentence_of(error), seconds=seconds)


@dataclass(frozen=True)
class Files:
    """Where the files of a cell are."""

    folder: Path

    def result(self, cell: Cell) -> Path:
        return self.folder / "cells" / f"{cell.name}.json"

    def candidates(self, cell: Cell) -> Path:
        """What step one found: several solvers learn from it."""
        return self.folder / "candidates" / f"{cell.name}.parquet"

    def work(self, cell: Cell) -> Path:
        """The folder of a training that has not ended."""
        return self.folder / "work" / cell.name

    def read(self, cell: Cell) -> Result | None:
        """The result of a cell, if there is one."""
        path = self.result(cell)
        if not path.exists():
            return None
        try:
            written = read_description(path, "measurement", FORMAT, _Written)
        except WarmkitError as error:
            raise WarmkitError(f"{error} Delete the file, and the cell is measured again.") from None
        if written["digest"] != cell.digest:
            return None
        return Result(
            written["right"],
            written["of"],
            written["gold"],
            written["by_set"],
            tuple(written["constants"]),
            written["seconds"],
            written["state"],
            written["error"],
        )

    def write(self, cell: Cell, result: Result) -> None:
        write_description(
            self.result(cell),
            {
                "format": FORMAT,
                "digest": cell.digest,
                "set": cell.set,
                "fold": cell.fold,
                "seed": cell.seed,
                "system": asdict(cell.system),
                **asdict(result),
                "versions": versions(),
            },
        )
