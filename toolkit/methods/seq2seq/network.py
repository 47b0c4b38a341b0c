"""The network of the Seq2Seq Baseline (paper, section 5.4): a GRU that writes an equation token by token.

Unlike WARM it executes nothing on the way: only a complete equation has a value, and a reward. Where the
paper is silent:
- the tokens are those of the prefix of the template, over + - * /, V_const and N0, N1, …: a prefix is
  complete as soon as its tree is closed, so it needs no end token;
- an equation has 1 to 7 operators (15 tokens); tokens that could not be completed within that, and numbers
  that the problem does not have, are masked, in exploration and in the loss;
- the encoder is WARM's (section 4.2), and its last state is all that the decoder gets: no attention;
- exploration draws w whole prefixes without replacement (stochastic beam search: Kool et al. 2019).

Shapes: B problems, W beams, T tokens at most, V tokens to choose from, M any number of rows, R readings of π.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from toolkit.data.schema import MAX_NUMBERS
from toolkit.equations import Constant, Expr, Op, Ref, show, to_prefix
from toolkit.equations import tree as signs
from toolkit.methods.random_sampling.paths import OPERATORS, apply
from toolkit.methods.seq2seq.config import Seq2SeqConfig
from toolkit.methods.warm.explore import LARGEST
from toolkit.methods.warm.paths import path_hash
from toolkit.nn.batches import Batch, pi_readings
from toolkit.nn.encoder import Encoder
from toolkit.nn.linear import Linear

LONGEST = 15  # tokens of an equation: seven operators and eight operands
NONE = -1  # after the end of a prefix


@dataclass(frozen=True)
class Drawn:
    """W prefixes for each problem; a token is an operator, or a slot in OpDict + the count of operators."""

    tokens: Tensor  # [B, W, T]
    log_prob: Tensor  # [B, W], -inf if there are fewer than W prefixes

    def best(self, wanted: Tensor) -> Tensor:
        """The most probable of the wanted [B, W] prefixes of each problem [B]."""
        return self.log_prob.masked_fill(~wanted, -torch.inf).argmax(1)


class Seq2SeqNetwork(nn.Module):
    """Encoder and decoder together."""

    def __init__(self, words: int, constants: tuple[Constant, ...], config: Seq2SeqConfig) -> None:
        super().__init__()
        self.constants, self.leaves = constants, len(constants) + MAX_NUMBERS
        self.tokens = len(OPERATORS) + self.leaves
        self.encoder = Encoder(words, config.embedding, config.hidden, config.layers, config.dropout)
        self.embed = nn.Embedding(self.tokens + 1, config.embedding)  # the last one stands for the start
        self.cell = nn.GRUCell(config.embedding, config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.score = Linear(config.hidden, self.tokens)

    def encode(self, batch: Batch) -> Tensor:
        """The encoder's last state [B, H]."""
        last: Tensor = self.encoder.dropout(self.encoder(batch.tokens, batch.is_number, batch.lengths)[1])
        return last

    def step(
        self, hidden: Tensor, previous: Tensor, allowed: Tensor, *, explore: bool
    ) -> tuple[Tensor, Tensor]:
        """The next state [M, H] and the log-probabilities of the next token [M, V]; `explore`: no dropout."""
        hidden = self.cell(self.embed(previous), hidden)
        scores = self.score(hidden if explore else self.dropout(hidden))
        return hidden, scores.masked_fill(~allowed, -torch.inf).log_softmax(-1)

    def allowed(self, to_close: Tensor, position: int, operands: Tensor) -> Tensor:
        """Which tokens [M, V] may stand at this position: the rest must suffice to close the tree.

        to_close [M] operands are missing so far; `operands` [M] is how many each problem has.
        """
        operator = to_close + 1 <= LONGEST - position - 1
        leaf = torch.arange(self.leaves, device=operands.device) < operands.unsqueeze(1)
        if position == 0:
            leaf = torch.zeros_like(leaf)
        return torch.cat([operator.unsqueeze(1).expand(-1, len(OPERATORS)), leaf], 1)


@torch.no_grad()
def draw(
    model: Seq2SeqNetwork, encoded: Tensor, operands: Tensor, *, width: int, generator: torch.Generator | None
) -> Drawn:
    """W prefixes for each problem, drawn without replacement; without a generator, by beam search.

    encoded is [B, H], `operands` [B] is how many operands each problem has. Nothing here has gradients.
    """
    size, tokens = len(encoded), model.tokens
    rows = torch.arange(size, device=encoded.device).unsqueeze(1)
    hidden = encoded.unsqueeze(1)  # [B, W, H], and so on: one beam at first
    written = torch.full((size, 1, LONGEST), NONE, device=encoded.device)
    previous = torch.full((size, 1), tokens, device=encoded.device)
    to_close = torch.ones_like(previous)
    log_prob = torch.zeros_like(previous, dtype=encoded.dtype)
    rank = log_prob  # what the best W are chosen by
    waits = torch.full((tokens,), -torch.inf, device=encoded.device)
    waits[0] = 0.0  # a complete prefix continues in one way, at no cost
    for position in range(LONGEST):
        beams = to_close.shape[1]
        allowed = model.allowed(to_close.flatten(), position, operands.repeat_interleave(beams))
        flat, each = model.step(hidden.flatten(0, 1), previous.flatten(), allowed, explore=True)
        flat, each = flat.unflatten(0, (size, beams)), each.unflatten(0, (size, beams))
        each = torch.where((to_close == 0).unsqueeze(-1), waits, each) + log_prob.unsqueeze(-1)  # [B, W, V]
        ranks = each if generator is None else _perturbed(each, rank, generator)
        rank, at = ranks.flatten(1).topk(min(width, beams * tokens), 1)
        beam, token = at // tokens, at % tokens
        log_prob = each.flatten(1).gather(1, at)
        hidden, written, to_close = flat[rows, beam], written[rows, beam], to_close[rows, beam]
        goes_on = to_close > 0
        to_close = to_close + torch.where(token < len(OPERATORS), 1, -1) * goes_on
        written[..., position] = torch.where(goes_on, token, NONE)
        previous = token
        if not (to_close > 0)[log_prob.isfinite()].any():
            break
    return Drawn(written, log_prob)


def _perturbed(log_prob: Tensor, above: Tensor, generator: torch.Generator) -> Tensor:
    """log_prob [B, W, V] plus Gumbel noise under the condition that the largest of V is `above` [B, W].

    This is the top-down sampling of Kool et al. (2019, section 3 and appendix B.3), by which the W best of
    all steps together are W whole sequences drawn without replacement.
    """
    noisy = log_prob - torch.empty_like(log_prob).exponential_(generator=generator).log()
    below = noisy - noisy.amax(-1, keepdim=True)  # at most 0
    near = (-torch.expm1(below)).log()
    shift = above.unsqueeze(-1) - noisy + torch.where(below > -0.7, near, torch.log1p(-below.exp()))
    moved = above.unsqueeze(-1) - shift.clamp(min=0) - torch.log1p(torch.exp(-shift.abs()))
    return torch.where(log_prob.isfinite(), moved, -torch.inf)


def sequence_log_prob(model: Seq2SeqNetwork, encoded: Tensor, operands: Tensor, written: Tensor) -> Tensor:
    """Log-probabilities [B] of one prefix [B, T] for each problem, with gradients."""
    total = encoded.new_zeros(len(encoded))
    hidden, to_close = encoded, torch.ones_like(operands)
    previous = torch.full_like(operands, model.tokens)
    for position in range(int((written >= 0).sum(1).max())):
        token, present = written[:, position].clamp(min=0), written[:, position] >= 0
        allowed = model.allowed(to_close, position, operands)
        hidden, each = model.step(hidden, previous, allowed | ~present.unsqueeze(1), explore=False)
        total = total + each.gather(1, token.unsqueeze(1)).squeeze(1) * present
        to_close = to_close + torch.where(token < len(OPERATORS), 1, -1) * present
        previous = token
    return total


def rewarded(drawn: Drawn, batch: Batch, constants: Sequence[Constant]) -> Tensor:
    """Which prefixes [B, W] reach the answer.

    All are evaluated at once, each on a stack of its own. What is near the answer is checked in fractions.
    """
    row, beam = drawn.log_prob.isfinite().nonzero(as_tuple=True)
    written = drawn.tokens[row, beam]  # [M, T]
    every = torch.arange(len(row), device=row.device)
    values = pi_readings(batch.values, constants)  # [B, C + n, R]
    stack = values.new_zeros(len(row), LONGEST + 1, values.shape[-1])
    height = torch.zeros_like(row)
    sound = torch.ones_like(row, dtype=torch.bool).unsqueeze(1)
    for token in written.flip(1).unbind(1):
        is_operator = (token >= 0) & (token < len(OPERATORS))
        slot = (token - len(OPERATORS)).clamp(min=0)
        left, right = (stack[every, (height - down).clamp(min=0)] for down in (1, 2))
        result = apply(OPERATORS, token.clamp(0, len(OPERATORS) - 1).unsqueeze(1), left, right)
        sound = sound & (~is_operator.unsqueeze(1) | (result.abs() <= LARGEST))
        top = torch.where(is_operator, height - 2, height)
        stack[every, top] = torch.where(is_operator.unsqueeze(1), result, values[row, slot])
        height = torch.where(token >= 0, top + 1, height)
    gap = (stack[:, 0] - batch.answers[row].unsqueeze(1)).abs()
    near = (sound & (gap <= batch.tolerances[row].unsqueeze(1))).any(1)
    row, beam, prefixes = row[near], beam[near], written[near].cpu()
    reached = torch.zeros_like(drawn.log_prob, dtype=torch.bool)
    reached[row, beam] = batch.check(
        batch.rows[row],
        path_hash(prefixes.unsqueeze(-1)),
        lambda i: to_template(prefixes[i].tolist(), constants),
    )
    return reached


def to_template(written: Sequence[int], constants: Sequence[Constant]) -> Expr:
    """The template of one prefix."""
    stack: list[Expr] = []
    for token in reversed(written):
        slot = token - len(OPERATORS)
        if token == NONE:
            continue
        if slot < 0:
            sign = next(known for known in signs.OPERATORS if known == OPERATORS[token])
            stack.append(Op(sign, stack.pop(), stack.pop()))
        else:
            stack.append(constants[slot] if slot < len(constants) else Ref(slot - len(constants)))
    return stack[-1]


def to_tokens(template: Expr, constants: Sequence[Constant]) -> list[int] | None:
    """The prefix of a template [T], padded; None if it is too long, or has other operators or constants."""
    known = [*OPERATORS, *(show(constant) for constant in constants)]
    tokens = []
    for token in to_prefix(template):
        if token in known:
            tokens.append(known.index(token))
        elif token.startswith("N"):
            tokens.append(len(known) + int(token[1:]))
        else:
            return None
    if not 1 < len(tokens) <= LONGEST:
        return None
    return tokens + [NONE] * (LONGEST - len(tokens))
