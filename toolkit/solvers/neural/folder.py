"""What a training keeps in its folder until the solver is saved: what it learns from, and each network.

training/training.json          solver, configuration, constants, seed, digest of the data
training/lessons/               the data, for networks in other processes
training/network-N/             the state of a network after its last epoch, and the weights it starts from
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from toolkit.config import changed_keys
from toolkit.equations import parse_constant, show
from toolkit.errors import WarmkitError
from toolkit.solvers.base import PreparedLessons, SolverInput
from toolkit.solvers.neural.config import SolverConfig
from toolkit.storage.description import (
    Description,
    damaged,
    first_problem,
    read_description,
    write_description,
)

if TYPE_CHECKING:
    from toolkit.nn.network import EquationNetwork

FORMAT = "warmkit-training-1"
DESCRIPTION = "training.json"
START = "start.safetensors"


class TrainingDescription(Description):
    solver: str
    config: dict[str, Any]
    constants: list[str]
    seed: int
    data: str


def training_folder(folder: Path) -> Path:
    """Where the state of a training is, in the folder of the solver to be."""
    return folder / "training"


def network_folder(training: Path, member: int) -> Path:
    return training / f"network-{member + 1}"


def forget_training(folder: Path) -> None:
    """Delete the state of a training whose solver is saved."""
    shutil.rmtree(training_folder(folder), ignore_errors=True)


def begin(
    training: Path,
    solver: str,
    data: SolverInput | PreparedLessons,
    resume: bool,
    start: "Sequence[EquationNetwork]",
) -> None:
    """Write down what is trained, and which networks it starts from.

    With `resume`, check that it is the same as what the folder has.
    """
    if (training / DESCRIPTION).exists():
        if not resume:
            raise WarmkitError(f"{training.parent}: there is an unfinished training here.", "training-exists")
        _check_same(training, solver, data)
        return
    shutil.rmtree(training, ignore_errors=True)  # of a training that was killed before it began
    for member, network in enumerate(start):
        _save_start(network_folder(training, member) / START, network)
    fields = {
        "format": FORMAT,
        "solver": solver,
        "config": data.config.model_dump(),
        "constants": [show(constant) for constant in data.constants],
        "seed": data.seed,
        "data": data.digest(),
    }
    write_description(training / DESCRIPTION, fields)


def _save_start(path: Path, network: "EquationNetwork") -> None:
    from toolkit.nn.weights import save_weights

    save_weights(path, network.state_dict())


def _check_same(training: Path, solver: str, data: SolverInput | PreparedLessons) -> None:
    written = _read(training)
    try:
        config = type(data.config).model_validate(written["config"])
    except ValidationError as error:
        raise damaged(training / DESCRIPTION, "training", first_problem(error)) from None
    changed = {
        "the kind of solver": written["solver"] != solver,
        "the data": written["data"] != data.digest(),
        "the constants": written["constants"] != [show(constant) for constant in data.constants],
        "the seed": written["seed"] != data.seed,
    }
    changed |= dict.fromkeys(changed_keys(config, data.config), True)
    if names := [name for name, is_changed in changed.items() if is_changed]:
        raise WarmkitError(
            f"{training.parent}: {', '.join(names)} changed since it was started: not resumed."
        )


def _read(training: Path) -> dict[str, Any]:
    return read_description(training / DESCRIPTION, "training", FORMAT, TrainingDescription)


def read_training(training: Path, lessons: Path) -> tuple[str, PreparedLessons]:
    """The name of a solver that is trained, and what it learns from a folder of lessons."""
    written = _read(training)
    try:
        constants = tuple(parse_constant(text) for text in written["constants"])
        config = SolverConfig.model_validate(written["config"])
    except ValueError:  # an EquationError and a ValidationError are ValueErrors
        raise damaged(training / DESCRIPTION, "training", "it does not fit what it learns from") from None
    return written["solver"], PreparedLessons(lessons, written["data"], constants, config, written["seed"])
