"""Semantically-Aligned Equation Generation (Chiang and Chen 2019): an LSTM that works a stack machine.

An action pushes an operand, or applies an operator to the two topmost; the embedding of the result is what a
network makes of theirs, so every part of an equation has a meaning. Which action is next is seen from the
state, the text it attends to, and the two topmost of the stack. As published, but for the reader (WARM's
GRU) and for unknowns, which equations here do not have: their first action, "generate variable", is left out.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from toolkit.nn.attention import Attention
from toolkit.nn.linear import Linear
from toolkit.nn.network import NetworkConfig, Text
from toolkit.nn.sequence import SequenceNetwork
from toolkit.nn.tokens import Tokens
from toolkit.solvers.networks.lstm import LstmState, Query, embedded, step
from toolkit.solvers.networks.stack import Stack

DEPTH = 16  # of a stack; deeper ones forget their top


class AlignedState(NamedTuple):
    hidden: Tensor  # [B, K, H]
    cell: Tensor  # [B, K, H]
    context: Tensor  # [B, K, H]
    values: Tensor  # [B, K, D, H]
    height: Tensor  # [B, K]

    @property
    def stack(self) -> Stack:
        return Stack(self.values, self.height)


class AlignedNetwork(SequenceNetwork[AlignedState]):
    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        h = config.hidden
        self.cell, self.attend = nn.LSTMCell(2 * h, h), Attention(h)
        self.merge = nn.Sequential(Linear(3 * h, h), nn.ReLU(), Linear(h, h), nn.Tanh())
        self.ask = Query(4 * h, h)

    def begin(self, text: Text, width: int) -> AlignedState:
        hidden = text.last.unsqueeze(1).expand(-1, width, -1)
        context = self.attend(text, hidden)
        return AlignedState(hidden, torch.zeros_like(hidden), context, *Stack.empty(hidden, DEPTH))

    def query(self, state: AlignedState) -> Tensor:
        seen = state.hidden, state.context, state.stack.top(), state.stack.top(1)
        query: Tensor = self.ask(*map(self.dropout, seen))
        return query

    def advance(self, text: Text, state: AlignedState, token: Tensor) -> AlignedState:
        stack, chosen = state.stack, embedded(text, token)
        merged = self.merge(torch.cat([chosen, stack.top(1), stack.top()], -1))
        stack = stack.reduced(token < self.operators, chosen, merged)
        hidden, cell = step(self.cell, LstmState(*state[:3]), stack.top(), state.context)
        return AlignedState(hidden, cell, self.attend(text, hidden), *stack)
