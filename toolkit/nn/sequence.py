"""Networks that write an equation token by token, as its postfix or its prefix.

Only equations can be written: what may come next is known from what is written (`Form`). Training and beam
search take the same steps, for K equations of each of B texts at a time.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from toolkit.nn.batches import Batch
from toolkit.nn.linear import Linear
from toolkit.nn.network import HOPELESS, Beam, EquationNetwork, NetworkConfig, Text
from toolkit.nn.tokens import Tokens

NONE = -1

State = TypeVar("State", bound=tuple[Tensor, ...])  # a NamedTuple of tensors [B, K, …]


def pick(state: State, beam: Tensor) -> State:
    """The state of equations that continue others: beam [B, K] says which."""
    rows = torch.arange(len(beam), device=beam.device).unsqueeze(1)
    picked: State = type(state)(*(tensor[rows, beam] for tensor in state))
    return picked


class Form(NamedTuple):
    """How far equations [B, K] are written.

    A postfix ends with a token of its own, since a complete one may go on. In a prefix, `waiting` are the
    operands that are missing; in a postfix the values on the stack.
    """

    waiting: Tensor  # [B, K]
    done: Tensor  # [B, K]

    @classmethod
    def begin(cls, texts: int, width: int, is_postfix: bool, device: torch.device) -> "Form":
        waiting = torch.full((texts, width), 0 if is_postfix else 1, device=device)
        return cls(waiting, torch.zeros_like(waiting, dtype=torch.bool))

    def allowed(self, exists: Tensor, operators: int, left: int, is_postfix: bool) -> Tensor:
        """Which tokens [B, K, V + 1] may be next, the end last; `left` tokens fit, `exists` is [B, V]."""
        waiting = self.waiting.unsqueeze(-1)
        if is_postfix:
            operator, operand, end = waiting >= 2, waiting < left, waiting == 1
        else:
            operator, operand, end = waiting + 2 <= left, waiting >= 1, waiting < 0
        leaves = exists.shape[1] - operators
        kinds = [operator.expand(-1, -1, operators), operand.expand(-1, -1, leaves)]
        return torch.cat([torch.cat(kinds, -1) & exists.unsqueeze(1), end], -1)

    def advance(self, token: Tensor, operators: int, tokens: int, is_postfix: bool) -> "Form":
        """With one more token [B, K]; what is done stays as it is."""
        change = torch.where(token < operators, 1, -1)
        change = torch.where(self.done | (token == tokens), 0, -change if is_postfix else change)
        waiting = self.waiting + change
        return Form(waiting, self.done | (token == tokens if is_postfix else waiting == 0))


class SequenceNetwork(EquationNetwork, Generic[State]):
    """A decoder is three functions over a state of its own. It asks for one of V tokens, or for the end."""

    is_postfix: ClassVar[bool] = True

    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        self.key, self.end = Linear(config.hidden, config.hidden), nn.Parameter(torch.zeros(config.hidden))

    @property
    def operators(self) -> int:
        return len(self.tokens.operators)

    @abstractmethod
    def begin(self, text: Text, width: int) -> State:
        """The state before the first token, the same for K = width equations of each text."""

    @abstractmethod
    def query(self, state: State) -> Tensor:
        """What the next token is asked by [B, K, H]."""

    @abstractmethod
    def advance(self, text: Text, state: State, token: Tensor) -> State:
        """The state after a token [B, K], which is none that ends an equation."""

    def forced(self, text: Text, written: Tensor) -> Tensor:
        """The queries [B, K, T, H] of all tokens of equations [B, K, T]; tokens after the end are any."""
        state, found = self.begin(text, written.shape[1]), []
        for position in range(written.shape[2]):
            if position:
                state = self.advance(text, state, written[:, :, position - 1])
            found.append(self.query(state))
        return torch.stack(found, 2)

    def _keys(self, text: Text) -> Tensor:
        """What the tokens answer [B, H, V + 1], the end last: the same at every step of a text."""
        end = self.end.expand(len(text.tokens), 1, -1)
        return torch.cat([self.key(text.tokens), end], 1).transpose(1, 2)

    def log_prob(
        self, batch: Batch, prefixes: Sequence[Sequence[int]], owner: Sequence[int], longest: int
    ) -> Tensor:
        text = self.read(batch)
        written, row, column = self.grid(prefixes, owner, text.allowed)
        return self.log_prob_of(text, written, longest)[row, column]

    def log_prob_of(self, text: Text, written: Tensor, longest: int) -> Tensor:
        """Log-probabilities [B, K] of equations [B, K, T], as they are written."""
        size = text.allowed.shape[1]
        form = Form.begin(len(written), written.shape[1], self.is_postfix, written.device)
        allowed = []
        for position in range(written.shape[2]):
            token = written[:, :, position]
            allowed.append(form.allowed(text.allowed, self.operators, longest - position, self.is_postfix))
            form = form.advance(token, self.operators, size, self.is_postfix)
        token = written.clamp(min=0)
        present = written != NONE
        may = torch.stack(allowed, 2) | ~present.unsqueeze(-1)  # padding must not become NaN
        queries = self.forced(text, token.clamp(max=size - 1))
        logits = (queries.flatten(1, 2) @ self._keys(text)).view_as(may)
        each = logits.masked_fill(~may, -torch.inf).log_softmax(-1)
        chosen = each.gather(-1, token.unsqueeze(-1)).squeeze(-1)
        return torch.where(present, chosen, 0.0).sum(-1)

    def grid(
        self, prefixes: Sequence[Sequence[int]], owner: Sequence[int], exists: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Equations as a grid [B, K, T] of what is written, and the row and column of each."""
        texts = len(exists)
        counts = [0] * texts
        columns = []
        for text in owner:
            columns.append(counts[text])
            counts[text] += 1
        end = [exists.shape[1]] if self.is_postfix else []
        lines = [self.written(prefix) + end for prefix in prefixes]
        grid = torch.full((texts, max(counts), max(map(len, lines))), NONE)
        for line, row, column in zip(lines, owner, columns, strict=True):
            grid[row, column, : len(line)] = torch.tensor(line)
        device = exists.device
        return grid.to(device), torch.tensor(owner, device=device), torch.tensor(columns, device=device)

    def written(self, prefix: Sequence[int]) -> list[int]:
        """A prefix as this network writes it."""
        return postfix_of(prefix, self.operators) if self.is_postfix else list(prefix)

    @torch.no_grad()
    def beams(self, batch: Batch, width: int, longest: int) -> list[list[Beam]]:
        written, total = self.search(self.narrowed(self.read(batch)), width, longest)
        return [self.ranked(*both) for both in zip(written.tolist(), total.tolist(), strict=True)]

    def narrowed(self, text: Text) -> Text:
        """The text as a beam search takes it; by default as it is."""
        return text

    def search(self, text: Text, width: int, longest: int) -> tuple[Tensor, Tensor]:
        """What is written [B, K, T], and its log-probability [B, K]; -∞ if it is not complete."""
        (texts, size), device = text.allowed.shape, text.allowed.device
        state, form = self.begin(text, width), Form.begin(texts, width, self.is_postfix, device)
        written = torch.full((texts, width, longest + 1), NONE, device=device)
        total = torch.full((texts, width), -torch.inf, device=device)
        total[:, 0] = 0.0  # all beams are the same at first
        waits = torch.full((size + 1,), -torch.inf, device=device)
        waits[0] = 0.0  # a complete equation continues in one way, at no cost
        rows, keys = torch.arange(texts, device=device).unsqueeze(1), self._keys(text)
        for position in range(longest + 1):
            allowed = form.allowed(text.allowed, self.operators, longest - position, self.is_postfix)
            scores = (self.query(state) @ keys).masked_fill(~allowed, -torch.inf).log_softmax(-1)
            scores = scores.masked_fill(~allowed, -torch.inf)  # a beam that could not go on is NaN
            scores = torch.where(form.done.unsqueeze(-1), waits, scores)
            total, chosen = (total.unsqueeze(-1) + scores).flatten(1).topk(width, 1)
            beam, token = chosen // (size + 1), chosen % (size + 1)
            state, form, written = pick(state, beam), pick(form, beam), written[rows, beam]
            written[:, :, position] = torch.where(form.done, NONE, token)
            form = form.advance(token, self.operators, size, self.is_postfix)
            best = total.masked_fill(~form.done, -torch.inf).amax(1, keepdim=True)
            if (form.done | (total < best - HOPELESS) | total.isinf()).all():
                break
            state = self.advance(text, state, token.clamp(max=size - 1))
        return written, total.masked_fill(~form.done, -torch.inf)

    def ranked(self, written: list[list[int]], total: list[float]) -> list[Beam]:
        """Both are of one text."""
        order = sorted(range(len(total)), key=lambda i: -total[i])
        return [Beam(self.prefix(written[i]), total[i]) for i in order if total[i] > -math.inf]

    def prefix(self, written: Sequence[int]) -> tuple[int, ...]:
        """The prefix of what is written."""
        tokens = [token for token in written if token != NONE]
        return prefix_of(tokens[:-1], self.operators) if self.is_postfix else tuple(tokens)


def postfix_of(prefix: Sequence[int], operators: int) -> list[int]:
    waiting: list[list[int]] = []
    for token in reversed(prefix):
        waiting.append([*waiting.pop(), *waiting.pop(), token] if token < operators else [token])
    return waiting[0]


def prefix_of(postfix: Sequence[int], operators: int) -> tuple[int, ...]:
    waiting: list[tuple[int, ...]] = []
    for token in postfix:
        if token < operators:
            right, left = waiting.pop(), waiting.pop()
            waiting.append((token, *left, *right))
        else:
            waiting.append((token,))
    return waiting[0]
