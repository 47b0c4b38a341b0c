"""Tensors in safetensors files: written whole or not at all, and read without running anything."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing

Network = TypeVar("Network", bound=nn.Module)


def save_weights(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> None:
    with replacing(path) as temporary:
        try:
            save_file(
                {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
                temporary,
                dict(metadata or {}),
            )
        except SafetensorError as error:
            raise WarmkitError(f"{path}: it can't be written: {error}.") from None


def load_weights(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except FileNotFoundError:
        raise WarmkitError(f"{path}: there is no such file: the model folder is not whole.") from None
    except (OSError, SafetensorError) as error:
        raise WarmkitError(f"{path}: it can't be read: {error}.") from None


def load_network(path: Path, build: Callable[[], Network]) -> Network:
    """The network that `build` makes, with the weights of a file.

    It is first built without memory and compared with what the file says it holds. So a description that
    does not fit its weights is an error, and never allocates more than the file has.
    """
    try:
        with torch.device("meta"):
            expected = build().state_dict()
    except (ArithmeticError, RuntimeError, TypeError, ValueError):  # torch: the sizes are too large
        raise foreign(path, "a network as it is described can't be built") from None
    needed = {name: tuple(tensor.shape) for name, tensor in expected.items()}
    if needed != (found := _shapes(path)):
        name = next(name for name in sorted(needed | found) if needed.get(name) != found.get(name))
        problem = f"{name[:60]} is {_shown(found.get(name))}, but {_shown(needed.get(name))} is described"
        raise foreign(path, problem)
    weights = load_weights(path)
    for name, tensor in weights.items():
        if tensor.dtype != expected[name].dtype or not bool(tensor.isfinite().all()):
            raise foreign(path, f"{name} has values that are not finite numbers")
    network = build()
    network.load_state_dict(weights)
    return network


def foreign(path: Path, problem: str) -> WarmkitError:
    """The error for weights that are not those of the model beside them."""
    return WarmkitError(f"{path}: it is damaged, or belongs to another model: {problem}.")


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor, from the header of the file."""
    try:
        with safe_open(path, "pt") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError):
        load_weights(path)  # says what is wrong
        raise


def _shown(shape: tuple[int, ...] | None) -> str:
    return "absent" if shape is None else f"[{', '.join(map(str, shape))}]"
