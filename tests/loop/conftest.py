import pytest
import torch
from tiny import TINY

from toolkit.config import load_config
from toolkit.loop.config import LoopConfig


@pytest.fixture(autouse=True)
def one_thread():
    """These models are so small that a second thread only costs."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tiny():
    """A configuration for a run of a second or two: tiny("stop.rounds=2")."""

    def config(*overrides: str) -> LoopConfig:
        return load_config(LoopConfig, None, (*TINY, "stop.rounds=1", *overrides))

    return config
