"""What an encoder sees besides words: of numbers, whose values are masked, and of words that come again."""

import torch
from torch import Tensor, nn

from toolkit.data.numbers import Written
from toolkit.data.repeats import KINDS
from toolkit.nn.batches import Batch

SIZES, RANKS = 3, 4  # of numbers


class NumberFeatures(nn.Module):
    """What is added to the words [B, L, E] of a batch: nothing, but to its numbers."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.kinds = nn.Embedding(len(Written) * SIZES * RANKS, size)
        nn.init.zeros_(self.kinds.weight)  # until it is known what they mean

    def forward(self, batch: Batch) -> Tensor:
        exists = (torch.arange(batch.n, device=batch.values.device) < batch.counts.unsqueeze(1)).unsqueeze(-1)
        of_numbers = self.kinds(number_kinds(batch)) * exists
        positions = batch.positions.unsqueeze(-1).expand_as(of_numbers)
        nothing = of_numbers.new_zeros(*batch.tokens.shape, of_numbers.shape[-1])
        features: Tensor = nothing.scatter_add(1, positions, of_numbers)
        return features


class RepeatFeatures(nn.Module):
    """What is added to the words [B, L, E] of a batch that the text has twice or more."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.kinds = nn.Embedding(KINDS, size, _weight=torch.zeros(KINDS, size))

    def forward(self, batch: Batch) -> Tensor:
        assert batch.repeats is not None
        features: Tensor = self.kinds(batch.repeats)
        return features


def number_kinds(batch: Batch) -> Tensor:
    """[B, n] what is to be seen of each number, as one integer; anything where there is no number.

    How it is written; whether it is one, less than one, or more; whether it is repeated, the smallest, the
    largest, or between.
    """
    values = batch.values[:, -batch.n :]
    exists = torch.arange(batch.n, device=values.device) < batch.counts.unsqueeze(1)
    size = torch.where(values == 1, 0, torch.where(values < 1, 1, 2))
    others = (exists.unsqueeze(1) & exists.unsqueeze(2)) & ~torch.eye(batch.n, device=values.device).bool()
    mine, theirs = values.unsqueeze(2), values.unsqueeze(1)
    repeated = (others & (mine == theirs)).any(2)
    smallest, largest = ~(others & (theirs < mine)).any(2), ~(others & (theirs > mine)).any(2)
    rank = torch.where(repeated, 0, torch.where(smallest, 1, torch.where(largest, 2, 3)))
    return (batch.written * SIZES + size) * RANKS + rank
