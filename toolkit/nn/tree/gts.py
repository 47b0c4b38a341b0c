"""GTS (Xie and Sun 2019): a GRU encoder and the goal-driven tree decoder."""

from typing import Protocol

import torch
from torch import Tensor, nn

from toolkit.nn.batches import Batch
from toolkit.nn.encoder import Encoder
from toolkit.nn.tree.decoder import Source, TreeDecoder
from toolkit.nn.tree.tokens import Tokens

KINDS, RANKS = 4, 4  # of numbers


class GtsConfig(Protocol):
    """The settings of a network, whichever configuration has them."""

    @property
    def embedding(self) -> int: ...
    @property
    def hidden(self) -> int: ...
    @property
    def layers(self) -> int: ...
    @property
    def number_features(self) -> bool: ...
    @property
    def dropout(self) -> float: ...
    @property
    def decoder_dropout(self) -> float: ...


class GtsNetwork(nn.Module):
    """The text is read by WARM's encoder; a number's embedding is the encoder's state at its position."""

    def __init__(self, words: int, tokens: Tokens, config: GtsConfig) -> None:
        super().__init__()
        self.tokens = tokens
        self.kinds: nn.Embedding | None = None
        if config.number_features:
            self.kinds = nn.Embedding(KINDS * RANKS, config.embedding)
            nn.init.zeros_(self.kinds.weight)  # until it is known what they mean
        self.encoder = Encoder(words, config.embedding, config.hidden, config.layers, config.dropout)
        self.symbols = nn.Embedding(tokens.first_number, config.hidden)  # operators and constants
        self.decoder = TreeDecoder(config.hidden, len(tokens.operators), config.decoder_dropout)

    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """States [B, L, H] of the words and the first goal [B, H]."""
        features = None if self.kinds is None else self._number_features(batch, self.kinds)
        read = self.encoder(batch.tokens, batch.is_number, batch.lengths, features)
        states, last = map(self.decoder.dropout, read)
        return states, last

    def _number_features(self, batch: Batch, kinds: nn.Embedding) -> Tensor:
        """What is added to the words [B, L, E]: nothing, but to the numbers."""
        exists = (torch.arange(batch.n, device=batch.values.device) < batch.counts.unsqueeze(1)).unsqueeze(-1)
        of_numbers = kinds(number_kinds(batch)) * exists
        positions = batch.positions.unsqueeze(-1).expand_as(of_numbers)
        nothing = of_numbers.new_zeros(*batch.tokens.shape, of_numbers.shape[-1])
        features: Tensor = nothing.scatter_add(1, positions, of_numbers)
        return features

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


def number_kinds(batch: Batch) -> Tensor:
    """[B, n] kind and rank of each number as one integer; anything where there is no number.

    Kinds: one, less than one, whole, broken. Ranks: repeated, smallest, largest, between.
    """
    values = batch.values[:, -batch.n :]
    exists = torch.arange(batch.n, device=values.device) < batch.counts.unsqueeze(1)
    kind = torch.where(values == values.round(), 2, 3)
    kind = torch.where(values < 1, 1, torch.where(values == 1, 0, kind))
    others = (exists.unsqueeze(1) & exists.unsqueeze(2)) & ~torch.eye(batch.n, device=values.device).bool()
    mine, theirs = values.unsqueeze(2), values.unsqueeze(1)
    repeated = (others & (mine == theirs)).any(2)
    smallest, largest = ~(others & (theirs < mine)).any(2), ~(others & (theirs > mine)).any(2)
    rank = torch.where(repeated, 0, torch.where(smallest, 1, torch.where(largest, 2, 3)))
    return kind * RANKS + rank
