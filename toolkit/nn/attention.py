"""What a decoder asks of the text."""

import math
from typing import Protocol

import torch
from torch import Tensor, nn

from toolkit.nn.linear import Linear


class Attended(Protocol):
    """A text that was read: B texts of L words, H units."""

    @property
    def states(self) -> Tensor: ...  # [B, L, H]
    @property
    def padding(self) -> Tensor: ...  # [B, L] True beyond the end of a text


class Attention(nn.Module):
    """The parts of the text [B, K, H] that states [B, K, H] ask for, by a scaled dot product."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.query = Linear(hidden, hidden)

    def forward(self, text: Attended, states: Tensor) -> Tensor:
        energy = self.query(states) @ text.states.transpose(1, 2) / math.sqrt(states.shape[-1])
        weights = energy.masked_fill(text.padding.unsqueeze(1), -torch.inf).softmax(-1)
        context: Tensor = weights @ text.states
        return context
