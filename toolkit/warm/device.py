"""Where tensors live."""

import torch

from toolkit.errors import WarmkitError


def pick_device(name: str) -> torch.device:
    """cpu, cuda, or auto: CUDA where there is one."""
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise WarmkitError("--device cuda: torch sees no CUDA device here. Use --device cpu.")
    return torch.device("cuda" if there and name != "cpu" else "cpu")
