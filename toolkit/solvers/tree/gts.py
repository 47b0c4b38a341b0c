"""GTS (Xie and Sun 2019): a GRU encoder and the goal-driven tree decoder."""

import torch
from torch import Tensor, nn

from toolkit.nn.batches import Batch
from toolkit.nn.encoder import Encoder
from toolkit.solvers.tree.config import SolverConfig
from toolkit.solvers.tree.decoder import Source, TreeDecoder
from toolkit.solvers.tree.examples import Tokens


class GtsNetwork(nn.Module):
    """The text is read by WARM's encoder; a number's embedding is the encoder's state at its position."""

    def __init__(self, words: int, tokens: Tokens, config: SolverConfig) -> None:
        super().__init__()
        self.tokens = tokens
        self.encoder = Encoder(words, config.embedding, config.hidden, config.layers, config.dropout)
        self.symbols = nn.Embedding(tokens.first_number, config.hidden)  # operators and constants
        self.decoder = TreeDecoder(config.hidden, len(tokens.operators), config.dropout)

    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """States [B, L, H] of the words and the first goal [B, H]."""
        states, last = self.encoder(batch.tokens, batch.is_number, batch.lengths)
        return states, last

    def source(self, batch: Batch) -> Source:
        states, root = self.encode(batch)
        positions = batch.positions.unsqueeze(-1).expand(-1, -1, states.shape[-1])
        symbols = self.symbols.weight.expand(len(batch.rows), -1, -1)
        device = states.device
        has_number = torch.arange(batch.n, device=device) < batch.counts.unsqueeze(1)
        has_symbol = has_number.new_ones(len(batch.rows), self.tokens.first_number)
        padding = torch.arange(states.shape[1], device=device) >= batch.lengths.unsqueeze(1)
        tokens = torch.cat([symbols, states.gather(1, positions)], 1)
        return self.decoder.source(states, padding, root, tokens, torch.cat([has_symbol, has_number], 1))
