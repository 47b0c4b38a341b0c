"""Words with their positions, for readers that have no order of their own."""

import math

import torch
from torch import Tensor, nn

from toolkit.nn.dropout import Dropout
from toolkit.nn.linear import Linear
from toolkit.nn.network import NetworkConfig


class Positioned(nn.Module):
    """Words with their positions, as wide as the network; the first part of a reader."""

    def __init__(self, words: int, config: NetworkConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, config.embedding, padding_idx=0)
        self.widen = Linear(config.embedding + 1, config.hidden)
        self.dropout = Dropout(config.dropout)

    def forward(self, tokens: Tensor, is_number: Tensor, features: Tensor | None) -> Tensor:
        words = self.embedding(tokens)
        words = words if features is None else words + features
        wide = self.widen(torch.cat([words, is_number.unsqueeze(-1).to(words.dtype)], -1))
        positioned: Tensor = self.dropout(wide + positions(tokens.shape[1], wide))
        return positioned


def positions(length: int, like: Tensor) -> Tensor:
    """Sines and cosines [length, H] of the positions."""
    size = like.shape[-1]
    rates = torch.exp(torch.arange(0, size, 2, device=like.device) * (-math.log(10_000.0) / size))
    angles = torch.arange(length, device=like.device).unsqueeze(1) * rates
    return torch.cat([angles.sin(), angles.cos()], -1)[:, :size].to(like.dtype)


def with_mean(states: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor]:
    """States [B, L, H], and their means over the words [B, H]."""
    states = states * is_word.unsqueeze(-1)
    return states, states.sum(1) / is_word.sum(1, keepdim=True).clamp(min=1)


def words_of(tokens: Tensor, lengths: Tensor) -> Tensor:
    return torch.arange(tokens.shape[1], device=tokens.device) < lengths.unsqueeze(1)
