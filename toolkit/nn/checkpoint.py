"""The state of training in one safetensors file: model, optimiser, other tensors of the method, figures.

The file is replaced whole, so a kill leaves the state before or after an epoch, never one between.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from pydantic import TypeAdapter
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from toolkit.errors import WarmkitError
from toolkit.nn.weights import foreign, load_weights, save_weights

FILE = "training.safetensors"

History = TypeVar("History")


def save_training(
    folder: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    extra: Mapping[str, Tensor],
    history: Sequence[Mapping[str, Any]],
) -> None:
    """Save what `load_training` restores; `extra` are tensors of the method's own."""
    state = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    state |= {f"optimizer.{name}": tensor for name, tensor in _optimizer_tensors(model, optimizer).items()}
    state |= {f"extra.{name}": tensor for name, tensor in extra.items()}
    save_weights(folder / FILE, state, {"history": json.dumps(list(history))})


def load_training(
    folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer | None, history: TypeAdapter[History]
) -> tuple[dict[str, Tensor], History]:
    """Restore model and optimiser (if not None); return the extra tensors and the figures so far."""
    parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}, "extra": {}}
    path = folder / FILE
    for name, tensor in load_weights(path).items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = tensor
    try:
        with safe_open(path, "pt") as file:
            figures = history.validate_json((file.metadata() or {})["history"], strict=True)
        if not all(
            bool(tensor.isfinite().all()) for part in list(parts)[:2] for tensor in parts[part].values()
        ):
            raise ValueError("it has weights that are not finite numbers")
        model.load_state_dict(parts["model"])
        if optimizer is not None:
            _restore_optimizer(model, optimizer, parts["optimizer"])
    except (LookupError, TypeError, ValueError, RuntimeError, SafetensorError):
        raise not_of_this(folder) from None
    return parts["extra"], figures


def not_of_this(folder: Path) -> WarmkitError:
    """The error for the state of another training."""
    return foreign(folder / FILE, "it is not the state of this training")


def _optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    names, _ = _in_order_of(optimizer, model)
    state = optimizer.state_dict()["state"]
    return {
        f"{names[i]}.{key}": torch.as_tensor(value)
        for i, values in state.items()
        for key, value in values.items()
    }


def _restore_optimizer(
    model: nn.Module, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]
) -> None:
    names, parameters = _in_order_of(optimizer, model)
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        parameter, _, key = name.rpartition(".")
        state.setdefault(names.index(parameter), {})[key] = tensor
    for i, values in state.items():
        shape = parameters[i].shape
        kept = {"step": torch.Size(), "exp_avg": shape, "exp_avg_sq": shape}
        fits = {key: tensor.shape for key, tensor in values.items()} == kept and all(
            tensor.dtype == torch.float32 for tensor in values.values()
        )
        if not fits or values["step"] < 1 or bool((values["exp_avg_sq"] < 0).any()):
            raise ValueError(f"the state of {names[i]} is not that of Adam")
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def _in_order_of(optimizer: torch.optim.Optimizer, model: nn.Module) -> tuple[list[str], list[nn.Parameter]]:
    """The parameters that an optimiser changes, by their names in the model: its state counts them so."""
    name_of = {parameter: name for name, parameter in model.named_parameters()}
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return [name_of[parameter] for parameter in parameters], parameters
