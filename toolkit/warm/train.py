"""Training of WARM and WARM-S (paper, sections 4.4 to 4.6): one function, from problems to a model.

For each batch: encode once; explore without gradients; put what was found into the memory; score the
remembered paths once with gradients. The loss of a problem is

    D_w, reached      -log Σ p(path)   over its remembered paths (REINFORCE with reward +1; with several
                                       paths each counts as much as the policy believes in it)
    D_w, not reached  +penalty · log p(the path that failed)   (reward -1; the default penalty is 0)
    D_s               -log p(gold path)   (cross-entropy, Loss 2)

A rewarded path is rewarded in all its steps. The paper's text gives -1 to each step before the last; that
would cancel the reward of the first step of every two-step equation.

All randomness of an epoch comes from (seed, epoch), so a run that was stopped and resumed ends with the
same weights, bit for bit, as one that was not.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl
import torch
from torch import Tensor

from toolkit.data import numbers_of, vocabulary_of
from toolkit.equations import DEFAULT_CONSTANTS, Constant, search
from toolkit.errors import WarmkitError
from toolkit.warm.checkpoint import Checkpoint, Trained, data_hash
from toolkit.warm.config import WarmConfig
from toolkit.warm.explore import Found, explore, in_codes, path_log_prob
from toolkit.warm.memory import Memory
from toolkit.warm.model import Encoded, Warm
from toolkit.warm.paths import Layout
from toolkit.warm.seeded import seeded
from toolkit.warm.team import Team
from toolkit.warm.tensors import Batch, ProblemTensors, to_tensors

ALONE = Team()


@dataclass(frozen=True)
class Epoch:
    """The figures of one epoch."""

    epoch: int
    loss: float
    reached: float  # share of problems with a path to the answer (remembered, or found in this epoch)
    seconds: float
    problems_per_second: float


def train(
    problems: pl.DataFrame,
    config: WarmConfig,
    out: Path,
    *,
    gold: Sequence[bool] | None = None,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
    device: torch.device | None = None,
    resume: bool = False,
    start: Path | None = None,
    team: Team = ALONE,
    on_batch: Callable[[int], object] = lambda problems: None,
    on_epoch: Callable[[Epoch], object] = lambda epoch: None,
) -> Trained:
    """Train on problems with answers and save the model in the folder `out` after every epoch.

    gold[i] says that the equation of problem i may be used (it belongs to D_s). With `resume` a run that
    was stopped goes on where it was. `start` is the folder of a model of the same problems whose weights
    and memory training begins with, though it may have known fewer equations. In a `team` every worker
    calls this with the same arguments, each with a folder of its own; only the leader's is written to.
    """
    if not len(problems):
        raise WarmkitError("There are no problems to train on.")
    device = device or torch.device("cpu")
    layout = Layout(tuple(constants), config.model.operators)
    vocabulary = vocabulary_of(problems, config.train.min_count)
    data = to_tensors(problems, vocabulary, layout, config.model.max_steps, gold)
    with seeded(config.train.seed, 0):
        model = Warm(len(vocabulary), layout, config.model).to(device)
    optimizer = torch.optim.Adam(
        model.parameters(), lr=config.train.lr, weight_decay=config.train.weight_decay
    )
    memory = Memory(len(data), max(config.train.memory, 1), config.model.max_steps, device)
    trained = Trained(model, vocabulary, config, data_hash(problems, gold), len(problems), _gold_count(data))
    checkpoint = Checkpoint(out, trained, optimizer, memory)
    history: list[Epoch] = []
    if resume:
        history = [Epoch(**figures) for figures in checkpoint.load()]
    elif start is not None:
        checkpoint.begin_from(start)
    elif config.train.search:
        _remember_search(memory, problems, layout, config, team)
    for epoch in range(len(history) + 1, config.train.epochs + 1):
        figures = _run_epoch(epoch, data, model, optimizer, memory, config, device, team, on_batch)
        history.append(figures)
        if team.leads:
            checkpoint.save([asdict(done) for done in history])
        on_epoch(figures)
        if _has_settled(history, config.train.patience):
            break
    return trained


def _gold_count(data: ProblemTensors) -> int:
    return int(data.all.has_gold.sum())


def _has_settled(history: Sequence[Epoch], patience: int) -> bool:
    """Whether the loss has not come below its best for `patience` epochs."""
    losses = [figures.loss for figures in history]
    return bool(patience) and len(losses) > patience and min(losses[-patience:]) >= min(losses[:-patience])


def _remember_search(
    memory: Memory, problems: pl.DataFrame, layout: Layout, config: WarmConfig, team: Team
) -> None:
    """Fill the memory with the candidates of exhaustive search, the shorter the likelier."""
    searched = torch.arange(team.rank, len(problems), team.size)
    problems = problems[searched.tolist()]
    numbers = numbers_of(problems)
    found = search(numbers, problems["answer"].to_list(), config.train.search, layout.constants)
    rows, paths, lengths = [], [], []
    for row, (values, candidates) in enumerate(zip(numbers, found, strict=True)):
        for candidate in candidates:
            path = layout.path(candidate.template, len(values), config.model.max_steps)
            if path is not None:
                rows.append(row)
                paths.append(path)
                lengths.append(sum(step[0] >= 0 for step in path))
    if rows:
        device = memory.scores.device
        likely = -4.0 * torch.tensor(lengths, dtype=torch.float, device=device)
        memory.add(
            searched.to(device),
            Found(torch.tensor(rows, device=device), torch.tensor(paths, device=device), likely),
        )
    team.share(memory, searched)


def _run_epoch(
    epoch: int,
    data: ProblemTensors,
    model: Warm,
    optimizer: torch.optim.Optimizer,
    memory: Memory,
    config: WarmConfig,
    device: torch.device,
    team: Team,
    on_batch: Callable[[int], object],
) -> Epoch:
    start = time.perf_counter()
    settings = config.train
    for group in optimizer.param_groups:
        group["lr"] = settings.lr * settings.lr_decay ** ((epoch - 1) // settings.lr_decay_every)
    total, reached = 0.0, 0.0
    mine: list[Tensor] = []
    model.train()
    with seeded(settings.seed, epoch) as generator:
        drawing = _draws(team, generator, settings.seed, epoch)
        for batch in data.shuffled(settings.batch, generator):
            size = len(batch.rows)
            own = team.deal(batch)
            mine.append(own.rows)
            optimizer.zero_grad(set_to_none=True)
            if len(own.rows):
                losses, found = batch_losses(model, own.to(device), config, memory, drawing)
                if losses.requires_grad:  # not where nothing was found, and failures are not punished
                    (losses.sum() / size).backward()
                total += float(losses.detach().sum())
                reached += int(found.sum())
            if team.add_gradients(model.parameters()):
                torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
                optimizer.step()
            on_batch(size)
    team.share(memory, torch.cat(mine))
    total, reached = team.total(total, reached)
    seconds = time.perf_counter() - start
    return Epoch(epoch, total / len(data), reached / len(data), seconds, len(data) / seconds)


def _draws(team: Team, shared: torch.Generator, seed: int, epoch: int) -> torch.Generator:
    """All workers shuffle alike, but each explores and drops out in its own way; the leader as if alone."""
    if team.leads:
        return shared
    own = (seed * 1_000_003 + epoch + team.rank * 7_000_003) % 2**63
    torch.manual_seed(own)
    return torch.Generator().manual_seed(own + 1)


def batch_losses(
    model: Warm, batch: Batch, config: WarmConfig, memory: Memory, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The loss of each problem [B], and which have a path to the answer [B]."""
    encoded = model.encode(batch)
    is_gold = batch.has_gold
    weak = (~is_gold).nonzero().squeeze(1)
    paths = batch.gold.unsqueeze(1)
    lost = torch.full_like(batch.gold, -1)
    if len(weak):
        in_weak = batch.take(weak)
        found, lost[weak] = _explore(model, encoded.detach().rows(weak), in_weak, config, generator)
        if not config.train.memory:
            memory.forget(in_weak.rows)  # only what this epoch finds counts
        memory.add(in_weak.rows, found)
        paths = memory.recall(batch.rows)
        paths[is_gold] = -1
        paths[is_gold, 0] = batch.gold[is_gold]
    present = paths[..., 0, 0] >= 0
    reached = present.any(1)
    failed = ~reached & bool(config.train.penalty) & (lost[:, 0, 0] >= 0)
    paths[failed, 0] = lost[failed]
    scored = present.clone()
    scored[failed, 0] = True
    problem, place = scored.nonzero(as_tuple=True)
    slots = model.layout.to_slots(paths[problem, place], batch.n)
    log_prob = torch.full_like(scored, -torch.inf, dtype=torch.float)
    log_prob = log_prob.index_put((problem, place), path_log_prob(model, encoded, problem, slots))
    scores = log_prob.new_full((len(batch.rows), memory.size), -torch.inf)
    scores[:, : paths.shape[1]] = log_prob.detach().masked_fill(~present, -torch.inf)
    memory.rescore(batch.rows[weak], scores[weak])
    some = reached | failed
    losses = -torch.logsumexp(torch.where(some.unsqueeze(1), log_prob, 0.0), 1)  # 0 in place of -inf: no NaN
    return losses * torch.where(failed, -config.train.penalty, some.float()), reached


def _explore(
    model: Warm, encoded: Encoded, batch: Batch, config: WarmConfig, generator: torch.Generator
) -> tuple[Found, Tensor]:
    """Found paths and lost ones, in codes. The decoder explores without dropout."""
    settings = config.explore
    model.decoder.eval()
    explored = explore(
        model,
        encoded,
        batch,
        width=settings.beam_width if settings.beam_exploration else 1,
        lookahead=settings.lookahead and settings.beam_exploration,
        beyond=settings.beyond,
        generator=generator,
    )
    model.decoder.train()
    return in_codes(model, explored.found, batch.n), model.layout.to_codes(explored.lost, batch.n)
