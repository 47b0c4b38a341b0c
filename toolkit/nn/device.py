"""Where tensors live."""

import torch

from toolkit.errors import WarmkitError


def pick_device(name: str) -> torch.device:
    """The device of that name: cpu, cuda, or auto, which is CUDA if torch sees it."""
    has_cuda = torch.cuda.is_available()
    if name == "cuda" and not has_cuda:
        raise WarmkitError("torch sees no CUDA device here.", "no-cuda")
    return torch.device("cuda" if has_cuda and name != "cpu" else "cpu")
