"""A small transformer that writes a postfix (Vaswani et al. 2017): the third of the three of Math-EN."""

import math
from collections.abc import Iterator
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
from toolkit.solvers.networks.positioned import Positioned, positions, with_mean, words_of

HEADS = 4  # of attention, if the units can be divided so


class TransformerReader(nn.Module):
    def __init__(self, words: int, config: NetworkConfig) -> None:
        super().__init__()
        self.words = Positioned(words, config)
        self.layers = nn.ModuleList(TransformerLayer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.hidden)

    def forward(
        self, tokens: Tensor, is_number: Tensor, lengths: Tensor, features: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        is_word = words_of(tokens, lengths)
        states = self.words(tokens, is_number, features)
        for layer in _layers(self.layers):
            states = layer(states, *layer.remember(states), is_word[:, None, None])
        return with_mean(self.norm(states), is_word)


class TransformerLayer(nn.Module):
    """Attention to what is read or written, to the text if there is one, and a small network; norms first."""

    def __init__(self, config: NetworkConfig, attends_to_text: bool = False) -> None:
        super().__init__()
        h = config.hidden
        self.heads = math.gcd(h, HEADS)
        self.ask, self.keep, self.join = Linear(h, h), Linear(h, 2 * h), Linear(h, h)
        self.attend = Attention(h) if attends_to_text else None
        self.feed = nn.Sequential(Linear(h, 2 * h), nn.ReLU(), Linear(2 * h, h))
        self.norms = nn.ModuleList(nn.LayerNorm(h) for _ in range(3))
        self.dropout = Dropout(config.dropout)

    def remember(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values [..., H] of states."""
        keys, values = self.keep(self.norms[0](states)).chunk(2, -1)
        return keys, values

    def forward(
        self,
        states: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None,
        text: Text | None = None,
        texts: int = 0,
    ) -> Tensor:
        """States [N, Q, H] that look at keys and values [N, S, H] where the mask [N, 1, Q, S] says so.

        With a text, N is its `texts` rows times some equations.
        """
        asked = self._split(self.ask(self.norms[0](states)))
        seen = functional.scaled_dot_product_attention(
            asked, self._split(keys), self._split(values), attn_mask=mask
        )
        states = states + self.dropout(self.join(seen.transpose(1, 2).flatten(2)))
        if self.attend is not None and text is not None:
            query = self.norms[1](states).reshape(texts, -1, states.shape[-1])
            states = states + self.dropout(self.attend(text, query).view_as(states))
        fed: Tensor = states + self.dropout(self.feed(self.norms[2](states)))
        return fed

    def _split(self, vectors: Tensor) -> Tensor:
        """[N, Q, H] → [N, heads, Q, H / heads]."""
        split: Tensor = vectors.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        return split


def _layers(layers: nn.ModuleList) -> Iterator[TransformerLayer]:
    for layer in layers:
        assert isinstance(layer, TransformerLayer)
        yield layer


class TransformerState(NamedTuple):
    known: Tensor  # [B, K, T, layers, 2H] keys and values of what is written
    out: Tensor  # [B, K, H]


class TransformerNetwork(FedNetwork[TransformerState]):
    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        h = config.hidden
        self.layers = nn.ModuleList(TransformerLayer(config, True) for _ in range(config.layers))
        self.norm = nn.LayerNorm(h)

    def new_encoder(self, words: int, config: NetworkConfig) -> nn.Module:
        return TransformerReader(words, config)

    def begin(self, text: Text, width: int) -> TransformerState:
        first = self.first(text, width)
        known = first.new_zeros(*first.shape[:2], 0, len(self.layers), 2 * first.shape[2])
        return self._step(text, known, first)

    def query(self, state: TransformerState) -> Tensor:
        query: Tensor = self.ask(state.out)
        return query

    def advance(self, text: Text, state: TransformerState, token: Tensor) -> TransformerState:
        return self._step(text, state.known, embedded(text, token))

    def _step(self, text: Text, known: Tensor, new: Tensor) -> TransformerState:
        """Each layer with the newest token [B, K, H]."""
        at, size = known.shape[2], len(new)
        states = (new + positions(at + 1, new)[at]).reshape(-1, 1, new.shape[-1])
        remembered = []
        for i, layer in enumerate(_layers(self.layers)):
            remembered.append(torch.cat(layer.remember(states), -1))
            every = torch.cat([known[:, :, :, i].flatten(0, 1), remembered[-1]], 1)
            states = layer(states, *every.chunk(2, -1), None, text, size)
        latest = torch.stack(remembered, 2).view(*new.shape[:2], 1, len(self.layers), -1)
        return TransformerState(torch.cat([known, latest], 2), self.norm(states).view_as(new))

    def forced(self, text: Text, written: Tensor) -> Tensor:
        """All positions at once."""
        every, (size, _, length) = self.fed(text, written), written.shape
        states = (every + positions(length, every)).flatten(0, 1)
        earlier = torch.ones(length, length, dtype=torch.bool, device=written.device).tril()[None, None]
        for layer in _layers(self.layers):
            states = layer(states, *layer.remember(states), earlier, text, size)
        queries: Tensor = self.ask(self.norm(states).view_as(every))
        return queries
