"""Step two of the paper: a solver learns from equations, and then needs the text alone. The interface.

A solver is one file (or package) with a subclass of `Solver`, and one line in `toolkit.solvers.SOLVERS`. Its
module must not import torch when it is imported: names and settings are needed without any model.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import Field

from toolkit.config import Section, complete_config
from toolkit.data import Candidates, ProblemSet
from toolkit.equations import Constant, Expr, parse_constant, show
from toolkit.errors import WarmkitError
from toolkit.storage.description import Description, damaged, read_description, write_description

if TYPE_CHECKING:
    import torch

    from toolkit.nn.workers import WorkerGroup

FORMAT = "warmkit-solver-4"


class SolverDescription(Description):
    """solver.json."""

    solver: str
    config: dict[str, Any]
    constants: list[str] = Field(max_length=1_000)


@dataclass(frozen=True)
class Solution:
    """One reading of a problem; `probability` is that of all equations of its class that were found."""

    template: Expr
    value: float | None  # None if it has none (a division by zero); π is that of the problem's language
    probability: float


@dataclass(frozen=True)
class SolverInput:
    """What a solver learns from: the equations of D_s, and candidates for the other problems."""

    problems: ProblemSet
    known: Mapping[str, Expr]
    candidates: Candidates | None
    config: Section
    seed: int = 0
    start: Path | None = None  # the folder of a solver of the same problems, to begin with its weights

    @property
    def constants(self) -> tuple[Constant, ...]:
        return self.problems.constants

    def digest(self) -> str:
        """A digest of the problems and of the equations to learn."""
        digest = sha256()
        for row in self.problems.table.select("id", "text", "answer", "lang").iter_rows():
            template = self.known.get(row[0])
            digest.update(repr((row, None if template is None else show(template))).encode())
        if self.candidates is not None:
            for row in self.candidates.table.select("problem_id", "template", "posterior").iter_rows():
                digest.update(repr(row).encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class PreparedLessons:
    """A `SolverInput` in parts: what is to be learnt is in a folder (`toolkit.solvers.neural.stored`)."""

    folder: Path
    data: str  # the digest of the problems and of the equations to learn
    constants: tuple[Constant, ...]
    config: Section
    seed: int = 0
    start: Path | None = None

    def digest(self) -> str:
        return self.data


@dataclass(frozen=True)
class SolverProgress:
    """How far training is, and how well it goes."""

    done: int
    total: int
    loss: float  # the mean of the last epoch
    right: float | None = None  # the share of held-out answers after it; None if nothing is held out
    epochs: int = 0  # done, and saved if there is a folder; of all networks


OnProgress = Callable[[SolverProgress], object]
TrainElsewhere = Callable[[Path], object]  # brings the training in a solver's folder to its end


class Solver(ABC):
    """A fitted solver."""

    name: ClassVar[str]
    section: ClassVar[str]  # of a configuration, with the settings of the solver
    Config: ClassVar[type[Section]]
    Description: ClassVar[type[SolverDescription]] = SolverDescription  # what solver.json must have
    distributed: ClassVar[bool] = False  # whether `fit` can run on several workers
    learns_in_parts: ClassVar[bool] = False  # whether there is `fit_prepared`

    def __init__(self, config: Section, constants: tuple[Constant, ...]) -> None:
        self.config, self.constants = config, constants

    @classmethod
    @abstractmethod
    def fit(
        cls,
        data: SolverInput,
        *,
        device: "torch.device | None" = None,
        folder: Path | None = None,
        resume: bool = False,
        on_progress: OnProgress = lambda progress: None,
        workers: "WorkerGroup | None" = None,
        elsewhere: TrainElsewhere | None = None,
    ) -> Self:
        """Learn from equations. A solver that trains keeps its state in the folder after every epoch.

        With `resume` it goes on with that state, or begins if there is none. `save` ends it.

        Only a `distributed` solver gets the last two. With `workers` every rank calls `fit` with the same
        arguments, each with a folder of its own; rank zero keeps the state. `elsewhere` is called with
        the folder once the training may begin, and comes back when its state there is the last one.
        """

    @classmethod
    def fit_prepared(cls, data: PreparedLessons, **options: Any) -> Self:
        """`fit` to lessons that need not fit in one process, if the solver can. The options are the same."""
        raise WarmkitError(f"The solver {cls.name} needs all problems in memory: give it one file.")

    @abstractmethod
    def solve(self, problems: ProblemSet, top: int = 1) -> list[list[Solution]]:
        """The likeliest equations of each problem by its text alone; its answer is not read."""

    @abstractmethod
    def save(self, folder: Path) -> None: ...

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, device: "torch.device | None" = None) -> Self: ...

    @classmethod
    def warm_started(cls, config: Section) -> Section | None:
        """The settings of a fit that starts from another solver; None if the solver can't start from one."""
        return None

    def unknown_shares(self, problems: ProblemSet) -> list[float]:
        """For each problem the share of its words that training never saw; 0 if the solver can't tell."""
        return [0.0] * len(problems)

    # solver.json

    def describe(self, folder: Path, **more: Any) -> None:
        """Write what the solver is."""
        described = {
            "format": FORMAT,
            "solver": self.name,
            "config": self.config.model_dump(),
            "constants": [show(constant) for constant in self.constants],
            **more,
        }
        write_description(folder / "solver.json", described)

    @classmethod
    def described(cls, folder: Path) -> tuple[dict[str, Any], Section, tuple[Constant, ...]]:
        """What `describe` wrote: all of it, and the parts that every solver has."""
        written, path = read_solver(folder, cls.Description), folder / "solver.json"
        try:
            constants = tuple(parse_constant(text) for text in written["constants"])
        except ValueError as error:
            raise damaged(path, "solver", f"constants: {error}") from None
        return written, complete_config(cls.Config, written["config"], str(path)), constants


def fit_any(solver: type[Solver], data: SolverInput | PreparedLessons, **options: Any) -> Solver:
    """`fit` or `fit_prepared`, whichever the data are for."""
    if isinstance(data, PreparedLessons):
        return solver.fit_prepared(data, **options)
    return solver.fit(data, **options)


def read_solver(folder: Path, shape: type[SolverDescription] = SolverDescription) -> dict[str, Any]:
    """solver.json of a folder."""
    return read_description(folder / "solver.json", "solver", FORMAT, shape)
