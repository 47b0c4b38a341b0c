"""What toolkit.nn.gru is measured against: the encoder with torch's own GRU, each direction by itself."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from toolkit.methods.warm import policy
from toolkit.nn import network


class PaddedEncoder(nn.Module):
    """The backward direction reads sequences that are reversed within their lengths."""

    def __init__(self, words: int, embedding: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        sizes = [embedding + 1, *[2 * hidden] * (layers - 1)]
        self.embedding = nn.Embedding(words, embedding, padding_idx=0)
        self.forward_layers = nn.ModuleList(nn.GRU(size, hidden, batch_first=True) for size in sizes)
        self.backward_layers = nn.ModuleList(nn.GRU(size, hidden, batch_first=True) for size in sizes)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, tokens: Tensor, is_number: Tensor, lengths: Tensor, features: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        words = self.embedding(tokens)
        embedded = self.dropout(words if features is None else words + features)
        states = torch.cat([embedded, is_number.unsqueeze(-1).to(embedded.dtype)], -1)
        positions, ends = torch.arange(tokens.shape[1]), lengths.unsqueeze(1)
        reversal = torch.where(positions < ends, ends - 1 - positions, positions)
        ahead = back = states
        for i, (forward, backward) in enumerate(zip(self.forward_layers, self.backward_layers, strict=True)):
            if i:
                states = self.dropout(torch.cat([ahead, back], -1))
            ahead = forward(states)[0]
            back = _reorder(backward(_reorder(states, reversal))[0], reversal)
        last = ahead.gather(1, (lengths - 1)[:, None, None].expand(-1, 1, ahead.shape[-1])).squeeze(1)
        return ahead + back, last + back[:, 0]


def _reorder(states: Tensor, order: Tensor) -> Tensor:
    return states.gather(1, order.unsqueeze(-1).expand(-1, -1, states.shape[-1]))


@contextmanager
def torch_gru() -> Iterator[None]:
    """Networks that are made in this block have torch's GRU."""
    before = network.Encoder, policy.Encoder
    network.Encoder = policy.Encoder = PaddedEncoder  # type: ignore[misc,assignment]
    try:
        yield
    finally:
        network.Encoder, policy.Encoder = before  # type: ignore[misc]
