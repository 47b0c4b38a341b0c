"""The policy of the paper (sections 4.2 and 4.3): an encoder and three gated networks.

Shapes: B problems, L tokens, n numbers, W beams or paths, D operands in OpDict, O operators, H hidden
units. OpDict is laid out as [constants | numbers | results], so that an operand keeps its slot while
OpDict grows.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from toolkit.data.schema import MAX_NUMBERS
from toolkit.methods.warm.config import ModelConfig
from toolkit.methods.warm.paths import Layout
from toolkit.nn.batches import Batch
from toolkit.nn.dropout import Dropout
from toolkit.nn.encoder import Encoder
from toolkit.nn.linear import Linear

Index: TypeAlias = Tensor | slice | tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Encoded:
    """What the decoder starts from."""

    hidden: Tensor  # [B, H] h^d_0, the last state of the encoder
    keys: Tensor  # [B, C + n, H] one for each operand that OpDict starts with
    mask: Tensor  # [B, C + n] whether there is such an operand

    def detach(self) -> "Encoded":
        return Encoded(self.hidden.detach(), self.keys.detach(), self.mask)

    def rows(self, rows: Tensor) -> "Encoded":
        return Encoded(self.hidden[rows], self.keys[rows], self.mask[rows])


@dataclass(frozen=True)
class State:
    """The decoder between two steps, for W beams of each problem."""

    hidden: Tensor  # [B, W, H] h^d
    previous: Tensor  # [B, W] the operator of the step before
    keys: Tensor  # [B, W, D, H]
    mask: Tensor  # [B, W, D]
    used: Tensor  # [B, W, D] whether a step has used the operand
    first_result: int  # the slot of the first result

    def __getitem__(self, index: Index) -> "State":
        """Some problems (rows, or the first few as a slice), or some beams of each (rows, beams)."""
        return State(
            self.hidden[index],
            self.previous[index],
            self.keys[index],
            self.mask[index],
            self.used[index],
            self.first_result,
        )


class Joint(NamedTuple):
    """The distribution over (op, left, right), and the next hidden state for each operator."""

    log_prob: Tensor  # [B, W, O, D, D]
    hidden: Tensor  # [B, W, O, H] h^or


class Gate(nn.Module):
    """σ(W1 x + b1) * tanh(W2 x + b2): the network that section 4.3 uses three times.

    x comes in parts, and the first is an operator. Each is multiplied by its own share of W1 and W2, so that
    an operator is multiplied once, and not for every beam.
    """

    def __init__(self, parts: int, hidden: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList(Linear(hidden, 2 * hidden, bias=i == 0) for i in range(parts))

    def forward(self, operators: Tensor, which: Tensor | None, *parts: Tensor) -> Tensor:
        """`operators` [K, H] is all that there are, `which` are those that are meant; None: all of them."""
        of_operators, *linears = self.parts
        total = of_operators(operators)
        if which is not None:
            total = embedding(which, total)
        for linear, part in zip(linears, parts, strict=True):
            total = total + linear(part)
        gate, content = total.chunk(2, -1)
        return torch.sigmoid(gate) * torch.tanh(content)


class Decoder(nn.Module):
    """Section 4.3: operator → left operand → right operand; h^or is the next hidden state.

    The paper scores operands by their index in OpDict alone (its W3). Departures, each a key:
    - `pointer`: an operand is also known by the encoder's state at its position in the text, or by the
      step that made it;
    - `pairs`: the right operand is drawn knowing the left one;
    - `habits`: learnt biases against operands that were used before, and against constants;
    - `stop`: after each step the policy may stop, which it learns from the text and the count of numbers
      not used yet. (In the paper only the answer stops a path, so that an equation which ignores half of
      the numbers is as good as one that doesn't.)
    """

    def __init__(self, layout: Layout, config: ModelConfig) -> None:
        super().__init__()
        h, operators = config.hidden, len(config.operators)
        self.layout, self.config = layout, config
        self.embed_op = nn.Embedding(operators + 1, h)  # the last one stands for the start
        self.gate_op, self.gate_left, self.gate_right = Gate(2, h), Gate(2, h), Gate(3, h)
        self.score_op = Linear(h, operators)
        self.operand = nn.Embedding(len(layout.constants) + MAX_NUMBERS + config.max_steps, h)  # W3, by code
        if config.pointer:
            self.query_left, self.query_right = Linear(h, h, bias=False), Linear(h, h, bias=False)
            self.from_text, self.from_step = Linear(h, h), Linear(3 * h, h)
        if config.pairs:
            self.pair_left = Linear(h, operators * config.pairs, bias=False)
            self.pair_right = Linear(h, config.pairs, bias=False)
        if config.habits:
            self.habit_used = nn.Parameter(torch.full((2,), -2.0))  # for the left and the right operand
            self.habit_constant = nn.Parameter(torch.full((2,), -2.0))
        if config.stop:
            self.score_stop = Linear(h, 1)
            self.stop_unused = nn.Parameter(torch.tensor(-1.0))
        self.dropout = Dropout(config.dropout)

    def initial_keys(self, states: Tensor, positions: Tensor) -> Tensor:
        """Keys [B, C + n, H] of constants and numbers; positions [B, n] say where the numbers stand."""
        size, n = positions.shape
        constants = len(self.layout.constants)
        keys = self.operand.weight[: constants + n].expand(size, -1, -1)
        if not self.config.pointer:
            return keys
        at_numbers = states.gather(1, positions.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
        return torch.cat([keys[:, :constants], keys[:, constants:] + self.from_text(at_numbers)], 1)

    def start(self, encoded: Encoded, width: int) -> State:
        size = len(encoded.hidden)
        return State(
            encoded.hidden.unsqueeze(1).expand(-1, width, -1),
            torch.full((size, width), len(self.config.operators), device=encoded.hidden.device),
            encoded.keys.unsqueeze(1).expand(-1, width, -1, -1),
            encoded.mask.unsqueeze(1).expand(-1, width, -1),
            torch.zeros_like(encoded.mask).unsqueeze(1).expand(-1, width, -1),
            encoded.mask.shape[1],
        )

    def joint(self, state: State) -> Joint:
        """The distribution of the next step."""
        h_op, log_op = self._operator(state)
        each_op, h_op = self.embed_op.weight[:-1], h_op.unsqueeze(-2)
        h_left = self.gate_left(each_op, None, h_op)  # [B, W, O, H]
        h_right = self.gate_right(each_op, None, h_op, h_left)
        query_left, query_right = self._queries(h_left, h_right)
        keys = state.keys.transpose(-1, -2)
        left, right = query_left @ keys, (query_right @ keys).unsqueeze(-2)  # [B, W, O, D], [B, W, O, 1, D]
        if self.config.pairs:
            as_left = self._as_left(state.keys).transpose(-2, -3)  # [B, W, O, D, R]
            right = right + as_left @ self.pair_right(state.keys).unsqueeze(-3).transpose(-1, -2)
        if self.config.habits:
            itself = torch.eye(left.shape[-1], device=left.device, dtype=torch.bool)
            left = left + self._habit(0, state.used).unsqueeze(-2)
            right = right + self._habit(1, state.used.unsqueeze(-2) | itself).unsqueeze(-3)
        absent = ~state.mask.unsqueeze(-2)
        log_left = left.masked_fill(absent, -torch.inf).log_softmax(-1)
        log_right = right.masked_fill(absent.unsqueeze(-2), -torch.inf).log_softmax(-1)
        return Joint(log_op[..., None, None] + log_left.unsqueeze(-1) + log_right, h_right)

    def of_steps(self, state: State, triplets: Tensor) -> tuple[Tensor, Tensor]:
        """What `joint` has of steps (op, left, right) [B, W, 3]: log_prob [B, W] and hidden [B, W, H].

        Only the operator and the left operand of the step are worked out.
        """
        op, left, right = triplets.unbind(-1)
        h_op, log_op = self._operator(state)
        each_op = self.embed_op.weight[:-1]
        h_left = self.gate_left(each_op, op, h_op)
        h_right = self.gate_right(each_op, op, h_op, h_left)
        query_left, query_right = self._queries(h_left, h_right)
        for_left, for_right = _products(state.keys, query_left), _products(state.keys, query_right)
        if self.config.pairs:
            as_left = _take(self._as_left(_take(state.keys, left)), op)
            for_right = for_right + _products(self.pair_right(state.keys), as_left)
        if self.config.habits:
            for_left = for_left + self._habit(0, state.used)
            for_right = for_right + self._habit(1, state.used.scatter(-1, left.unsqueeze(-1), True))
        log_prob = log_op.gather(-1, op.unsqueeze(-1))
        for scores, operand in ((for_left, left), (for_right, right)):
            each = scores.masked_fill(~state.mask, -torch.inf).log_softmax(-1)
            log_prob = log_prob + each.gather(-1, operand.unsqueeze(-1))
        return log_prob.squeeze(-1), h_right

    def _operator(self, state: State) -> tuple[Tensor, Tensor]:
        """h^op [B, W, H], and the log-probability of each operator [B, W, O]."""
        h_op = self.gate_op(self.embed_op.weight, state.previous, state.hidden)
        return h_op, self.score_op(self.dropout(h_op)).log_softmax(-1)

    def _queries(self, h_left: Tensor, h_right: Tensor) -> tuple[Tensor, Tensor]:
        """What the keys of left and of right operands are compared with."""
        h_left, h_right = self.dropout(h_left), self.dropout(h_right)
        if not self.config.pointer:
            return h_left, h_right
        scale = h_left.shape[-1] ** -0.5
        return self.query_left(h_left) * scale, self.query_right(h_right) * scale

    def _as_left(self, keys: Tensor) -> Tensor:
        """[..., H] → [..., O, R]: what a left operand is in pairs, under each operator."""
        as_left: Tensor = self.pair_left(keys).unflatten(-1, (len(self.config.operators), -1))
        return as_left

    def _habit(self, side: int, used: Tensor) -> Tensor:
        """Biases of operands [..., D], of the left side (0) or the right one (1)."""
        constant = torch.arange(used.shape[-1], device=used.device) < len(self.layout.constants)
        return used * self.habit_used[side] + constant * self.habit_constant[side]

    def advance(self, state: State, hidden: Tensor, triplets: Tensor, step: int) -> State:
        """The state after steps (op, left, right) [B, W, 3]; hidden [B, W, H] is h^or of their operators."""
        op, left, right = triplets.unbind(-1)
        key = self.operand.weight[self.layout.first_result + step].expand_as(hidden)
        if self.config.pointer:
            made_of = torch.cat([hidden, _take(state.keys, left), _take(state.keys, right)], -1)
            key = key + torch.tanh(self.from_step(made_of))
        used = state.used.scatter(2, triplets[..., 1:], True)
        new = torch.ones_like(op, dtype=torch.bool).unsqueeze(-1)
        return State(
            hidden,
            op,
            torch.cat([state.keys, key.unsqueeze(2)], 2),
            torch.cat([state.mask, new], 2),
            torch.cat([used, ~new], 2),
            state.first_result,
        )

    def stop(self, state: State) -> Tensor:
        """The logit [B, W] of stopping here."""
        numbers = slice(len(self.layout.constants), state.first_result)
        unused = (state.mask[..., numbers] & ~state.used[..., numbers]).sum(-1)
        logit: Tensor = self.score_stop(self.dropout(state.hidden)).squeeze(-1)
        return logit + self.stop_unused * unused


def _take(values: Tensor, index: Tensor) -> Tensor:
    """values [B, W, K, H] at index [B, W] → [B, W, H]."""
    return values.gather(2, index[..., None, None].expand(-1, -1, 1, values.shape[-1])).squeeze(2)


def _products(keys: Tensor, query: Tensor) -> Tensor:
    """keys [B, W, D, H] · query [B, W, H] → [B, W, D]."""
    return (keys @ query.unsqueeze(-1)).squeeze(-1)


class Policy(nn.Module):
    """Encoder and decoder together."""

    def __init__(self, words: int, layout: Layout, config: ModelConfig) -> None:
        super().__init__()
        self.layout, self.config = layout, config
        self.encoder = Encoder(words, config.embedding, config.hidden, config.layers, config.dropout)
        self.decoder = Decoder(layout, config)

    def encode(self, batch: Batch) -> Encoded:
        read = self.encoder(batch.tokens, batch.is_number, batch.lengths)
        states, last = map(self.encoder.dropout, read)
        keys = self.decoder.initial_keys(states, batch.positions)
        has_number = torch.arange(batch.n, device=batch.tokens.device) < batch.counts.unsqueeze(1)
        has_constant = has_number.new_ones(len(batch.rows), len(self.layout.constants))
        return Encoded(last, keys, torch.cat([has_constant, has_number], 1))
