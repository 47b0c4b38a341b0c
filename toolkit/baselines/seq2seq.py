"""The Seq2Seq Baseline (paper, section 5.4): a GRU encoder and decoder, REINFORCE, beam exploration.

The decoder writes the equation token by token. What sets it apart from WARM is that nothing is executed on
the way: only a complete equation has a value, and a reward. From the shell:

    python -c "from toolkit.baselines import train_seq2seq; from toolkit.data import read_problems; \
    print(train_seq2seq(read_problems('bundled:en').problems, on_epoch=print))"

Where the paper is silent:
- the tokens are those of the prefix of the template, over + - * /, V_const and N0, N1, …: a prefix is
  complete as soon as its tree is closed, so no token is needed that ends it;
- an equation has 1 to 7 operators (15 tokens); tokens that could not be completed within that, and numbers
  that the problem has not, are masked, in exploration and in the loss;
- the encoder is WARM's (section 4.2), and its last state is all that the decoder gets: no attention;
- exploration draws w whole prefixes without replacement (stochastic beam search: Kool et al. 2019);
- of several rewarded prefixes the shortest is learnt from (section 4.5: "the beam that gives a positive
  reward at the earliest decoding step"), of equally short ones the most probable; where none is rewarded
  the most probable has the reward -1, with the weight `penalty`. It must be small: at first 3 % of
  AllArith are rewarded, and with a weight of 0.1 the failures of all others make every prefix as long as
  may be, from which nothing recovers; with 0.05 and less it learns.

Shapes: B problems, W beams, T tokens at most, V tokens to choose from, M any number of rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl
import torch
from torch import Tensor, nn

from toolkit.baselines.random_sampling import OPERATORS, apply
from toolkit.data import numbers_of, vocabulary_of
from toolkit.equations import DEFAULT_CONSTANTS, Constant, Expr, Op, Ref, reaches
from toolkit.equations import tree as signs
from toolkit.warm.config import ModelConfig
from toolkit.warm.explore import LARGEST
from toolkit.warm.model import Encoder
from toolkit.warm.paths import Layout
from toolkit.warm.tensors import Batch, ProblemTensors, to_tensors

LONGEST = 15  # tokens of an equation: seven operators and eight operands
NONE = -1  # after the end of a prefix


@dataclass(frozen=True)
class Drawn:
    """W prefixes for each problem; a token is an operator, or a place in OpDict + the count of operators."""

    tokens: Tensor  # [B, W, T]
    log_prob: Tensor  # [B, W], -inf where there are fewer than W prefixes

    def best(self, wanted: Tensor) -> Tensor:
        """The most probable of the wanted [B, W] prefixes of each problem [B]."""
        return self.log_prob.masked_fill(~wanted, -torch.inf).argmax(1)


class Seq2Seq(nn.Module):
    """Encoder and decoder together."""

    def __init__(self, words: int, leaves: int, config: ModelConfig) -> None:
        super().__init__()
        self.leaves, self.tokens = leaves, len(OPERATORS) + leaves
        self.encoder = Encoder(words, config)
        self.embed = nn.Embedding(self.tokens + 1, config.embedding)  # the last one stands before the first
        self.cell = nn.GRUCell(config.embedding, config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.score = nn.Linear(config.hidden, self.tokens)

    def encode(self, batch: Batch) -> Tensor:
        """The encoder's last state [B, H]."""
        _, last = self.encoder(batch.tokens, batch.is_number, batch.lengths)
        assert isinstance(last, Tensor)
        return last

    def step(
        self, hidden: Tensor, previous: Tensor, allowed: Tensor, *, explore: bool
    ) -> tuple[Tensor, Tensor]:
        """The next state [M, H] and the log-probabilities of the next token [M, V]; no dropout to explore."""
        hidden = self.cell(self.embed(previous), hidden)
        scores = self.score(hidden if explore else self.dropout(hidden))
        return hidden, scores.masked_fill(~allowed, -torch.inf).log_softmax(-1)

    def allowed(self, to_close: Tensor, place: int, operands: Tensor) -> Tensor:
        """Which tokens [M, V] may stand at this place: what is left must suffice to close the tree.

        to_close [M] operands are missing so far; `operands` [M] is how many each problem has.
        """
        operator = to_close + 1 <= LONGEST - place - 1
        leaf = torch.arange(self.leaves, device=operands.device) < operands.unsqueeze(1)
        if place == 0:
            leaf = torch.zeros_like(leaf)
        return torch.cat([operator.unsqueeze(1).expand(-1, len(OPERATORS)), leaf], 1)


@torch.no_grad()
def draw(
    model: Seq2Seq, encoded: Tensor, operands: Tensor, *, width: int, generator: torch.Generator | None
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
    waits[0] = 0.0  # what is complete goes on in one way, at no cost
    for place in range(LONGEST):
        beams = to_close.shape[1]
        allowed = model.allowed(to_close.flatten(), place, operands.repeat_interleave(beams))
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
        written[..., place] = torch.where(goes_on, token, NONE)
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


def sequence_log_prob(model: Seq2Seq, encoded: Tensor, operands: Tensor, written: Tensor) -> Tensor:
    """Log-probabilities [B] of one prefix [B, T] for each problem, with gradients."""
    total = encoded.new_zeros(len(encoded))
    hidden, to_close = encoded, torch.ones_like(operands)
    previous = torch.full_like(operands, model.tokens)
    for place in range(int((written >= 0).sum(1).max())):
        token, there = written[:, place].clamp(min=0), written[:, place] >= 0
        allowed = model.allowed(to_close, place, operands)
        hidden, each = model.step(hidden, previous, allowed | ~there.unsqueeze(1), explore=False)
        total = total + each.gather(1, token.unsqueeze(1)).squeeze(1) * there
        to_close = to_close + torch.where(token < len(OPERATORS), 1, -1) * there
        previous = token
    return total


def rewarded(drawn: Drawn, batch: Batch) -> Tensor:
    """Which prefixes [B, W] reach the answer: all are evaluated at once, each on a stack of its own."""
    row, beam = drawn.log_prob.isfinite().nonzero(as_tuple=True)
    written = drawn.tokens[row, beam]  # [M, T]
    every = torch.arange(len(row), device=row.device)
    stack = batch.values.new_zeros(len(row), LONGEST + 1)
    height = torch.zeros_like(row)
    sound = torch.ones_like(row, dtype=torch.bool)
    for token in written.flip(1).unbind(1):
        is_operator = (token >= 0) & (token < len(OPERATORS))
        place = (token - len(OPERATORS)).clamp(min=0)
        left, right = (stack[every, (height - down).clamp(min=0)] for down in (1, 2))
        result = apply(OPERATORS, token.clamp(0, len(OPERATORS) - 1), left, right)
        sound &= ~is_operator | (result.abs() <= LARGEST)
        top = torch.where(is_operator, height - 2, height)
        stack[every, top] = torch.where(is_operator, result, batch.values[row, place])
        height = torch.where(token >= 0, top + 1, height)
    reached = torch.zeros_like(drawn.log_prob, dtype=torch.bool)
    reached[row, beam] = sound & ((stack[:, 0] - batch.answers[row]).abs() <= batch.limits[row])
    return reached


def to_template(written: Sequence[int], constants: Sequence[Constant]) -> Expr:
    """The template of one prefix."""
    stack: list[Expr] = []
    for token in reversed(written):
        place = token - len(OPERATORS)
        if token == NONE:
            continue
        if place < 0:
            sign = next(known for known in signs.OPERATORS if known == OPERATORS[token])
            stack.append(Op(sign, stack.pop(), stack.pop()))
        else:
            stack.append(constants[place] if place < len(constants) else Ref(place - len(constants)))
    return stack[-1]


def train_seq2seq(
    problems: pl.DataFrame,
    *,
    epochs: int = 40,
    beam_width: int = 5,
    hidden: int = 128,
    batch: int = 128,
    seed: int = 0,
    penalty: float = 0.01,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
    on_epoch: Callable[[int, float, float], object] = lambda epoch, loss, reached: None,
) -> list[Expr | None]:
    """Train on problems and their answers; then for each problem a template that reaches its answer.

    The template is the most probable of those that beam search finds (without looking at the answer) and
    that reach it; None where none does. `on_epoch` gets the epoch (from 1), the loss of a problem, and the
    share of problems for which a prefix drawn in this epoch was rewarded. Optimiser as in section 5.3:
    Adam, 10⁻³, times 0.7 every 75 epochs; warmkit's hidden units and dropout.
    """
    if problems.is_empty():
        return []
    vocabulary = vocabulary_of(problems, min_count=2)
    data = to_tensors(problems, vocabulary, Layout(tuple(constants), OPERATORS), longest=1)
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():  # first weights and dropout take torch's own random numbers
        torch.manual_seed(seed)
        model = Seq2Seq(len(vocabulary), data.all.values.shape[1], ModelConfig(hidden=hidden))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=75, gamma=0.7)
        for epoch in range(1, epochs + 1):
            total, reached = 0.0, 0
            for some in data.shuffled(batch, generator):
                losses, found = batch_losses(model, some, len(constants), beam_width, penalty, generator)
                optimizer.zero_grad(set_to_none=True)
                losses.mean().backward()
                nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                total, reached = total + float(losses.detach().sum()), reached + int(found.sum())
            schedule.step()
            on_epoch(epoch, total / len(data), reached / len(data))
    return _templates(model, data, problems, constants, beam_width)


def batch_losses(
    model: Seq2Seq, batch: Batch, constants: int, width: int, penalty: float, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The loss -R · log p of each problem [B], and for which problems R is +1 [B]."""
    encoded, operands = model.encode(batch), constants + batch.counts
    drawn = draw(model, encoded.detach(), operands, width=width, generator=generator)
    reached = rewarded(drawn, batch)
    lengths = (drawn.tokens >= 0).sum(-1)
    shortest = lengths.masked_fill(~reached, LONGEST + 1).amin(1, keepdim=True)
    found = reached.any(1)
    chosen = drawn.best(torch.where(found.unsqueeze(1), reached & (lengths == shortest), True))
    written = drawn.tokens[torch.arange(len(chosen), device=chosen.device), chosen]
    log_prob = sequence_log_prob(model, encoded, operands, written)
    return -log_prob * torch.where(found, 1.0, -penalty), found


@torch.no_grad()
def _templates(
    model: Seq2Seq, data: ProblemTensors, problems: pl.DataFrame, constants: Sequence[Constant], width: int
) -> list[Expr | None]:
    model.eval()
    templates: list[Expr | None] = [None] * len(data)
    numbers, answers = numbers_of(problems), problems["answer"].to_list()
    for batch in data.in_order_of_size(256):
        drawn = draw(model, model.encode(batch), len(constants) + batch.counts, width=width, generator=None)
        reached = rewarded(drawn, batch)
        best = drawn.best(reached)
        for i in reached.any(1).nonzero().squeeze(1).tolist():
            row, template = int(batch.rows[i]), to_template(drawn.tokens[i, best[i]].tolist(), constants)
            if reaches(template, numbers[row], answers[row]):  # in fractions, where floats only nearly do
                templates[row] = template
    return templates
