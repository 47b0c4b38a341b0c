"""A BiLSTM-like reader and an LSTM that attends to the text (Luong et al. 2015) and writes a postfix.

It is a part of several published solvers, which differ in what is around it. The reader is WARM's, a
bidirectional GRU. Numbers and constants are scored by their embeddings, where the papers have one output for
the first number, one for the second, and so on: here any number can be written that the text has.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from toolkit.nn.network import NetworkConfig, Text
from toolkit.nn.sequence import SequenceNetwork
from toolkit.nn.tokens import Tokens


class LstmState(NamedTuple):
    hidden: Tensor  # [B, K, H]
    cell: Tensor  # [B, K, H]
    context: Tensor  # [B, K, H]


class Attention(nn.Module):
    """The parts of the text [B, K, H] that states [B, K, H] ask for, by a scaled dot product."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.query = nn.Linear(hidden, hidden)

    def forward(self, text: Text, hidden: Tensor) -> Tensor:
        energy = self.query(hidden) @ text.states.transpose(1, 2) / math.sqrt(hidden.shape[-1])
        weights = energy.masked_fill(text.padding.unsqueeze(1), -torch.inf).softmax(-1)
        context: Tensor = weights @ text.states
        return context


class TokenScores(nn.Module):
    """Logits [B, K, V + 1] of the tokens of texts, and of the end, by features [B, K, F]."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(features, hidden), nn.Linear(hidden, hidden)
        self.end = nn.Parameter(torch.zeros(hidden))

    def forward(self, text: Text, *features: Tensor) -> Tensor:
        query = torch.tanh(self.query(torch.cat(features, -1)))
        keys = torch.cat([self.key(text.tokens), self.end.expand(len(text.tokens), 1, -1)], 1)
        scores: Tensor = query @ keys.transpose(1, 2)
        return scores


def embedded(text: Text, token: Tensor) -> Tensor:
    """The embeddings [B, K, H] of tokens [B, K]."""
    return text.tokens.gather(1, token.unsqueeze(-1).expand(-1, -1, text.tokens.shape[-1]))


def step(cell: nn.LSTMCell, state: LstmState, *inputs: Tensor) -> tuple[Tensor, Tensor]:
    """Hidden state and cell [B, K, H] after one step."""
    shape = state.hidden.shape
    new = cell(torch.cat(inputs, -1).flatten(0, 1), (state.hidden.flatten(0, 1), state.cell.flatten(0, 1)))
    return new[0].view(shape), new[1].view(shape)


class LstmNetwork(SequenceNetwork[LstmState]):
    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        h = config.hidden
        self.cell, self.attend = nn.LSTMCell(2 * h, h), Attention(h)
        self.score = TokenScores(2 * h, h)

    def begin(self, text: Text, width: int) -> LstmState:
        hidden = text.last.unsqueeze(1).expand(-1, width, -1)
        return LstmState(hidden, torch.zeros_like(hidden), self.attend(text, hidden))

    def scores(self, text: Text, state: LstmState) -> Tensor:
        scores: Tensor = self.score(text, self.dropout(state.hidden), self.dropout(state.context))
        return scores

    def advance(self, text: Text, state: LstmState, token: Tensor) -> LstmState:
        hidden, cell = step(self.cell, state, embedded(text, token), state.context)
        return LstmState(hidden, cell, self.attend(text, hidden))
