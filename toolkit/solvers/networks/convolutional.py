"""A convolutional network that writes a postfix (Gehring et al. 2017): the second of Math-EN's three.

It is smaller than published, and has no embedding of positions where the postfix is written: the window of a
convolution knows the order.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from toolkit.nn.attention import Attention
from toolkit.nn.dropout import Dropout
from toolkit.nn.linear import Linear
from toolkit.nn.network import NetworkConfig, Text
from toolkit.nn.tokens import Tokens
from toolkit.solvers.networks.fed import FedNetwork
from toolkit.solvers.networks.lstm import embedded
from toolkit.solvers.networks.positioned import Positioned, with_mean, words_of

WINDOW = 3  # tokens that a convolution sees


class ConvolutionalReader(nn.Module):
    def __init__(self, words: int, config: NetworkConfig) -> None:
        super().__init__()
        h = config.hidden
        self.words = Positioned(words, config)
        self.layers = nn.ModuleList(
            nn.Conv1d(h, 2 * h, WINDOW, padding=WINDOW // 2) for _ in range(config.layers)
        )
        self.dropout = Dropout(config.dropout)

    def forward(
        self, tokens: Tensor, is_number: Tensor, lengths: Tensor, features: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        is_word = words_of(tokens, lengths)
        states = self.words(tokens, is_number, features)
        for layer in self.layers:
            states = states * is_word.unsqueeze(-1)
            new = functional.glu(layer(self.dropout(states).transpose(1, 2)), 1).transpose(1, 2)
            states = (states + new) * math.sqrt(0.5)
        return with_mean(states, is_word)


class ConvolutionalState(NamedTuple):
    before: Tensor  # [B, K, layers, WINDOW - 1, H] what each layer saw last
    out: Tensor  # [B, K, H]


class ConvolutionalNetwork(FedNetwork[ConvolutionalState]):
    """Gated convolutions over what is written; each layer attends to the text."""

    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        h = config.hidden
        self.layers = nn.ModuleList(Linear(WINDOW * h, 2 * h) for _ in range(config.layers))
        self.attends = nn.ModuleList(Attention(h) for _ in range(config.layers))

    def new_encoder(self, words: int, config: NetworkConfig) -> nn.Module:
        return ConvolutionalReader(words, config)

    def begin(self, text: Text, width: int) -> ConvolutionalState:
        first = self.first(text, width)
        before = first.new_zeros(*first.shape[:2], len(self.layers), WINDOW - 1, first.shape[2])
        return self._step(text, before, first)

    def query(self, state: ConvolutionalState) -> Tensor:
        query: Tensor = self.ask(state.out)
        return query

    def advance(self, text: Text, state: ConvolutionalState, token: Tensor) -> ConvolutionalState:
        return self._step(text, state.before, embedded(text, token))

    def _step(self, text: Text, before: Tensor, new: Tensor) -> ConvolutionalState:
        """Each layer with the newest token [B, K, H]."""
        seen = []
        for i in range(len(self.layers)):
            window = torch.cat([before[:, :, i], new.unsqueeze(2)], 2)
            seen.append(window[:, :, 1:])
            new = self._layer(i, text, window.flatten(2), new)
        return ConvolutionalState(torch.stack(seen, 2), new)

    def _layer(self, i: int, text: Text, window: Tensor, new: Tensor) -> Tensor:
        """Windows [B, Q, WINDOW · H] of tokens [B, Q, H] → the same with what the layer adds."""
        found = functional.glu(self.layers[i](self.dropout(window)), -1)
        found = found + self.attends[i](text, found + new)
        added: Tensor = (found + new) * math.sqrt(0.5)
        return added

    def forced(self, text: Text, written: Tensor) -> Tensor:
        """All positions at once."""
        new = self.fed(text, written)
        for i in range(len(self.layers)):
            padded = functional.pad(new, (0, 0, WINDOW - 1, 0))
            window = padded.unfold(2, WINDOW, 1).transpose(3, 4).flatten(3)
            new = self._layer(i, text, window.flatten(1, 2), new.flatten(1, 2)).view_as(new)
        queries: Tensor = self.ask(new)
        return queries
