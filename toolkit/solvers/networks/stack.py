"""Stacks of vectors, one for each equation that is written: what operands and subtrees wait on."""

from typing import NamedTuple

import torch
from torch import Tensor


class Stack(NamedTuple):
    values: Tensor  # [B, K, D, H]
    height: Tensor  # [B, K]

    @classmethod
    def empty(cls, like: Tensor, depth: int) -> "Stack":
        """For equations whose vectors are like these [B, K, H]."""
        texts, width, h = like.shape
        return cls(
            like.new_zeros(texts, width, depth, h),
            torch.zeros(texts, width, dtype=torch.long, device=like.device),
        )

    def top(self, below: int = 0) -> Tensor:
        """The vectors [B, K, H] that lie on top, or some places below; zeros if there are too few."""
        at = self.height - 1 - below
        place = at.clamp(min=0)[..., None, None].expand(-1, -1, 1, self.values.shape[-1])
        return self.values.gather(2, place).squeeze(2) * (at >= 0).unsqueeze(-1)

    def put(self, vectors: Tensor, height: Tensor) -> "Stack":
        """With vectors [B, K, H] on top, so that the stacks have these heights [B, K]."""
        at = (height - 1).clamp(0, self.values.shape[2] - 1)
        place = at[..., None, None].expand(-1, -1, 1, self.values.shape[-1])
        return Stack(self.values.scatter(2, place, vectors.unsqueeze(2)), height)

    def reduced(self, is_operator: Tensor, operand: Tensor, merged: Tensor) -> "Stack":
        """Operands are put on top; operators replace the two topmost by what they make of them."""
        is_operator = is_operator & (self.height >= 2)  # after the end of an equation anything may come
        top = torch.where(is_operator.unsqueeze(-1), merged, operand)
        height = torch.where(is_operator, self.height - 1, self.height + 1)
        return self.put(top, height.clamp(max=self.values.shape[2]))
