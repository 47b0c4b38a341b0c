"""Training of the tree solvers: each network by itself, on gold equations and on candidates."""

from dataclasses import replace
from typing import TypeVar

import torch

from toolkit.data import vocabulary_of
from toolkit.data.vocabulary import PAD_AT, UNKNOWN_AT
from toolkit.equations import Constant
from toolkit.errors import WarmkitError
from toolkit.nn.batches import Batch, ProblemTensors, like_lengths, to_tensors
from toolkit.nn.memory import keep_freed_memory
from toolkit.nn.seeds import seeded
from toolkit.solvers.base import OnProgress, SolverInput, SolverProgress
from toolkit.solvers.plausibility import Plausibility
from toolkit.solvers.tree import Gts
from toolkit.solvers.tree.config import SolverConfig
from toolkit.solvers.tree.examples import Examples, Tokens, make_examples
from toolkit.solvers.tree.forest import Forest
from toolkit.solvers.tree.gts import GtsNetwork

TreeSolver = TypeVar("TreeSolver", bound=Gts)


def train(
    solver: type[TreeSolver], data: SolverInput, device: torch.device | None, on_progress: OnProgress
) -> TreeSolver:
    """The arguments are those of `Solver.fit`."""
    keep_freed_memory()
    config, problems = data.config, data.problems
    assert isinstance(config, SolverConfig)
    vocabulary = vocabulary_of(problems, config.min_count)
    networks = new_networks(solver.network(), len(vocabulary), problems.constants, config, data.seed)
    examples = make_examples(data, config, networks[0].tokens)
    if not len(examples.row):
        raise WarmkitError("There is no equation to learn from.", "no-equations")
    answered = problems.take(examples.row.unique().tolist())
    tensors = to_tensors(problems, vocabulary)
    total = config.epochs * len(networks)
    for member, network in enumerate(networks):
        network.to(device or torch.device("cpu"))
        optimizer = torch.optim.Adam(
            network.parameters(), lr=config.lr, weight_decay=config.weight_decay, fused=True
        )
        for epoch in range(1, config.epochs + 1):
            for group in optimizer.param_groups:
                group["lr"] = config.lr * config.lr_decay ** ((epoch - 1) // config.lr_decay_every)
            with seeded(_member_seed(data.seed, member), epoch) as generator:
                loss = run_epoch(network, tensors, examples, optimizer, config, generator)
            on_progress(SolverProgress(member * config.epochs + epoch, total, loss))
        network.eval()
    plausibility = Plausibility.fit(answered.answers, answered.numbers)
    return solver(networks, vocabulary, plausibility, config, problems.constants)


def new_networks(
    network: type[GtsNetwork], words: int, constants: tuple[Constant, ...], config: SolverConfig, seed: int
) -> list[GtsNetwork]:
    """The networks that vote, each with initial weights of its own."""
    networks = []
    for member in range(config.members):
        with seeded(_member_seed(seed, member), 0):
            networks.append(network(words, Tokens(constants), config))
    return networks


def _member_seed(seed: int, member: int) -> int:
    """The seed of a member; that of the first is the seed of a solver with a single network."""
    return seed + 1_000 * member


def run_epoch(
    network: GtsNetwork,
    tensors: ProblemTensors,
    examples: Examples,
    optimizer: torch.optim.Optimizer,
    config: SolverConfig,
    generator: torch.Generator,
) -> float:
    """One pass over the examples; the mean loss."""
    total = 0.0
    network.train()
    device = next(network.parameters()).device
    problems, operators = examples.problems, len(network.tokens.operators)
    depths = examples.depths(operators)
    for chosen in like_lengths(tensors.all.lengths[problems], config.batch, generator):
        chosen = chosen[depths[chosen].argsort(descending=True, stable=True)]
        rows = problems[chosen]
        # A problem is read once, however many equations it is to learn.
        learnt = [(text, i) for text, row in enumerate(rows.tolist()) for i in examples.of_problem[row]]
        owner, example = [text for text, _ in learnt], [i for _, i in learnt]
        batch = _without_some_words(tensors.batch(rows), config.word_dropout, generator)
        source = network.source(batch.to(device))
        forest = Forest.of(
            [examples.prefixes[i] for i in example], owner, operators, config.max_tokens, device
        )
        log_prob = network.decoder.log_prob(source, forest)
        losses = -log_prob * examples.weight[example].to(device)
        optimizer.zero_grad(set_to_none=True)
        (losses.sum() / len(rows)).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), config.clip)
        optimizer.step()
        total += float(losses.detach().sum())
    return total / float(examples.weight.sum())


def _without_some_words(batch: Batch, share: float, generator: torch.Generator) -> Batch:
    """The batch with a share of its words unknown, as rare words are in new texts; numbers stay."""
    if not share:
        return batch
    dropped = torch.rand(batch.tokens.shape, generator=generator) < share
    dropped &= ~batch.is_number & (batch.tokens != PAD_AT)
    return replace(batch, tokens=torch.where(dropped, UNKNOWN_AT, batch.tokens))
