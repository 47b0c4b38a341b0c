"""Randomness that a seed and an epoch decide."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import deterministic as _deterministic

# torch sets the names of this module at run time.
deterministic: Any = _deterministic


@contextmanager
def seeded(seed: int, epoch: int) -> Iterator[torch.Generator]:
    """Within this block torch's random numbers (first weights, dropout) depend on seed and epoch alone.

    Gives a generator for everything that takes one. Sums run in a fixed order too.
    """
    were_fixed, filled = torch.are_deterministic_algorithms_enabled(), deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    deterministic.fill_uninitialized_memory = False  # nothing here reads what it has not written
    try:
        with torch.random.fork_rng():
            torch.manual_seed((seed * 1_000_003 + epoch) % 2**63)
            yield torch.Generator().manual_seed((seed * 1_000_003 + epoch + 500_000) % 2**63)
    finally:
        torch.use_deterministic_algorithms(were_fixed)
        deterministic.fill_uninitialized_memory = filled
