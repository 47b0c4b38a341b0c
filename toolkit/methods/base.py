"""Step one of the paper: from problems with answers to candidate equations. What every method offers.

A method is one file (or package) with a subclass of `StepOne`, and one line in `toolkit.methods.METHODS`. Its
module must not import torch when it is imported: names and settings are needed without any model.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, TypeAdapter

from toolkit.config import Section, changed_keys, complete_config
from toolkit.data import ProblemSet
from toolkit.equations import Constant, Expr, parse_constant, show
from toolkit.equations.search import MAX_OPERATORS
from toolkit.errors import WarmkitError
from toolkit.storage.description import Description, damaged, read_description, write_description

if TYPE_CHECKING:
    import torch

    from toolkit.methods.prepared import PreparedInput
    from toolkit.nn.workers import WorkerGroup

FORMAT = "warmkit-model-2"
START_FILES = ("model.json", "training.safetensors")

MOST_CONSTANTS = 1_000
STEP_COST = 4.0  # log-probability that a step costs if nothing was learnt: shorter is likelier

Floats = npt.NDArray[np.float64]
Known = Mapping[str, Expr]  # D_s: problem → template


class Scored(NamedTuple):
    """A template that reaches a problem's answer, and what the method thinks of it."""

    template: Expr
    klass: int
    log_prob: float
    origin: str  # the method's name, or search


@dataclass(frozen=True)
class Generated:
    """What was found for one problem, most probable first; a near miss if nothing was, or None."""

    problem_id: str
    scored: tuple[Scored, ...]
    miss: str | None = None


@dataclass(frozen=True)
class Epoch:
    """The figures of one epoch; a method that does not train has one, without a loss."""

    epoch: int
    loss: float | None
    reached: float  # share of problems with a path to the answer (remembered, or found in this epoch)
    seconds: float
    problems_per_second: float


HISTORY = TypeAdapter(list[Epoch])


class ModelDescription(Description):
    """model.json."""

    method: str
    data: str
    problems: int = Field(ge=0)
    known: int = Field(ge=0)
    seed: int
    constants: list[str] = Field(max_length=MOST_CONSTANTS)
    config: dict[str, Any]
    history: list[Epoch] = Field(min_length=1)


class GenerateConfig(Section):
    """How far the search for candidates goes."""

    width: int = Field(20, ge=1, le=100_000, description="beams per problem")
    search: int | None = Field(
        None,
        ge=0,
        le=MAX_OPERATORS,
        description="operators of the exhaustive search whose finds are scored too; null: as in training",
    )


@dataclass(frozen=True)
class FitInput:
    """What a method is fitted on: problems, D_s, settings and seed decide the result, and nothing else."""

    problems: ProblemSet
    known: Known
    config: Section
    seed: int = 0

    @property
    def size(self) -> int:
        return len(self.problems)

    @property
    def known_count(self) -> int:
        """How many of the problems have an equation that may be used."""
        return sum(problem_id in self.known for problem_id in self.problems.ids)

    @property
    def constants(self) -> tuple[Constant, ...]:
        return self.problems.constants

    def digest(self) -> str:
        """A digest of the problems and the equations that may be used."""
        digest = sha256()
        for row in self.problems.table.select("id", "text", "answer").iter_rows():
            template = self.known.get(row[0])
            digest.update(repr((row, None if template is None else show(template))).encode())
        return digest.hexdigest()


class FitSource(Protocol):
    """What a folder records of a `FitInput`, or of problems that do not fit in one process."""

    @property
    def config(self) -> Section: ...
    @property
    def seed(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def known_count(self) -> int: ...
    @property
    def constants(self) -> tuple[Constant, ...]: ...
    def digest(self) -> str: ...


@dataclass(frozen=True)
class Origin:
    """What a method was fitted on, as its folder records it."""

    data: str  # digest of the problems and the equations
    problems: int
    known: int  # how many equations it was shown
    seed: int
    constants: tuple[Constant, ...]

    @classmethod
    def of(cls, data: FitSource) -> "Origin":
        return cls(data.digest(), data.size, data.known_count, data.seed, data.constants)


def nothing(*arguments: object) -> None:
    """A callback that does nothing."""


@dataclass(frozen=True)
class FitOptions:
    """How a method is fitted: everything that is not part of `FitInput`.

    With `resume` a run that was stopped continues from its folder. `start` is the folder of a model to begin
    with; it may have known fewer equations. One that learnt other problems comes without what it remembers of
    them (`copy_start`). With several `workers` every rank calls `fit` with the same arguments, each with a
    folder of its own: that of rank zero gets the model, that of each what the rank remembers. `state` is
    where the state to resume is, if it is not in the folder. `on_batch` is called with the number of problems
    done since the last call.
    """

    resume: bool = False
    state: Path | None = None
    start: Path | None = None
    workers: "WorkerGroup | None" = None  # None: this process alone
    device: "torch.device | None" = None  # None: the CPU
    on_batch: Callable[[int], object] = nothing
    on_epoch: Callable[[Epoch], object] = nothing


DEFAULT_OPTIONS = FitOptions()


class StepOne(ABC):
    """A fitted method of step one."""

    name: ClassVar[str]
    section: ClassVar[str]  # of a configuration, with the settings of the method
    Config: ClassVar[type[Section]]
    Description: ClassVar[type[ModelDescription]] = ModelDescription  # what model.json must have
    distributed: ClassVar[bool] = False  # whether `fit` can run on several workers
    learns_in_parts: ClassVar[bool] = False  # whether there is `fit_prepared`

    def __init__(self, config: Section, origin: Origin, history: Sequence[Epoch] = ()) -> None:
        self.config, self.origin, self.history = config, origin, list(history)

    @property
    def constants(self) -> tuple[Constant, ...]:
        return self.origin.constants

    @classmethod
    @abstractmethod
    def fit(cls, data: FitInput, folder: Path | None = None, options: FitOptions = DEFAULT_OPTIONS) -> Self:
        """Fit to problems with answers. A method that trains saves itself in the folder after every epoch."""

    @classmethod
    def fit_prepared(
        cls, data: "PreparedInput", folder: Path | None = None, options: FitOptions = DEFAULT_OPTIONS
    ) -> Self:
        """`fit` to problems that need not fit in one process, if the method can."""
        raise WarmkitError(f"The method {cls.name} needs all problems in memory: give it one file.")

    @abstractmethod
    def candidates(
        self,
        problems: ProblemSet,
        settings: GenerateConfig,
        *,
        device: "torch.device | None" = None,
        on_batch: Callable[[int], object] = nothing,
    ) -> list[Generated]:
        """Templates that reach the answer of each problem; the order of the rows changes nothing."""

    @abstractmethod
    def save(self, folder: Path) -> None: ...

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, device: "torch.device | None" = None) -> Self: ...

    @classmethod
    def epochs(cls, config: Section) -> int:
        """How many epochs the settings ask for."""
        return 1

    @classmethod
    def warm_started(cls, config: Section, epochs: int) -> Section | None:
        """The settings of a fit that starts from another model; None if the method can't start from one."""
        return None

    # Some strategies need these; None if a method does not offer them.

    def states(self, problems: ProblemSet) -> Floats | None:
        """A vector for each problem [N, H]: near for problems that read alike."""
        return None

    def draw(self, problems: ProblemSet, settings: GenerateConfig, seed: int) -> list[Generated] | None:
        """`candidates` of a model drawn at random near this one (Gal and Ghahramani 2016)."""
        return None

    # model.json

    def describe(self, folder: Path, **more: Any) -> None:
        """Write what the method is, and what it was fitted on."""
        described = {
            "format": FORMAT,
            "method": self.name,
            **asdict(self.origin),
            "constants": [show(constant) for constant in self.constants],
            "config": self.config.model_dump(),
            "history": [asdict(epoch) for epoch in self.history],
            **more,
        }
        write_description(folder / "model.json", described)

    @classmethod
    def described(cls, folder: Path) -> tuple[dict[str, Any], Section, Origin, list[Epoch]]:
        """What `describe` wrote: all of it, and the parts that every method has."""
        written, path = read_model(folder, cls.Description), folder / "model.json"
        config, constants = (
            complete_config(cls.Config, written["config"], str(path)),
            _constants(written, path),
        )
        origin = Origin(written["data"], written["problems"], written["known"], written["seed"], constants)
        return written, config, origin, [Epoch(**figures) for figures in written["history"]]

    @classmethod
    def check_same(cls, folder: Path, data: FitSource) -> None:
        """Whether the model in a folder comes from the same; it may be made longer, and nothing else."""
        method = read_model(folder)["method"]
        if method != cls.name:
            raise WarmkitError(f"{folder}: this model is of the method {method}: not resumed.")
        _, config, before, _ = cls.described(folder)
        now = Origin.of(data)
        changed = {
            "the data": before.data != now.data,
            "the constants": before.constants != now.constants,
            "the seed": before.seed != now.seed,
        }
        changed |= {key: key.rpartition(".")[2] != "epochs" for key in changed_keys(config, data.config)}
        if names := [name for name, is_changed in changed.items() if is_changed]:
            raise WarmkitError(f"{folder}: {', '.join(names)} changed since it was started: not resumed.")


class Untrained(StepOne):
    """A method without weights: its settings are all there is to save."""

    @classmethod
    def fit(cls, data: FitInput, folder: Path | None = None, options: FitOptions = DEFAULT_OPTIONS) -> Self:
        if not len(data.problems):
            raise no_problems()
        if options.resume and folder is not None:
            cls.check_same(folder, data)
        begun = time.perf_counter()
        method = cls(data.config, Origin.of(data))
        found = method.candidates(data.problems, GenerateConfig(), on_batch=options.on_batch)
        reached = sum(bool(generated.scored) for generated in found) / len(found)
        seconds = max(time.perf_counter() - begun, 1e-9)
        epoch = Epoch(1, None, reached, seconds, len(found) / seconds)
        method.history.append(epoch)
        if folder is not None:
            method.save(folder)
        options.on_epoch(epoch)
        return method

    def save(self, folder: Path) -> None:
        self.describe(folder)

    @classmethod
    def load(cls, folder: Path, device: "torch.device | None" = None) -> Self:
        _, config, origin, history = cls.described(folder)
        return cls(config, origin, history)


def copy_start(model: Path, folder: Path) -> None:
    """Copy a model to a new folder for `FitOptions.start`, without what it remembers of its problems."""
    folder.mkdir(parents=True)
    for name in START_FILES:
        copyfile(model / name, folder / name)


def read_model(folder: Path, shape: type[ModelDescription] = ModelDescription) -> dict[str, Any]:
    """model.json of a folder."""
    return read_description(folder / "model.json", "model", FORMAT, shape)


def read_constants(folder: Path) -> tuple[Constant, ...]:
    """V_const of the model in a folder."""
    return _constants(read_model(folder), folder / "model.json")


def _constants(written: Mapping[str, Any], path: Path) -> tuple[Constant, ...]:
    try:
        return tuple(parse_constant(text) for text in written["constants"])
    except ValueError as error:
        raise damaged(path, "model", f"constants: {error}") from None


def no_problems() -> WarmkitError:
    return WarmkitError("There are no problems to train on.")
