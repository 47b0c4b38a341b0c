"""Seq2Tree (Liu et al. 2019, "Tree-structured decoding for solving math word problems").

An LSTM writes the tree from its root down, the left operand of an operator before the right one. Each step is
fed with the token before it, with the operator that it is an operand of, and with the operand beside it that
is complete; both with the states in which they were written. What is open lies on a stack, as in the paper;
the reader is WARM's GRU.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from toolkit.nn.attention import Attention
from toolkit.nn.network import NetworkConfig, Text
from toolkit.nn.sequence import SequenceNetwork
from toolkit.nn.tokens import Tokens
from toolkit.solvers.networks.lstm import LstmState, Query, embedded, step

DEPTH = 16  # operators that wait for an operand


class TreeState(NamedTuple):
    hidden: Tensor  # [B, K, H]
    cell: Tensor  # [B, K, H]
    context: Tensor  # [B, K, H]
    operators: Tensor  # [B, K, D, H] states of the operators that wait, the innermost last
    siblings: Tensor  # [B, K, D, H] states of their left operands; zeros if they are not complete
    has_left: Tensor  # [B, K, D]
    depth: Tensor  # [B, K] operators that wait


class Seq2TreeNetwork(SequenceNetwork[TreeState]):
    is_postfix = False

    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        h = config.hidden
        self.cell, self.attend = nn.LSTMCell(4 * h, h), Attention(h)
        self.ask = Query(4 * h, h)

    def begin(self, text: Text, width: int) -> TreeState:
        hidden = text.last.unsqueeze(1).expand(-1, width, -1)
        waiting = hidden.new_zeros(*hidden.shape[:2], DEPTH, hidden.shape[2])
        flags = waiting[..., 0].bool()
        context = self.attend(text, hidden)
        return TreeState(hidden, torch.zeros_like(hidden), context, waiting, waiting, flags, flags.sum(-1))

    def query(self, state: TreeState) -> Tensor:
        seen = state.hidden, state.context, *_family(state)
        query: Tensor = self.ask(*map(self.dropout, seen))
        return query

    def advance(self, text: Text, state: TreeState, token: Tensor) -> TreeState:
        state = _written(state, token < self.operators)
        fed = embedded(text, token), state.context, *_family(state)
        hidden, cell = step(self.cell, LstmState(*state[:3]), *fed)
        return state._replace(hidden=hidden, cell=cell, context=self.attend(text, hidden))


def _family(state: TreeState) -> tuple[Tensor, Tensor]:
    """The states [B, K, H] of the operator above what comes next, and of the operand beside it."""
    at = (state.depth - 1).clamp(min=0)[..., None, None].expand(-1, -1, 1, state.hidden.shape[-1])
    exists = (state.depth > 0).unsqueeze(-1)
    above, beside = (
        vectors.gather(2, at).squeeze(2) * exists for vectors in (state.operators, state.siblings)
    )
    return above, beside


def _written(state: TreeState, is_operator: Tensor) -> TreeState:
    """The stack after a token was written in this state: an operator waits, an operand completes others."""
    operators, siblings, has_left, depth = state.operators, state.siblings, state.has_left, state.depth
    places = torch.arange(DEPTH, device=depth.device)
    subtree = state.hidden  # of what is complete now, if the token was no operator
    climbing = ~is_operator
    while True:
        top = (depth - 1).clamp(min=0).unsqueeze(-1)
        climbing = climbing & (depth > 0) & has_left.gather(2, top).squeeze(2)
        if not climbing.any():
            break
        above = operators.gather(2, top.unsqueeze(-1).expand(-1, -1, -1, subtree.shape[-1])).squeeze(2)
        subtree = torch.where(climbing.unsqueeze(-1), above, subtree)
        depth = depth - climbing.long()
    opened = is_operator & (depth < DEPTH)
    is_new = (places == depth.unsqueeze(-1)) & opened.unsqueeze(-1)
    is_left = (places == (depth - 1).unsqueeze(-1)) & (~is_operator & (depth > 0)).unsqueeze(-1)
    new, left = is_new.unsqueeze(-1), is_left.unsqueeze(-1)
    return state._replace(
        operators=torch.where(new, state.hidden.unsqueeze(2), operators),
        siblings=torch.where(new, 0.0, torch.where(left, subtree.unsqueeze(2), siblings)),
        has_left=(has_left & ~is_new) | is_left,
        depth=depth + opened.long(),
    )
