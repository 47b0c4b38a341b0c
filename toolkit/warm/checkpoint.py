"""A model folder: weights and training state in safetensors, what it is in JSON. No pickle anywhere.

    model.json            configuration, vocabulary, constants, what it was trained on, figures of each epoch
    weights.safetensors   the model
    training.safetensors  the model, the optimiser's state and the memory: what --resume goes on from

Each file is replaced whole, so a kill leaves the state before or after an epoch, never one between.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import torch
from safetensors import safe_open
from torch import Tensor

from toolkit.data import Vocabulary
from toolkit.data.write import replacing
from toolkit.equations import parse_constant, show
from toolkit.errors import WarmkitError
from toolkit.warm.config import WarmConfig
from toolkit.warm.memory import Memory
from toolkit.warm.model import Warm
from toolkit.warm.paths import Layout
from toolkit.warm.weights import load_weights, save_weights

FORMAT = "warmkit-warm-1"


@dataclass
class Trained:
    """A model and what it is."""

    model: Warm
    vocabulary: Vocabulary
    config: WarmConfig
    data: str  # hash of the problems it was trained on
    problems: int
    gold: int  # how many of their equations it was shown
    history: list[dict[str, Any]] = field(default_factory=list)


class Checkpoint:
    """Saves and restores a training run in its folder."""

    def __init__(
        self, folder: Path, trained: Trained, optimizer: torch.optim.Optimizer, memory: Memory
    ) -> None:
        self.folder, self.trained, self.optimizer, self.memory = folder, trained, optimizer, memory

    def save(self, history: list[dict[str, Any]]) -> None:
        self.trained.history = history
        weights = self.trained.model.state_dict()
        state = {f"model.{name}": tensor for name, tensor in weights.items()}
        state |= {f"optimizer.{name}": tensor for name, tensor in self._optimizer_tensors().items()}
        state |= {"memory.paths": self.memory.paths, "memory.scores": self.memory.scores}
        save_weights(self.folder / "training.safetensors", state, {"history": json.dumps(history)})
        save_weights(self.folder / "weights.safetensors", weights)
        with replacing(self.folder / "model.json") as temporary:
            temporary.write_text(
                json.dumps(_description(self.trained), ensure_ascii=False, indent=1), encoding="utf-8"
            )

    def load(self) -> list[dict[str, Any]]:
        """Restore the state after the last epoch, whose figures are returned with those before."""
        described = _read_description(self.folder)
        _same(self.folder, "data", described["data"], self.trained.data)
        before, now = described["config"], self.trained.config.model_dump()
        before["train"]["epochs"] = now["train"]["epochs"]  # a run may be made longer
        changed = [f"{s}.{k}" for s in now for k in now[s] if before.get(s, {}).get(k) != now[s][k]]
        if changed:
            raise WarmkitError(
                f"{self.folder}: {', '.join(changed)} changed since it was started: not resumed."
            )
        path = self.folder / "training.safetensors"
        self._restore_optimizer(self._restore_model(path))
        with safe_open(path, "pt") as file:
            history = json.loads(file.metadata()["history"])
        assert isinstance(history, list)
        self.trained.history = history
        return history

    def begin_from(self, folder: Path) -> None:
        """Take over weights and memory of a model of the same problems; the optimiser starts afresh."""
        self._restore_model(folder / "training.safetensors")

    def _restore_model(self, path: Path) -> dict[str, Tensor]:
        """Weights and memory; what else was saved is returned."""
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}, "memory": {}}
        for name, tensor in load_weights(path).items():
            part, _, rest = name.partition(".")
            parts[part][rest] = tensor
        self.trained.model.load_state_dict(parts["model"])
        self.memory.paths.copy_(parts["memory"]["paths"])
        self.memory.scores.copy_(parts["memory"]["scores"])
        return parts["optimizer"]

    def _optimizer_tensors(self) -> dict[str, Tensor]:
        names = [name for name, _ in self.trained.model.named_parameters()]
        state = self.optimizer.state_dict()["state"]
        return {
            f"{names[i]}.{key}": torch.as_tensor(value)
            for i, values in state.items()
            for key, value in values.items()
        }

    def _restore_optimizer(self, tensors: dict[str, Tensor]) -> None:
        names = [name for name, _ in self.trained.model.named_parameters()]
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            parameter, _, key = name.rpartition(".")
            state.setdefault(names.index(parameter), {})[key] = tensor
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})


def load_trained(folder: Path | str, device: torch.device | None = None) -> Trained:
    """The model in a folder, ready to generate."""
    folder = Path(folder)
    described = _read_description(folder)
    config = WarmConfig.model_validate(described["config"])
    constants = tuple(parse_constant(text) for text in described["constants"])
    vocabulary = Vocabulary(tuple(described["vocabulary"]))
    model = Warm(len(vocabulary), Layout(constants, config.model.operators), config.model)
    model.load_state_dict(load_weights(folder / "weights.safetensors"))
    model.to(device or torch.device("cpu")).eval()
    return Trained(
        model,
        vocabulary,
        config,
        described["data"],
        described["problems"],
        described["gold"],
        described["history"],
    )


def data_hash(problems: pl.DataFrame, gold: Sequence[bool] | None = None) -> str:
    """Names a problem set, and which of its equations are given."""
    digest = sha256()
    for i, row in enumerate(problems.select("id", "text", "answer", "equation").iter_rows()):
        digest.update(repr((row[:3], row[3] if gold is not None and gold[i] else None)).encode())
    return digest.hexdigest()


def _description(trained: Trained) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "data": trained.data,
        "problems": trained.problems,
        "gold": trained.gold,
        "config": trained.config.model_dump(),
        "constants": [show(constant) for constant in trained.model.layout.constants],
        "history": trained.history,
        "vocabulary": trained.vocabulary.words,
    }


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / "model.json"
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise WarmkitError(f"{folder}: there is no model here (no model.json).") from None
    except (OSError, ValueError):
        raise WarmkitError(f"{path}: it can't be read: the model folder is broken.") from None
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise WarmkitError(f"{path}: this is not a model of step one (format {FORMAT}).")
    return described


def _same(folder: Path, what: str, before: object, now: object) -> None:
    if before != now:
        raise WarmkitError(f"{folder}: the {what} changed since the run was started: not resumed.")
