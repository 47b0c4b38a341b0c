"""The encoder that every model here reads a text with (paper, section 4.2)."""

import torch
from torch import Tensor, nn


class Encoder(nn.Module):
    """Embedding and number feature → bidirectional GRU of some layers → directions summed.

    Each direction is a GRU of its own over padded sequences, the backward one over sequences reversed within
    their lengths: the same as a packed bidirectional GRU, whose backward pass on a CPU fills a whole gradient
    with zeros for every time step and takes three times as long.
    """

    def __init__(self, words: int, embedding: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        sizes = [embedding + 1, *[2 * hidden] * (layers - 1)]
        self.embedding = nn.Embedding(words, embedding, padding_idx=0)
        self.forward_layers = nn.ModuleList(nn.GRU(size, hidden, batch_first=True) for size in sizes)
        self.backward_layers = nn.ModuleList(nn.GRU(size, hidden, batch_first=True) for size in sizes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Tensor, is_number: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """[B, L] → states [B, L, H] and the last state [B, H]."""
        embedded = self.dropout(self.embedding(tokens))
        states = torch.cat([embedded, is_number.unsqueeze(-1).to(embedded.dtype)], -1)
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        ends = lengths.unsqueeze(1)
        reversal = torch.where(positions < ends, ends - 1 - positions, positions)
        ahead = back = states
        for layer, (forward, backward) in enumerate(
            zip(self.forward_layers, self.backward_layers, strict=True)
        ):
            if layer:
                states = self.dropout(torch.cat([ahead, back], -1))
            ahead = forward(states)[0]
            back = _reorder(backward(_reorder(states, reversal))[0], reversal)
        last_position = (lengths - 1)[:, None, None].expand(-1, 1, ahead.shape[-1])
        last = ahead.gather(1, last_position).squeeze(1) + back[:, 0]
        return self.dropout(ahead + back), self.dropout(last)


def _reorder(states: Tensor, order: Tensor) -> Tensor:
    """states [B, L, H] with their positions in another order [B, L]."""
    return states.gather(1, order.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
