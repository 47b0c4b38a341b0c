"""Training of LBF: write trees, fix them, remember the fixes, and learn what is remembered.

All randomness of an epoch comes from (seed, epoch), so a run that was stopped and resumed ends with the same
weights, bit for bit, as one that was not.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn

from toolkit.data import vocabulary_of
from toolkit.methods.base import HISTORY, Epoch, FitInput, FitOptions, Origin, no_problems
from toolkit.methods.lbf import Lbf
from toolkit.methods.lbf.buffer import Buffer, digests
from toolkit.methods.lbf.config import LbfConfig
from toolkit.methods.lbf.decode import LENGTHS, decode, tree_lengths
from toolkit.methods.lbf.m_fix import m_fix
from toolkit.methods.lbf.one_fix import Case, Prefix
from toolkit.nn.batches import Batch, to_tensors
from toolkit.nn.checkpoint import load_training, not_of_this, save_training
from toolkit.nn.memory import keep_freed_memory
from toolkit.nn.seeds import seeded
from toolkit.nn.tokens import Tokens
from toolkit.nn.tree.decoder import Source
from toolkit.nn.tree.forest import Forest
from toolkit.nn.tree.gts import GtsNetwork

Method = TypeVar("Method", bound=Lbf)


def train(method: type[Method], data: FitInput, folder: Path | None, options: FitOptions) -> Method:
    """The arguments are those of `StepOne.fit`."""
    if not len(data.problems):
        raise no_problems()
    keep_freed_memory()
    config, device = data.config, options.device or torch.device("cpu")
    assert isinstance(config, LbfConfig)
    vocabulary = vocabulary_of(data.problems, config.min_count)
    with seeded(data.seed, 0):
        network = method.new_network(len(vocabulary), data.problems.constants, config).to(device)
    trained = method(network, vocabulary, config, Origin.of(data))
    optimizer = torch.optim.Adam(network.parameters(), lr=config.lr, weight_decay=config.weight_decay)
    lessons = Lessons(data, network.tokens, config)
    if options.resume and folder is not None:
        method.check_same(folder, data)
        extra, trained.history = load_training(folder, network, optimizer, HISTORY)
        lessons.buffer = lessons.restored(extra, folder)
    trained.buffer = lessons.buffer
    tensors = to_tensors(data.problems, vocabulary)
    for epoch in range(len(trained.history) + 1, config.epochs + 1):
        start, total, trees = time.perf_counter(), 0.0, 0
        for group in optimizer.param_groups:
            group["lr"] = config.lr * config.lr_decay ** ((epoch - 1) // config.lr_decay_every)
        network.train()
        with seeded(data.seed, epoch) as generator:
            for batch in tensors.shuffled(config.batch, generator):
                losses = batch_losses(network, batch.to(device), lessons, generator)
                if len(losses):
                    optimizer.zero_grad(set_to_none=True)
                    losses.mean().backward()
                    nn.utils.clip_grad_norm_(network.parameters(), config.clip)
                    optimizer.step()
                total, trees = total + float(losses.detach().sum()), trees + len(losses)
                options.on_batch(len(batch.rows))
        seconds, count = time.perf_counter() - start, len(data.problems)
        reached = sum(bool(lessons.of(row)) for row in range(count)) / count
        trained.history.append(Epoch(epoch, total / max(trees, 1), reached, seconds, count / seconds))
        if folder is not None:
            history = [asdict(before) for before in trained.history]
            save_training(folder, network, optimizer, trained.buffer.tensors, history)
            trained.save(folder)
        options.on_epoch(trained.history[-1])
    return trained


class Lessons:
    """What is to be learnt: the gold equation of a problem of D_s, the fixes of another."""

    def __init__(self, data: FitInput, tokens: Tokens, config: LbfConfig) -> None:
        self.config, self.tokens, self.buffer = config, tokens, Buffer()
        problems = data.problems
        self.digests = digests(problems)
        self.cases = [
            Case(tokens, numbers, answer)
            for numbers, answer in zip(problems.numbers, problems.answers, strict=True)
        ]
        self.gold = [self._gold(data, problem_id) for problem_id in problems.ids]

    def _gold(self, data: FitInput, problem_id: str) -> Prefix | None:
        template = data.known.get(problem_id)
        prefix = None if template is None else self.tokens.encode(template)
        return None if prefix is None or len(prefix) > self.config.max_tokens else tuple(prefix)

    def of(self, row: int) -> Sequence[Prefix]:
        gold = self.gold[row]
        return self.buffer.of(self.digests[row]) if gold is None else [gold]

    def restored(self, tensors: Mapping[str, Tensor], folder: Path) -> Buffer:
        """The buffer of a checkpoint of the same problems. What does not give their answers is an error."""
        cases = dict(zip(self.digests, self.cases, strict=True))
        try:
            buffer = Buffer.restored(tensors, self.tokens, self.config.max_tokens)
            if all(cases[problem].reached_by(prefix) for problem, prefix in buffer):
                return buffer
        except (LookupError, RuntimeError, ValueError):
            pass
        raise not_of_this(folder)


def batch_losses(network: GtsNetwork, batch: Batch, lessons: Lessons, generator: torch.Generator) -> Tensor:
    """The losses -log p [N] of all trees that the problems of a batch are to learn, after they are fixed."""
    source, config = network.source(batch), lessons.config
    rows = batch.rows.tolist()
    weak = [i for i, row in enumerate(rows) if lessons.gold[row] is None]
    fixes = find_fixes(network, source, batch, weak, lessons, generator)
    for i in weak:
        problem = lessons.digests[rows[i]]
        if config.memory == "fresh":
            lessons.buffer.forget(problem)
        if i in fixes:
            lessons.buffer.add(problem, fixes[i])
    learnt = [(i, prefix) for i, row in enumerate(rows) for prefix in lessons.of(row)]
    if not learnt:
        return source.root.new_zeros(0)
    owner, prefixes = [i for i, _ in learnt], [prefix for _, prefix in learnt]
    operators, device = len(lessons.tokens.operators), source.root.device
    forest = Forest.of(prefixes, owner, operators, config.max_tokens, device)
    return -network.decoder.log_prob(source, forest)


def find_fixes(
    network: GtsNetwork,
    source: Source,
    batch: Batch,
    weak: Sequence[int],
    lessons: Lessons,
    generator: torch.Generator,
) -> dict[int, Prefix]:
    """A fix of the shortest tree that has one, for each of some problems of a batch; dropout stays on."""
    config, left = lessons.config, list(weak)
    found: dict[int, Prefix] = {}
    for more in LENGTHS:
        if not left:
            break
        some = torch.tensor(left, device=batch.rows.device)
        lengths = tree_lengths(batch.counts[some], more, config.max_tokens)
        decoded = decode(network.decoder, source.rows(some), lengths)
        scores, sizes = decoded.scores.cpu(), lengths.tolist()
        for i, tokens, of_tree, size in zip(left, decoded.tokens.tolist(), scores, sizes, strict=True):
            case = lessons.cases[int(batch.rows[i])]
            fixed = m_fix(case, tuple(tokens[:size]), of_tree[:size], config.fixes, generator)
            if fixed is not None:
                found[i] = fixed
        left = [i for i in left if i not in found]
    return found
