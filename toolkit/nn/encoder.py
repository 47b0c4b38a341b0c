"""The encoder that every model here reads a text with (paper, section 4.2)."""

import torch
from torch import Tensor, nn

from toolkit.nn.dropout import Dropout
from toolkit.nn.gru import Gru


class Encoder(nn.Module):
    """Embedding and number feature → bidirectional GRU of some layers → directions summed.

    Dropout is within; whether what comes out is dropped too is left to the model.
    """

    def __init__(self, words: int, embedding: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        sizes = [embedding + 1, *[2 * hidden] * (layers - 1)]
        self.embedding = nn.Embedding(words, embedding, padding_idx=0)
        self.layers = nn.ModuleList(Gru(size, hidden) for size in sizes)
        self.dropout = Dropout(dropout)

    def forward(
        self, tokens: Tensor, is_number: Tensor, lengths: Tensor, features: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """[B, L] → states [B, L, H] and the last state [B, H]. Features [B, L, E] are added to the words."""
        words = self.embedding(tokens.t())
        embedded = self.dropout(words if features is None else words + features.transpose(0, 1))
        states = torch.cat([embedded, is_number.t().unsqueeze(-1).to(embedded.dtype)], -1)
        last = states
        for i, layer in enumerate(self.layers):
            states, last = layer(self.dropout(states) if i else states, lengths)
        return _summed(states).transpose(0, 1), _summed(last)


def _summed(states: Tensor) -> Tensor:
    """Both directions [..., 2H] added [..., H]."""
    ahead, back = states.chunk(2, -1)
    return ahead + back
