"""A BiLSTM-like reader and an LSTM that attends to the text (Luong et al. 2015) and writes a postfix.

It is a part of several published solvers, which differ in what is around it. The reader is WARM's, a
bidirectional GRU. Numbers and constants are scored by their embeddings, where the papers have one output for
the first number, one for the second, and so on: here any number can be written that the text has.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from toolkit.nn.attention import Attention
from toolkit.nn.linear import Linear
from toolkit.nn.network import NetworkConfig, Text
from toolkit.nn.sequence import SequenceNetwork
from toolkit.nn.tokens import Tokens


class LstmState(NamedTuple):
    hidden: Tensor  # [B, K, H]
    cell: Tensor  # [B, K, H]
    context: Tensor  # [B, K, H]


class Query(nn.Module):
    """What the next token is asked by [B, K, H], of features [B, K, …]."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.linear = Linear(features, hidden)

    def forward(self, *features: Tensor) -> Tensor:
        return torch.tanh(self.linear(torch.cat(features, -1)))


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
        self.ask = Query(2 * h, h)

    def begin(self, text: Text, width: int) -> LstmState:
        hidden = text.last.unsqueeze(1).expand(-1, width, -1)
        return LstmState(hidden, torch.zeros_like(hidden), self.attend(text, hidden))

    def query(self, state: LstmState) -> Tensor:
        query: Tensor = self.ask(self.dropout(state.hidden), self.dropout(state.context))
        return query

    def advance(self, text: Text, state: LstmState, token: Tensor) -> LstmState:
        hidden, cell = step(self.cell, state, embedded(text, token), state.context)
        return LstmState(hidden, cell, self.attend(text, hidden))
