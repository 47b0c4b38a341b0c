"""The encoder that every model here reads a text with (paper, section 4.2)."""

import torch
from torch import Tensor, nn

from toolkit.nn.dropout import Dropout
from toolkit.nn.gru import Gru
from toolkit.nn.packing import Packing


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
        longest = tokens.shape[1]
        packing = Packing.of(lengths, longest)
        words = self.embedding(packing.pack(tokens))
        embedded = self.dropout(words if features is None else words + packing.pack(features))
        states = torch.cat([embedded, packing.pack(is_number).unsqueeze(-1).to(embedded.dtype)], -1)
        for i, layer in enumerate(self.layers):
            states = layer(self.dropout(states) if i else states, packing)
        ahead, back = states.chunk(2, -1)
        return packing.pad(ahead + back, longest), ahead[packing.last] + back[packing.first]
