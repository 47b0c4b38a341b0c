"""Training of one of the networks of a solver.

All randomness of an epoch comes from (seed, network, epoch), and one thread trains a network: it ends with
the same weights, bit for bit, whether it was stopped and resumed or not, in whichever process it was trained.
Several workers come to these weights too if there is no dropout, up to the order of additions.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import torch
from pydantic import TypeAdapter
from torch import Tensor, nn
from typing_extensions import TypedDict  # pydantic takes the one of `typing` only from Python 3.12 on

from toolkit.data import Vocabulary, vocabulary_of
from toolkit.data.vocabulary import PAD_AT, UNKNOWN_AT, pretrained_vocabulary
from toolkit.equations import Constant
from toolkit.errors import WarmkitError
from toolkit.nn.batches import Batch, like_lengths
from toolkit.nn.bert import Bert, load_pretrained
from toolkit.nn.checkpoint import FILE, load_training, save_training
from toolkit.nn.memory import keep_freed_memory
from toolkit.nn.network import EquationNetwork
from toolkit.nn.seeds import seeded
from toolkit.nn.tokens import Tokens
from toolkit.nn.weights import load_network
from toolkit.nn.workers import ALONE, WorkerGroup
from toolkit.solvers.base import PreparedLessons, SolverInput, SolverProgress
from toolkit.solvers.coherence import Coherence
from toolkit.solvers.evaluate import outcomes
from toolkit.solvers.neural.config import SizedConfig
from toolkit.solvers.neural.examples import make_examples
from toolkit.solvers.neural.folder import START
from toolkit.solvers.neural.lessons import Equations, Lessons, Shard, part_lessons
from toolkit.solvers.neural.stored import read_lessons
from toolkit.solvers.plausibility import Plausibility
from toolkit.solvers.ranking import Ranker

if TYPE_CHECKING:
    from toolkit.solvers.neural.solver import NeuralSolver

LEAST_HELD_OUT = 100  # a share with fewer problems says too little: nothing is held out then
MOST_HELD_OUT = 2_000  # more would cost more than they say
EVERY = 20  # batches between two reports


class Figures(TypedDict):
    """The figures of an epoch."""

    loss: float
    right: float | None  # share of the held-out answers; None if nothing is held out


HISTORY = TypeAdapter(list[Figures])


def make_lessons(
    solver: "type[NeuralSolver]", data: SolverInput | PreparedLessons, workers: WorkerGroup = ALONE
) -> Lessons:
    """What a worker learns from: of problems in memory, or of prepared parts."""
    if isinstance(data, PreparedLessons):
        return read_lessons(solver, data, workers)
    problems = data.problems
    config = solver.sized(data.config, len(problems))
    vocabulary = lesson_vocabulary(
        solver, config, data.constants, lambda: vocabulary_of(problems, config.min_count, config.joined)
    )
    examples = make_examples(data, config, Tokens(data.constants))
    if not len(examples.row):
        raise nothing_to_learn()
    held_out = torch.zeros(len(problems), dtype=torch.bool)
    held_out[held_out_rows(len(problems), config.held_out, data.seed)] = True
    part = part_lessons(problems, examples, held_out, vocabulary, bool(config.retrieval))
    is_held_out = part.is_held_out
    if is_held_out.sum() < LEAST_HELD_OUT:
        is_held_out = pl.repeat(False, len(is_held_out), eager=True)
    table = part.table.filter(~is_held_out)
    return Lessons(
        config,
        data.seed,
        data.constants,
        vocabulary,
        len(table),
        problems.take([part.rows[i] for i in is_held_out.arg_true()]),
        part.answers,
        lambda columns: [table.select(columns)],
        workers,
    )


def lesson_vocabulary(
    solver: "type[NeuralSolver]",
    config: SizedConfig,
    constants: tuple[Constant, ...],
    learn: Callable[[], Vocabulary],
) -> Vocabulary:
    """The vocabulary of a pretrained encoder, if there is one; otherwise one that is learnt."""
    if config.encoder is None:
        return learn()
    vocabulary = pretrained_vocabulary(Path(config.encoder.folder))
    _check_encoders(solver, len(vocabulary), constants, config)
    return vocabulary


def nothing_to_learn() -> WarmkitError:
    return WarmkitError("There is no equation to learn from.", "no-equations")


def _check_encoders(
    solver: "type[NeuralSolver]", words: int, constants: tuple[Constant, ...], config: SizedConfig
) -> None:
    """Fail before anything is trained if a network does not take a pretrained encoder."""
    with torch.device("meta"):
        networks = new_networks(solver, words, constants, config, seed=0)
    if not all(isinstance(network.encoder, Bert) for network in networks):
        raise WarmkitError("encoder: a network of this solver has an encoder of its own. Take another kind.")


def held_out_rows(problems: int, share: float, seed: int) -> Tensor:
    """Which of all problems are held out, with an equation or without: the same in every round of a loop.

    Otherwise a solver would be measured on what the one that it starts from has learnt.
    """
    order = torch.randperm(problems, generator=torch.Generator().manual_seed(seed))
    return order[: min(int(share * problems), MOST_HELD_OUT)]


def new_networks(
    solver: "type[NeuralSolver]", words: int, constants: tuple[Constant, ...], config: SizedConfig, seed: int
) -> list[EquationNetwork]:
    """The networks that vote, each with initial weights of its own."""
    return [_new_network(solver, words, constants, config, seed, i) for i in range(config.members)]


def _new_network(
    solver: "type[NeuralSolver]",
    words: int,
    constants: tuple[Constant, ...],
    config: SizedConfig,
    seed: int,
    member: int,
) -> EquationNetwork:
    with seeded(_member_seed(seed, member), 0):
        return solver.network(member)(words, Tokens(constants), config)


def _member_seed(seed: int, member: int) -> int:
    """The seed of a member; that of the first is the seed of a solver with a single network."""
    return seed + 1_000 * member


def train_member(
    solver: "type[NeuralSolver]",
    lessons: Lessons,
    member: int,
    device: torch.device,
    folder: Path | None,
    on_progress: Callable[[SolverProgress], object],
) -> EquationNetwork:
    """The network of the best epoch. With a folder it goes on from there, and is saved after every epoch.

    `done` and `total` of the progress are batches of this network. With several workers, rank zero saves.
    """
    keep_freed_memory()
    config, workers = lessons.config, lessons.workers
    words, seed = len(lessons.vocabulary), lessons.seed

    def build() -> EquationNetwork:
        return _new_network(solver, words, lessons.constants, config, seed, member)

    is_warm = folder is not None and (folder / START).exists()
    network = load_network(folder / START, build) if folder is not None and is_warm else build()
    if config.encoder is not None and not is_warm:
        assert isinstance(network.encoder, Bert)  # `make_lessons` has seen to it
        load_pretrained(network.encoder, Path(config.encoder.folder), lessons.vocabulary.words)
    network.to(device)
    averaged, best = deepcopy(network), deepcopy(network)
    for kept in (averaged, best):
        kept.requires_grad_(False).eval()
    everything = nn.ModuleList([network, averaged, best])
    optimizer = torch.optim.Adam(
        [{"params": group} for group in _groups(network)], weight_decay=config.weight_decay, fused=True
    )
    history: list[Figures] = []
    if folder is not None and (folder / FILE).exists():
        _, history = load_training(folder, everything, optimizer, HISTORY)
    total = config.epochs * lessons.steps
    last = SolverProgress(0, total, 0.0)
    if history:
        last = SolverProgress(len(history) * lessons.steps, total, **history[-1], epochs=len(history))
    with one_thread():
        for epoch in range(len(history) + 1, config.epochs + 1):
            if _has_settled(history, config.patience):
                break
            done = (epoch - 1) * lessons.steps

            def on_batch(batches: int, done: int = done, last: SolverProgress = last) -> None:
                if batches % EVERY == 0:
                    on_progress(replace(last, done=min(done + batches, total)))

            with seeded(_member_seed(seed, member), epoch) as generator:
                workers.draw_differently(_member_seed(seed, member), epoch)
                loss = _run_epoch(network, averaged, lessons, optimizer, epoch, generator, on_batch)
            right = _held_out_answers(solver, averaged, lessons)
            if right is None or right >= max((figures["right"] or 0.0 for figures in history), default=0.0):
                best.load_state_dict(averaged.state_dict())
            history.append({"loss": loss, "right": right})
            if folder is not None and workers.is_rank_zero:
                save_training(folder, everything, optimizer, {}, history)
            last = SolverProgress(epoch * lessons.steps, total, loss, right, epoch)
            on_progress(last)
    if history:
        on_progress(SolverProgress(total, total, **history[-1], epochs=len(history)))
    return best


def _groups(network: EquationNetwork) -> list[list[nn.Parameter]]:
    """What is trained with `lr`, and, if there is such, with `encoder_lr`."""
    if not isinstance(network.encoder, Bert):
        return [list(network.parameters())]
    pretrained = network.encoder.pretrained()
    known = set(pretrained)
    return [[parameter for parameter in network.parameters() if parameter not in known], pretrained]


def _has_settled(history: Sequence[Figures], patience: int) -> bool:
    """Whether no more of the held-out answers were right for `patience` epochs."""
    shares = [figures["right"] for figures in history if figures["right"] is not None]
    return bool(patience) and len(shares) > patience and max(shares[-patience:]) <= max(shares[:-patience])


def _held_out_answers(
    solver: "type[NeuralSolver]", network: EquationNetwork, lessons: Lessons
) -> float | None:
    """The share of the held-out answers that the likeliest equation gives. Each worker solves some."""
    if not len(lessons.held_out):
        return None
    workers = lessons.workers
    problems = lessons.held_out.take(workers.owned(len(lessons.held_out)))
    greedy = lessons.config.model_copy(update={"beam": 1})
    ranker = Ranker(Plausibility({}), Coherence({}))
    alone = solver([network], lessons.vocabulary, ranker, greedy, lessons.constants)
    right = int(outcomes(alone, problems).answers.sum()) if len(problems) else 0
    return workers.sum(right)[0] / len(lessons.held_out)


def _run_epoch(
    network: EquationNetwork,
    averaged: EquationNetwork,
    lessons: Lessons,
    optimizer: torch.optim.Optimizer,
    epoch: int,
    generator: torch.Generator,
    on_batch: Callable[[int], object],
) -> float:
    """One pass over the lessons; the mean loss."""
    config, shard, workers = lessons.config, lessons.shard, lessons.workers
    network.train()
    device = next(network.parameters()).device
    total = weights = 0.0
    batches = like_lengths(shard.lengths, config.batch, generator)
    for done, chosen in enumerate(batches, 1):
        chosen = chosen[shard.depths[chosen].argsort(descending=True, stable=True)]
        dropped = _dropped_words(shard, chosen, config.word_dropout, generator)
        own = workers.own_rows(chosen)
        optimizer.zero_grad(set_to_none=True)
        if len(own):
            batch = _without_words(shard.tensors.batch(own), dropped)
            losses, weight = _losses(network, batch.to(device), shard.equations, config.max_tokens)
            (losses.sum() / len(chosen)).backward()
            total += float(losses.detach().sum())
            weights += float(weight.sum())
        workers.sum_gradients(network.parameters())
        torch.nn.utils.clip_grad_norm_(network.parameters(), config.clip)
        step = (epoch - 1) * lessons.steps + done
        share = _rate(step, config.epochs * lessons.steps, config.warm_up)
        for group, rate in zip(optimizer.param_groups, (config.lr, config.encoder_lr), strict=False):
            group["lr"] = share * rate
        optimizer.step()
        _average(averaged, network, step, config.average)
        on_batch(done)
    total, weights = workers.sum(total, weights)
    return total / weights


def _losses(
    network: EquationNetwork, batch: Batch, equations: Equations, max_tokens: int
) -> tuple[Tensor, Tensor]:
    """The weighted loss of each equation to learn, and the weights."""
    # A problem is read once, however many equations it is to learn.
    prefixes, weight, owner = equations.of(batch.rows.cpu())
    weight = weight.to(batch.tokens.device)
    return -network.log_prob(batch, prefixes, owner, max_tokens) * weight, weight


def _rate(step: int, steps: int, warm_up: float) -> float:
    """The share of the learning rate in a step: up to 1 during the warm-up, then down to zero."""
    rising = max(1.0, warm_up * steps)
    return min(step / rising, max(0.0, (steps + 1 - step) / (steps + 1 - rising)))


@torch.no_grad()
def _average(averaged: nn.Module, network: nn.Module, step: int, decay: float) -> None:
    """Exponential moving average; the first steps count less, since they are far from the last."""
    kept = min(decay, step / (step + 10))
    torch._foreach_lerp_(list(averaged.parameters()), list(network.parameters()), 1 - kept)


def _dropped_words(shard: Shard, chosen: Tensor, share: float, generator: torch.Generator) -> Tensor | None:
    """Which words of the own problems of a batch [B, L] are dropped; L is the longest text of all workers.

    They are drawn for the whole batch, by all workers alike. None if no words are dropped.
    """
    if not share:
        return None
    drawn = torch.rand((len(chosen), int(shard.lengths[chosen].max())), generator=generator)
    return drawn[shard.workers.is_own(chosen)] < share


def _without_words(batch: Batch, dropped: Tensor | None) -> Batch:
    """The batch with some words unknown, as rare words are in new texts; numbers stay."""
    if dropped is None:
        return batch
    dropped = dropped[:, : batch.tokens.shape[1]] & ~batch.is_number & (batch.tokens != PAD_AT)
    return replace(batch, tokens=torch.where(dropped, UNKNOWN_AT, batch.tokens))


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums are split over threads, so their number changes the last bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
