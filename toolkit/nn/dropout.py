"""Dropout whose masks are slices of one long mask: drawing a mask costs more than multiplying by it."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

LEAST = 2**20  # elements of the long mask


class Dropout(nn.Module):
    """What nn.Dropout does, with a mask that starts at a random place of one that is drawn once an epoch.

    `train()` forgets the long mask, so the random numbers of an epoch depend on its seed alone.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share, self.is_on = share, True
        self._mask: Tensor | None = None

    def train(self, mode: bool = True) -> "Dropout":
        self._mask = None
        return super().train(mode)

    @contextmanager
    def off(self) -> Iterator[None]:
        """Within this block of an epoch nothing is dropped."""
        self.is_on = False
        try:
            yield
        finally:
            self.is_on = True

    def forward(self, values: Tensor) -> Tensor:
        if not (self.training and self.is_on and self.share):
            return values
        size = values.numel()
        if self._mask is None or 2 * size > len(self._mask):
            kept = torch.empty(max(2 * size, LEAST), device=values.device, dtype=values.dtype)
            self._mask = kept.bernoulli_(1 - self.share).div_(1 - self.share)
        start = int(torch.randint(len(self._mask) - size + 1, ()))
        return values * self._mask[start : start + size].view(values.shape)
