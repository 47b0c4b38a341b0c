"""What a network of a solver does: it reads a text, and writes equations as prefixes. The interface."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from toolkit.nn.batches import Batch
from toolkit.nn.bert import Bert
from toolkit.nn.dropout import Dropout
from toolkit.nn.encoder import Encoder
from toolkit.nn.features import NumberFeatures, RepeatFeatures
from toolkit.nn.pretrained import PretrainedEncoder
from toolkit.nn.tokens import Tokens

HOPELESS = 15.0  # a beam whose log-probability is so far below that of a complete one is given up


class NetworkConfig(Protocol):
    """The settings of a network, whichever configuration has them."""

    @property
    def encoder(self) -> PretrainedEncoder | None: ...
    @property
    def embedding(self) -> int: ...
    @property
    def hidden(self) -> int: ...
    @property
    def layers(self) -> int: ...
    @property
    def number_features(self) -> bool: ...
    @property
    def repeat_features(self) -> bool: ...
    @property
    def dropout(self) -> float: ...
    @property
    def decoder_dropout(self) -> float: ...


class Beam(NamedTuple):
    """A complete equation."""

    prefix: tuple[int, ...]
    log_prob: float


@dataclass(frozen=True)
class Text:
    """What was read: B texts of L words, V tokens [operators | constants | numbers], H units."""

    states: Tensor  # [B, L, H]
    padding: Tensor  # [B, L] True beyond the end of a text
    last: Tensor  # [B, H]
    tokens: Tensor  # [B, V, H] embeddings of all tokens
    allowed: Tensor  # [B, V] whether there is such a token (numbers that the problem has)


class EquationNetwork(nn.Module):
    """The text is read by WARM's encoder, or by one that is pretrained.

    A number's embedding is the encoder's state at its position.
    """

    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__()
        self.tokens = tokens
        embedding = config.embedding if config.encoder is None else config.encoder.hidden
        features: list[nn.Module] = []
        if config.number_features:
            features.append(NumberFeatures(embedding))
        if config.repeat_features:
            features.append(RepeatFeatures(embedding))
        self.features = nn.ModuleList(features)
        self.encoder = self.new_encoder(words, config)
        self.symbols = nn.Embedding(tokens.first_number, config.hidden)  # operators and constants
        self.dropout = Dropout(config.decoder_dropout)

    def new_encoder(self, words: int, config: NetworkConfig) -> nn.Module:
        """Called with what `Encoder.forward` takes."""
        if config.encoder is not None:
            return Bert(words, config.encoder, config.hidden, config.dropout)
        return Encoder(words, config.embedding, config.hidden, config.layers, config.dropout)

    @abstractmethod
    def log_prob(
        self, batch: Batch, prefixes: Sequence[Sequence[int]], owner: Sequence[int], longest: int
    ) -> Tensor:
        """Log-probabilities [N] of N prefixes, none longer than `longest`; owner [N] is the text of each.

        A text may own several, in a row.
        """

    @abstractmethod
    def beams(self, batch: Batch, width: int, longest: int) -> list[list[Beam]]:
        """The equations of each problem that a beam search finds, likeliest first. Without gradients."""

    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """States [B, L, H] of the words and the last state [B, H]."""
        features = sum(of_words(batch) for of_words in self.features) if len(self.features) else None
        states, last = map(self.dropout, self.encoder(batch.tokens, batch.is_number, batch.lengths, features))
        return states, last

    def read(self, batch: Batch) -> Text:
        states, last = self.encode(batch)
        positions = batch.positions.unsqueeze(-1).expand(-1, -1, states.shape[-1])
        symbols = self.symbols.weight.expand(len(batch.rows), -1, -1)
        device = states.device
        has_number = torch.arange(batch.n, device=device) < batch.counts.unsqueeze(1)
        has_symbol = has_number.new_ones(len(batch.rows), self.tokens.first_number)
        padding = torch.arange(states.shape[1], device=device) >= batch.lengths.unsqueeze(1)
        tokens = torch.cat([symbols, states.gather(1, positions)], 1)
        return Text(states, padding, last, tokens, torch.cat([has_symbol, has_number], 1))
