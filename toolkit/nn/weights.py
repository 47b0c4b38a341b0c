"""Tensors in safetensors files: written whole or not at all, and read without running anything."""

from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing


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
