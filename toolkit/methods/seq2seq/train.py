"""Training of the seq2seq baseline: REINFORCE with beam exploration.

If several prefixes are rewarded, the shortest is learnt (section 4.5: "the beam that gives a positive reward
at the earliest decoding step"); of equally short ones, the most probable. If none is rewarded, the most
probable one gets the reward -1, with the weight `penalty`. It must be small: at first 3 % of AllArith are
rewarded, and with a weight of 0.1 the failures of all others make every prefix as long as possible, and
training never recovers; with 0.05 or less it learns. A problem of D_s is learnt by cross-entropy, as in
WARM-S.
"""

import time
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn

from toolkit.data import vocabulary_of
from toolkit.methods.base import HISTORY, Epoch, FitInput, FitOptions, Origin, no_problems
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
from toolkit.nn.batches import Batch, to_tensors
from toolkit.nn.checkpoint import load_training, save_training
from toolkit.nn.seeds import seeded

Method = TypeVar("Method", bound=Seq2Seq)


def train(method: type[Method], data: FitInput, folder: Path | None, options: FitOptions) -> Method:
    """The arguments are those of `StepOne.fit`."""
    if not len(data.problems):
        raise no_problems()
    config, device = data.config, options.device or torch.device("cpu")
    assert isinstance(config, Seq2SeqConfig)
    vocabulary = vocabulary_of(data.problems, config.min_count)
    with seeded(data.seed, 0):
        network = method.new_network(len(vocabulary), data.problems.constants, config).to(device)
    trained = method(network, vocabulary, config, Origin.of(data))
    optimizer = torch.optim.Adam(network.parameters(), lr=config.lr, weight_decay=config.weight_decay)
    if options.resume and folder is not None:
        method.check_same(folder, data)
        _, trained.history = load_training(folder, network, optimizer, HISTORY)
    tensors, gold = to_tensors(data.problems, vocabulary), gold_tokens(data).to(device)
    for epoch in range(len(trained.history) + 1, config.epochs + 1):
        start, total, reached = time.perf_counter(), 0.0, 0
        for group in optimizer.param_groups:
            group["lr"] = config.lr * config.lr_decay ** ((epoch - 1) // config.lr_decay_every)
        network.train()
        with seeded(data.seed, epoch) as generator:
            for batch in tensors.shuffled(config.batch, generator):
                losses, found = batch_losses(network, batch.to(device), gold[batch.rows], config, generator)
                optimizer.zero_grad(set_to_none=True)
                losses.mean().backward()
                nn.utils.clip_grad_norm_(network.parameters(), config.clip)
                optimizer.step()
                total, reached = total + float(losses.detach().sum()), reached + int(found.sum())
                options.on_batch(len(batch.rows))
        seconds, count = time.perf_counter() - start, len(data.problems)
        trained.history.append(Epoch(epoch, total / count, reached / count, seconds, count / seconds))
        if folder is not None:
            save_training(folder, network, optimizer, {}, [asdict(before) for before in trained.history])
            trained.save(folder)
        options.on_epoch(trained.history[-1])
    return trained


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
