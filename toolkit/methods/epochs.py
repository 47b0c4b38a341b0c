"""The training loop of a method with one network: steps, a rate that falls, a state after every epoch.

All randomness of an epoch comes from (seed, epoch), so a run that was stopped and resumed ends with the same
weights, bit for bit, as one that was not.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn

from toolkit.data import vocabulary_of
from toolkit.methods.base import HISTORY, Epoch, FitInput, FitOptions, Origin, no_problems
from toolkit.methods.neural import Neural
from toolkit.nn.batches import Batch, to_tensors
from toolkit.nn.checkpoint import load_training, save_training
from toolkit.nn.memory import keep_freed_memory
from toolkit.nn.seeds import seeded

Method = TypeVar("Method", bound=Neural[Any])


class EpochsConfig(Protocol):
    """The settings of a training, whichever configuration has them."""

    @property
    def epochs(self) -> int: ...
    @property
    def batch(self) -> int: ...
    @property
    def lr(self) -> float: ...
    @property
    def lr_decay(self) -> float: ...
    @property
    def lr_decay_every(self) -> int: ...
    @property
    def weight_decay(self) -> float: ...
    @property
    def clip(self) -> float: ...
    @property
    def min_count(self) -> int: ...
    @property
    def joined(self) -> int: ...


class Lessons(ABC):
    """What a network learns from, and what is remembered from epoch to epoch."""

    @abstractmethod
    def losses(self, batch: Batch, generator: torch.Generator) -> Tensor:
        """What is to be made small, a loss for each equation that the problems of a batch learn."""

    @abstractmethod
    def reached(self) -> int:
        """How many problems have an equation; called once, after an epoch."""

    def state(self) -> Mapping[str, Tensor]:
        """What a checkpoint holds besides the network."""
        return {}

    def restore(self, state: Mapping[str, Tensor], folder: Path) -> None:  # noqa: B027
        """Go on from the state of a checkpoint."""


def begin(method: type[Method], data: FitInput, config: EpochsConfig, options: FitOptions) -> Method:
    """The method with first weights."""
    if not len(data.problems):
        raise no_problems()
    vocabulary = vocabulary_of(data.problems, config.min_count, config.joined)
    with seeded(data.seed, 0):
        network = method.new_network(len(vocabulary), data.problems.constants, data.config)
    return method(network.to(options.device or torch.device("cpu")), vocabulary, data.config, Origin.of(data))


def run_epochs(
    trained: Method,
    lessons: Lessons,
    data: FitInput,
    config: EpochsConfig,
    folder: Path | None,
    options: FitOptions,
) -> Method:
    """Train the network of `trained`. With a folder its state is saved there after every epoch."""
    keep_freed_memory()
    network: nn.Module = trained.network
    device = next(network.parameters()).device
    optimizer = torch.optim.Adam(network.parameters(), lr=config.lr, weight_decay=config.weight_decay)
    if options.resume and folder is not None:
        trained.check_same(folder, data)
        state, trained.history = load_training(folder, network, optimizer, HISTORY)
        lessons.restore(state, folder)
        trained.save(folder)  # a kill may have come between the state and the model of its last epoch
    tensors, count = to_tensors(data.problems, trained.vocabulary), len(data.problems)
    for epoch in range(len(trained.history) + 1, config.epochs + 1):
        start, total, learnt = time.perf_counter(), 0.0, 0
        for group in optimizer.param_groups:
            group["lr"] = config.lr * config.lr_decay ** ((epoch - 1) // config.lr_decay_every)
        network.train()
        with seeded(data.seed, epoch) as generator:
            for batch in tensors.shuffled(config.batch, generator):
                losses = lessons.losses(batch.to(device), generator)
                if len(losses):
                    optimizer.zero_grad(set_to_none=True)
                    losses.mean().backward()
                    nn.utils.clip_grad_norm_(network.parameters(), config.clip)
                    optimizer.step()
                total, learnt = total + float(losses.detach().sum()), learnt + len(losses)
                options.on_batch(len(batch.rows))
        seconds, reached = time.perf_counter() - start, lessons.reached() / count
        trained.history.append(Epoch(epoch, total / max(learnt, 1), reached, seconds, count / seconds))
        if folder is not None:
            history = [asdict(before) for before in trained.history]
            save_training(folder, network, optimizer, lessons.state(), history)
            trained.save(folder)
        options.on_epoch(trained.history[-1])
    return trained
