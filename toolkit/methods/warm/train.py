"""Training of WARM and WARM-S (paper, sections 4.4 to 4.6): one function, from problems to a model.

For each batch: encode once; explore without gradients; put what was found into the memory; score the
remembered paths once with gradients. The loss of a problem is

    D_w, reached      -log Σ p(path)   over its remembered paths (REINFORCE with reward +1; with several
                                       paths each counts as much as the policy believes in it)
    D_w, not reached  +penalty · log p(the path that failed)   (reward -1; the default penalty is 0)
    D_s               -log p(gold path)   (cross-entropy, Loss 2)

In the first half of the epochs a temperature makes the remembered paths count more alike: each in proportion
to p(path)^(1 / temperature), which falls from `train.temperature` to 1 (deterministic annealing: Ueda and
Nakano 1998). Without it the policy believes too soon in what gives the answer by luck, as N0 + N1 + N2 does
for N0 + N1 · N2 if the numbers are 1, 2 and 2. The paper has none.

A rewarded path is rewarded in all its steps. The paper's text gives -1 to each step before the last; that
would cancel the reward of the first step of every two-step equation.

All randomness of an epoch comes from (seed, epoch), so a run that was stopped and resumed ends with the
same weights, bit for bit, as one that was not.

A rank holds the problems that it owns, and what was found for them (`toolkit.methods.warm.shards`). One
process is the case of one shard.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from toolkit.data import Vocabulary, vocabulary_of
from toolkit.data.vocabulary import described_vocabulary
from toolkit.methods.base import HISTORY, Epoch, FitInput, FitOptions, Origin, no_problems
from toolkit.methods.prepared import PreparedInput
from toolkit.methods.warm.config import TrainConfig, WarmConfig
from toolkit.methods.warm.explore import FoundPaths, explore, in_codes, path_log_prob
from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.method import Warm
from toolkit.methods.warm.paths import Layout
from toolkit.methods.warm.policy import Encoded, Policy
from toolkit.methods.warm.remembered import (
    group_size,
    has_memory,
    load_memory,
    remove_other_memories,
    save_memory,
)
from toolkit.methods.warm.sharded import prepared_shard
from toolkit.methods.warm.shards import Shard, shard_of
from toolkit.nn.batches import Batch, like_lengths
from toolkit.nn.checkpoint import load_training, save_training
from toolkit.nn.memory import keep_freed_memory
from toolkit.nn.seeds import seeded
from toolkit.nn.workers import ALONE, WorkerGroup

Method = TypeVar("Method", bound=Warm)


def train(
    method: type[Method], data: FitInput | PreparedInput, folder: Path | None, options: FitOptions
) -> Method:
    """Train on problems with answers; the arguments are those of `StepOne.fit`."""
    if not data.size:
        raise no_problems()
    config, workers = method.settings(data.config), options.workers or ALONE
    data, device = replace(data, config=config), options.device or torch.device("cpu")
    state = options.state or folder if options.resume else None
    if state is not None:
        method.check_same(state, data)
    before = state or options.start
    vocabulary = _vocabulary(method, data, config.train.min_count, before)
    with seeded(data.seed, 0):
        policy = method.new_network(len(vocabulary), data.constants, config).to(device)
    warm = method(policy, vocabulary, config, Origin.of(data))
    optimizer = torch.optim.Adam(
        policy.parameters(), lr=config.train.lr, weight_decay=config.train.weight_decay
    )
    layout, longest = policy.layout, config.model.max_steps
    owned, kept = len(workers.owned(data.size)), max(config.train.memory, 1)
    memory = Memory(owned, kept, longest, device, layout.codes(longest))
    remembers = before is not None and has_memory(before)
    searches = state is None and not remembers and config.train.search > 0
    shard = _shard(data, vocabulary, layout, config, workers, memory if searches else None)
    counts = shard.tensors.counts
    keep_freed_memory()  # not before: what reading leaves would be kept as well
    if state is not None:
        extra, warm.history = load_training(state, policy, optimizer, HISTORY)
        load_memory(state, len(warm.history), extra, memory, workers, layout, counts)
        if folder is not None and workers.is_rank_zero:
            warm.save(folder)  # a kill may have come between the state and the model of its last epoch
    elif options.start is not None:
        extra, history = load_training(options.start, policy, None, HISTORY)
        if remembers:
            load_memory(options.start, len(history), extra, memory, workers, layout, counts)
    run = _Training(shard, data.seed, config, policy, optimizer, memory, device, workers, options.on_batch)
    for epoch in range(len(warm.history) + 1, config.train.epochs + 1):
        warm.history.append(run.epoch(epoch))
        if folder is not None:
            _save(folder, warm, optimizer, memory, workers)
        options.on_epoch(warm.history[-1])
        if _has_settled(warm.history, config.train.patience):
            break
    return warm


def _vocabulary(
    method: type[Warm], data: FitInput | PreparedInput, min_count: int, before: Path | None
) -> Vocabulary:
    """That of the model in the folder `before`, if there is one."""
    if before is not None:
        described = method.described(before)[0]
        return described_vocabulary(before / "model.json", "model", described["vocabulary"])
    if isinstance(data, PreparedInput):
        return data.problems.vocabulary(min_count)
    return vocabulary_of(data.problems, min_count)


def _shard(
    data: FitInput | PreparedInput,
    vocabulary: Vocabulary,
    layout: Layout,
    config: WarmConfig,
    workers: WorkerGroup,
    memory: Memory | None,
) -> Shard:
    if isinstance(data, PreparedInput):
        return prepared_shard(data, vocabulary, layout, config, workers, memory)
    return shard_of(data, vocabulary, layout, config, workers, memory)


def _save(
    folder: Path, warm: Warm, optimizer: torch.optim.Optimizer, memory: Memory, workers: WorkerGroup
) -> None:
    """The state after an epoch. A kill leaves the one before or the one after it, never one between."""
    epoch = len(warm.history)
    save_memory(folder, epoch, memory, workers)
    if workers.is_rank_zero:
        history = [asdict(figures) for figures in warm.history]
        save_training(folder, warm.policy, optimizer, group_size(workers), history)
        warm.save(folder)
    remove_other_memories(folder, epoch)


def _has_settled(history: Sequence[Epoch], patience: int) -> bool:
    """Whether the loss has not improved for `patience` epochs."""
    losses = [figures.loss for figures in history if figures.loss is not None]
    return bool(patience) and len(losses) > patience and min(losses[-patience:]) >= min(losses[:-patience])


@dataclass(frozen=True)
class _Training:
    """What stays the same over the epochs."""

    shard: Shard
    seed: int
    config: WarmConfig
    policy: Policy
    optimizer: torch.optim.Optimizer
    memory: Memory
    device: torch.device
    workers: WorkerGroup
    on_batch: Callable[[int], object]

    def epoch(self, epoch: int) -> Epoch:
        start = time.perf_counter()
        settings, policy, workers = self.config.train, self.policy, self.workers
        for group in self.optimizer.param_groups:
            group["lr"] = settings.lr * settings.lr_decay ** ((epoch - 1) // settings.lr_decay_every)
        total, reached = 0.0, 0.0
        temperature = _temperature(settings, epoch)
        policy.train()
        with seeded(self.seed, epoch) as generator:
            drawing = _exploration_generator(workers, generator, self.seed, epoch)
            for rows in like_lengths(self.shard.lengths, settings.batch, generator):
                size, own = len(rows), workers.own_rows(rows)
                self.optimizer.zero_grad(set_to_none=True)
                if len(own):
                    batch = self.shard.tensors.batch(own).to(self.device)
                    gold = self.shard.gold_of(own, self.config.model.max_steps).to(self.device)
                    losses, found = batch_losses(
                        policy, batch, gold, self.config, self.memory, drawing, temperature
                    )
                    if losses.requires_grad:  # not if nothing was found and failures have no penalty
                        (losses.sum() / size).backward()
                    total += float(losses.detach().sum())
                    reached += int(found.sum())
                if workers.sum_gradients(policy.parameters()):
                    torch.nn.utils.clip_grad_norm_(policy.parameters(), settings.clip)
                    self.optimizer.step()
                self.on_batch(size)
        total, reached = workers.sum(total, reached)
        seconds, count = time.perf_counter() - start, len(self.shard.lengths)
        return Epoch(epoch, total / count, reached / count, seconds, count / seconds)


def _temperature(settings: TrainConfig, epoch: int) -> float:
    """That of an epoch: by equal ratios down to 1, where it is in the second half."""
    done = (epoch - 1) / (settings.epochs - 1) if settings.epochs > 1 else 1.0
    return float(settings.temperature ** max(0.0, 1 - 2 * done))


def has_gold(gold: Tensor) -> Tensor:
    """[B] whether there is a gold path, of gold paths [B, T, 3]."""
    return gold[:, 0, 0] >= 0


def _exploration_generator(
    workers: WorkerGroup, shared: torch.Generator, seed: int, epoch: int
) -> torch.Generator:
    """All ranks shuffle alike, but each explores and drops out in its own way; rank zero as if alone."""
    own = workers.draw_differently(seed, epoch)
    return shared if own is None else torch.Generator().manual_seed(own + 1)


def batch_losses(
    model: Policy,
    batch: Batch,
    gold: Tensor,
    config: WarmConfig,
    memory: Memory,
    generator: torch.Generator,
    temperature: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """The loss of each problem [B], and which have a path to the answer [B]; gold is [B, T, 3] in codes.

    Epochs can be compared by the loss: its value is that of temperature 1, its gradient that of the argument.
    """
    encoded = model.encode(batch)
    is_gold = has_gold(gold)
    weak = (~is_gold).nonzero().squeeze(1)
    paths = gold.unsqueeze(1)
    failures = torch.full_like(gold, -1)
    if len(weak):
        in_weak = batch.take(weak)
        found, failures[weak] = _explore(model, encoded.detach().rows(weak), in_weak, config, generator)
        if not config.train.memory:
            memory.forget(in_weak.rows)  # only what this epoch finds counts
        memory.add(in_weak.rows, found)
        paths = memory.recall(batch.rows)
        paths[is_gold] = -1
        paths[is_gold, 0] = gold[is_gold]
    present = paths[..., 0, 0] >= 0
    reached = present.any(1)
    failed = ~reached & bool(config.train.penalty) & (failures[:, 0, 0] >= 0)
    paths[failed, 0] = failures[failed]
    scored = present.clone()
    scored[failed, 0] = True
    problem, column = scored.nonzero(as_tuple=True)
    slots = model.layout.to_slots(paths[problem, column], batch.n)
    log_prob = torch.full_like(scored, -torch.inf, dtype=torch.float)
    log_prob = log_prob.index_put((problem, column), path_log_prob(model, encoded, problem, slots))
    scores = log_prob.new_full((len(batch.rows), memory.size), -torch.inf)
    scores[:, : paths.shape[1]] = log_prob.detach().masked_fill(~present, -torch.inf)
    memory.rescore(batch.rows[weak], scores[weak])
    some = reached | failed
    log_prob = torch.where(some.unsqueeze(1), log_prob, 0.0)  # 0, not -inf: no NaN
    losses = -temperature * torch.logsumexp(log_prob / temperature, 1)
    losses = losses - (losses + torch.logsumexp(log_prob, 1)).detach()
    return losses * torch.where(failed, -config.train.penalty, some.float()), reached


def _explore(
    model: Policy, encoded: Encoded, batch: Batch, config: WarmConfig, generator: torch.Generator
) -> tuple[FoundPaths, Tensor]:
    """Found paths and failed ones, in codes. The decoder explores without dropout."""
    settings = config.explore
    with model.decoder.dropout.off():
        explored = explore(
            model,
            encoded,
            batch,
            width=settings.beam_width if settings.beam_exploration else 1,
            lookahead=settings.lookahead and settings.beam_exploration,
            extra_steps=settings.extra_steps,
            generator=generator,
        )
    return in_codes(model, explored.found, batch.n), model.layout.to_codes(explored.failed, batch.n)
