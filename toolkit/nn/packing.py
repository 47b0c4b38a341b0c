"""Texts of different lengths without padding: their first words, then their second words, and so on.

The longest text stands first. So the texts that have a word t are the first few of those that have a word
t - 1, and a step of a recurrent network works on them alone.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Packing:
    """Where the N words of B texts are; all but `sizes` are indices."""

    sizes: list[int]  # of each step: how many texts have a word there
    source: Tensor  # [N] in texts [B, L], flattened
    mirror: Tensor  # [N] the word at which the text is read in this step from its end: its own inverse
    before: Tensor  # [N - B] of all but the first words: the word before
    first: Tensor  # [B] the first word of each text
    last: Tensor  # [B]

    @classmethod
    def of(cls, lengths: Tensor, longest: int) -> "Packing":
        """Of texts [B] that are padded to `longest` words. Each has a word, if only padding."""
        lengths = lengths.clamp(min=1)
        sorted_lengths, order = lengths.sort(descending=True, stable=True)
        steps = torch.arange(int(sorted_lengths[0]), device=lengths.device).unsqueeze(1)
        has_word = steps < sorted_lengths
        step, text = has_word.nonzero(as_tuple=True)
        sizes = has_word.sum(1)
        start = sizes.cumsum(0) - sizes
        at = order.argsort()  # the place of each text in this order
        return cls(
            sizes.tolist(),
            order[text] * longest + step,
            start[sorted_lengths[text] - 1 - step] + text,
            (start[step - 1] + text)[len(order) :],
            at,
            start[lengths - 1] + at,
        )

    def pack(self, texts: Tensor) -> Tensor:
        """[B, L, …] → [N, …]."""
        return texts.flatten(0, 1)[self.source]

    def pad(self, words: Tensor, longest: int) -> Tensor:
        """[N, …] → [B, L, …], padded with zeros."""
        padded = words.new_zeros(len(self.first) * longest, *words.shape[1:])
        return padded.index_copy(0, self.source, words).view(-1, longest, *words.shape[1:])
