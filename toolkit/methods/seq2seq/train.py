"""Training of the seq2seq baseline: REINFORCE with beam exploration.

If several prefixes are rewarded, the shortest is learnt (section 4.5: "the beam that gives a positive reward
at the earliest decoding step"); of equally short ones, the most probable. If none is rewarded, the most
probable one gets the reward -1, with the weight `penalty`. It must be small: at first 3 % of AllArith are
rewarded, and with a weight of 0.1 the failures of all others make every prefix as long as possible, and
training never recovers; with 0.05 or less it learns. A problem of D_s is learnt by cross-entropy, as in
WARM-S.
"""

from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from toolkit.methods.base import FitInput, FitOptions
from toolkit.methods.epochs import Lessons, begin, run_epochs
from toolkit.methods.seq2seq import Seq2Seq
from toolkit.methods.seq2seq.config import Seq2SeqConfig
from toolkit.methods.seq2seq.network import (
    LONGEST,
    NONE,
    Seq2SeqNetwork,
    draw,
    rewarded,
    sequence_log_prob,
    to_tokens,
)
from toolkit.nn.batches import Batch

Method = TypeVar("Method", bound=Seq2Seq)


def train(method: type[Method], data: FitInput, folder: Path | None, options: FitOptions) -> Method:
    """The arguments are those of `StepOne.fit`."""
    assert isinstance(data.config, Seq2SeqConfig)
    trained = begin(method, data, data.config, options)
    return run_epochs(trained, Rewards(trained, data), data, data.config, folder, options)


class Rewards(Lessons):
    """What is drawn and rewarded, and the gold equations of D_s."""

    def __init__(self, trained: Seq2Seq, data: FitInput) -> None:
        self.network, self.config = trained.network, trained.config
        self.gold = gold_tokens(data).to(next(trained.network.parameters()).device)
        self.found = 0  # in this epoch

    def losses(self, batch: Batch, generator: torch.Generator) -> Tensor:
        losses, found = batch_losses(self.network, batch, self.gold[batch.rows], self.config, generator)
        self.found += int(found.sum())
        return losses

    def reached(self) -> int:
        found, self.found = self.found, 0
        return found


def gold_tokens(data: FitInput) -> Tensor:
    """The prefixes [N, T] of D_s; padding alone for a problem that is not in it."""
    tokens = torch.full((len(data.problems), LONGEST), NONE)
    for row, problem_id in enumerate(data.problems.ids):
        template = data.known.get(problem_id)
        prefix = None if template is None else to_tokens(template, data.problems.constants)
        if prefix is not None:
            tokens[row] = torch.tensor(prefix)
    return tokens


def batch_losses(
    model: Seq2SeqNetwork, batch: Batch, gold: Tensor, config: Seq2SeqConfig, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The loss -R · log p of each problem [B], and for which problems R is +1 [B]; gold is [B, T]."""
    encoded, operands = model.encode(batch), len(model.constants) + batch.counts
    drawn = draw(model, encoded.detach(), operands, width=config.beams, generator=generator)
    reached = rewarded(drawn, batch, model.constants)
    lengths = (drawn.tokens >= 0).sum(-1)
    shortest = lengths.masked_fill(~reached, LONGEST + 1).amin(1, keepdim=True)
    found = reached.any(1)
    chosen = drawn.best(torch.where(found.unsqueeze(1), reached & (lengths == shortest), True))
    written = drawn.tokens[torch.arange(len(chosen), device=chosen.device), chosen]
    is_gold = gold[:, 0] >= 0
    written, found = torch.where(is_gold.unsqueeze(1), gold, written), found | is_gold
    log_prob = sequence_log_prob(model, encoded, operands, written)
    return -log_prob * torch.where(found, 1.0, -config.penalty), found
