"""Beam exploration (paper, section 4.5): paths to the answer for all problems and beams of a batch at once.

At each step every beam scores all its triplets (op, left, right); w of them are drawn without replacement
from the joint distribution of all beams (the w largest of log-probability plus Gumbel noise: Kool et al.
2019) and become the next beams. Nothing here has gradients: `path_log_prob` scores the chosen paths again.

The paper draws w triplets for each beam and does not say how it comes back to w; drawing them from all
beams together is the same for the first step, and sampling of paths without replacement after it.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from toolkit.methods.warm.paths import path_hash
from toolkit.methods.warm.policy import Encoded, Policy, State
from toolkit.nn.batches import Batch, pi_readings

LARGEST = 1e12  # a result beyond this leads nowhere


@dataclass(frozen=True)
class FoundPaths:
    """Paths that end in the answer, one a row; in slots of the batch until `in_codes`."""

    problem: Tensor  # [K] row in the batch
    paths: Tensor  # [K, T, 3]
    log_prob: Tensor  # [K]


@dataclass(frozen=True)
class Explored:
    found: FoundPaths
    failed: Tensor  # [B, T, 3] the first beam of each problem at its end: the failure if nothing was found


@dataclass(frozen=True)
class Beams:
    """W beams for each of the b problems that are still explored."""

    alive: Tensor  # [b] row in the batch
    state: State  # of the decoder, [b, W]
    values: Tensor  # [b, W, D, R] once for each reading of π
    score: Tensor  # [b, W] log-probability so far
    paths: Tensor  # [b, W, T, 3]


@torch.no_grad()
def explore(
    model: Policy,
    encoded: Encoded,
    batch: Batch,
    *,
    width: int,
    lookahead: bool,
    extra_steps: int,
    generator: torch.Generator | None,
    most: int = 8,
) -> Explored:
    """Paths to the answers of a batch, and the beam that failed if there are none.

    `lookahead` tests all triplets of a step against the answer (the `most` likeliest hits are kept), else
    only the w that are drawn. Exploration of a problem ends `extra_steps` steps after its first reward.
    Without a generator the w likeliest triplets are taken: beam search.
    """
    longest = model.config.max_steps
    size = len(batch.rows)
    device = batch.values.device
    beams = _start(model, encoded, batch, longest)
    failed = torch.full((size, longest, 3), -1, device=device)
    first = torch.full((size,), longest, device=device)  # the step of the first reward
    hits: list[FoundPaths] = []
    for step in range(longest):
        joint = model.decoder.joint(beams.state)
        results = _results(model.config.operators, beams.values)  # [b, W, O, D, D, R]
        allowed = _allowed(model, results[..., 0])
        scores = (joint.log_prob + beams.score[..., None, None, None]).masked_fill(~allowed, -torch.inf)
        index = (beams.alive, *[None] * 5)
        hit = ((results - batch.answers[index]).abs() <= batch.tolerances[index]).any(-1)
        shape = scores.shape[2:]
        scores, hit = scores.flatten(1), hit.flatten(1)
        if lookahead:
            best, at = scores.masked_fill(~hit, -torch.inf).topk(min(most, scores.shape[1]), 1)
            right = _keep_hits(hits, first, model, batch, beams, best, at, shape, step)
            scores = scores.masked_fill(hit.scatter(1, at, right), -torch.inf)
        at = _draw(scores, width, generator)
        drawn = scores.gather(1, at)
        if not lookahead:
            near = drawn.masked_fill(~hit.gather(1, at), -torch.inf)
            right = _keep_hits(hits, first, model, batch, beams, near, at, shape, step)
            drawn = drawn.masked_fill(right, -torch.inf)
        goes_on = (step < first[beams.alive] + extra_steps) & (step < longest - 1) & drawn.isfinite().any(1)
        beams = _advance(model, beams, joint.hidden, results.flatten(1, 4), at, drawn, shape, step)
        failed[beams.alive] = beams.paths[:, 0]
        if not goes_on.any():
            break
        beams = _select(beams, goes_on)
    return Explored(_together(hits, longest, batch), failed)


def _start(model: Policy, encoded: Encoded, batch: Batch, longest: int) -> Beams:
    size = len(batch.rows)
    device = batch.values.device
    return Beams(
        alive=torch.arange(size, device=device),
        state=model.decoder.start(encoded, 1),
        values=pi_readings(batch.values, model.layout.constants).unsqueeze(1),
        score=torch.zeros(size, 1, device=device),
        paths=torch.full((size, 1, longest, 3), -1, device=device),
    )


def _results(operators: str, values: Tensor) -> Tensor:
    """[b, W, D, R] → what every operator makes of every two operands [b, W, O, D, D, R]."""
    left, right = values.unsqueeze(-2), values.unsqueeze(-3)
    made = []
    for op in operators:
        if op == "+":
            made.append(left + right)
        elif op == "-":
            made.append(left - right)
        elif op == "*":
            made.append(left * right)
        elif op == "/":
            made.append(left / right)
        else:
            made.append(left**right)
    return torch.stack(made, 2)


def _allowed(model: Policy, results: Tensor) -> Tensor:
    """Results that are numbers of a sensible size; of a + b and b + a only one."""
    slots = torch.arange(results.shape[-1], device=results.device)
    in_order = slots.unsqueeze(1) <= slots
    commutes = model.layout.commutes(results.device)[:, None, None]
    return (results.abs() < LARGEST) & (in_order | ~commutes)  # NaN is not below anything


def _draw(scores: Tensor, width: int, generator: torch.Generator | None) -> Tensor:
    """Which w triplets of [b, W * O * D * D] come next."""
    if generator is not None:
        noise = torch.empty_like(scores).exponential_(generator=generator)
        scores = scores - noise.log()  # -log of an exponential is a Gumbel variable
    return scores.topk(min(width, scores.shape[1]), 1).indices


def _triplets(at: Tensor, shape: torch.Size) -> tuple[Tensor, Tensor]:
    """Indices into [W, O, D, D] as beams and (op, left, right)."""
    operators, operands, _ = shape
    beam = at // (operators * operands * operands)
    op = at // (operands * operands) % operators
    return beam, torch.stack([op, at // operands % operands, at % operands], -1)


def _keep_hits(
    hits: list[FoundPaths],
    first: Tensor,
    model: Policy,
    batch: Batch,
    beams: Beams,
    scores: Tensor,
    at: Tensor,
    shape: torch.Size,
    step: int,
) -> Tensor:
    """Of what is near the answer (a finite score), keep what reaches it exactly; return which that is."""
    right = scores.isfinite()
    rows, columns = right.nonzero(as_tuple=True)
    if not len(rows):
        return right
    beam, triplets = _triplets(at[rows, columns], shape)
    paths = beams.paths[rows, beam].clone()
    paths[:, step] = triplets
    problem = beams.alive[rows]
    exact = _are_right(model, batch, problem, paths)
    right[rows, columns] = exact
    rows, columns, paths, problem = rows[exact], columns[exact], paths[exact], problem[exact]
    first[problem] = first[problem].clamp(max=step)
    hits.append(FoundPaths(problem, paths, scores[rows, columns]))
    return right


def _are_right(model: Policy, batch: Batch, problem: Tensor, paths: Tensor) -> Tensor:
    """Which paths [K] reach the answers of their problems [K] in the batch."""
    codes = model.layout.pruned(model.layout.to_codes(paths, batch.n)).cpu()
    return batch.check(
        batch.rows[problem], path_hash(codes), lambda i: model.layout.template(codes[i].tolist())
    )


def _advance(
    model: Policy,
    beams: Beams,
    hidden: Tensor,
    results: Tensor,
    at: Tensor,
    scores: Tensor,
    shape: torch.Size,
    step: int,
) -> Beams:
    beam, triplets = _triplets(at, shape)
    rows = torch.arange(len(at), device=at.device).unsqueeze(1)
    hidden = hidden[rows, beam, triplets[..., 0]]
    state = model.decoder.advance(beams.state[rows, beam], hidden, triplets, step)
    if model.config.stop:
        scores = scores + logsigmoid(-model.decoder.stop(state))
    paths = beams.paths[rows, beam]
    paths[:, :, step] = triplets
    values = torch.cat([beams.values[rows, beam], results[rows, at].unsqueeze(2)], 2)
    return Beams(beams.alive, state, values, scores, paths)


def _select(beams: Beams, which: Tensor) -> Beams:
    rows = which.nonzero().squeeze(1)
    return Beams(
        beams.alive[rows], beams.state[rows], beams.values[rows], beams.score[rows], beams.paths[rows]
    )


def _together(hits: list[FoundPaths], longest: int, batch: Batch) -> FoundPaths:
    if not hits:
        nothing = batch.rows.new_zeros(0)
        return FoundPaths(nothing, batch.rows.new_zeros(0, longest, 3), nothing.float())
    return FoundPaths(
        torch.cat([found.problem for found in hits]),
        torch.cat([found.paths for found in hits]),
        torch.cat([found.log_prob for found in hits]),
    )


def in_codes(model: Policy, found: FoundPaths, n: int) -> FoundPaths:
    """The same paths in codes, without needless steps."""
    return replace(found, paths=model.layout.pruned(model.layout.to_codes(found.paths, n)))


def path_log_prob(model: Policy, encoded: Encoded, problem: Tensor, paths: Tensor) -> Tensor:
    """Log-probabilities [K] of paths [K, T, 3] in slots, with gradients; path i is of problem[i].

    The longest paths stand first while they are scored, so that each step works on those that go on.
    """
    lengths, order = (paths[..., 0] >= 0).sum(1).sort(descending=True, stable=True)
    paths = paths[order].unsqueeze(1)
    state = model.decoder.start(encoded.rows(problem[order]), 1)
    total = torch.zeros(len(paths), device=paths.device)
    for step in range(int(lengths[0]) if len(lengths) else 0):
        going = int((lengths > step).sum())
        state, total_going = state[:going], total[:going]
        triplets = paths[:going, :, step]
        log_prob, hidden = model.decoder.of_steps(state, triplets)
        total_going = total_going + log_prob.squeeze(1)
        state = model.decoder.advance(state, hidden, triplets, step)
        if model.config.stop:
            stop = model.decoder.stop(state).squeeze(1)
            last = lengths[:going] == step + 1
            total_going = total_going + logsigmoid(torch.where(last, stop, -stop))
        total = torch.cat([total_going, total[going:]])
    return torch.empty_like(total).index_copy(0, order, total)
