"""Random paths (paper, section 5.4): each step draws an operator and two operands uniformly.

For each problem k parallel paths of d steps; the result of a step joins OpDict; a path ends when it reaches
the answer. Where the paper is silent:
- the three draws of a step are independent, so the same operand may be drawn twice (N0 * N0);
- a result that is no number, or beyond 10¹² in size, does not join OpDict, but its draw is used up;
- of several paths that reach the answer the one with the fewest steps comes first, once the steps that it
  does not need are gone.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from toolkit.data import ProblemSet, build_vocabulary
from toolkit.data.schema import MAX_NUMBERS
from toolkit.equations import Expr
from toolkit.methods.warm.explore import LARGEST
from toolkit.methods.warm.paths import Layout, path_hash
from toolkit.nn.batches import Batch, pi_readings, to_tensors

OPERATORS = "+-*/"


def sample_templates(problems: ProblemSet, *, paths: int, length: int, seed: int) -> list[list[Expr]]:
    """For each problem the templates found that reach its answer, the shortest first.

    With the same seed, more or longer paths start with the paths of fewer or shorter ones, so that they
    reach at least the same problems. The order of the rows changes nothing.
    """
    if not len(problems):
        return []
    by_id = problems.sorted_by_id()
    layout = Layout(problems.constants, OPERATORS)
    batch = to_tensors(by_id, build_vocabulary([], numbers=MAX_NUMBERS)).all
    generator = torch.Generator().manual_seed(seed)
    problem, drawn = random_paths(batch, layout, paths=paths, length=length, generator=generator)
    pruned = layout.pruned(drawn) if len(drawn) else drawn
    shortest = (pruned[..., 0] >= 0).sum(1).argsort(stable=True)
    found: dict[str, list[Expr]] = {problem_id: [] for problem_id in problems.ids}
    for row, path in zip(problem[shortest].tolist(), pruned[shortest].tolist(), strict=True):
        found[by_id.ids[row]].append(layout.template(path))
    return list(found.values())


def random_paths(
    batch: Batch, layout: Layout, *, paths: int, length: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Paths that end in the answer: the problem [K] of each, and its steps [K, length, 3] in codes.

    All problems and paths take a step at once. OpDict is packed, so that its first `size` slots are what
    may be drawn: constants, the numbers that the problem has, then results.
    """
    streams = _streams(paths, generator)
    shape = len(batch.rows), paths
    row, path = torch.meshgrid(*map(torch.arange, shape), indexing="ij")
    starts_with = (len(layout.constants) + batch.counts).unsqueeze(1)  # [B, 1]
    size = starts_with.expand(shape)
    first = pi_readings(batch.values, layout.constants)  # [B, C + n, R]
    room = first.new_zeros(*shape, length, first.shape[-1])
    values = torch.cat([first.unsqueeze(1).expand(-1, paths, -1, -1), room], 2)  # [B, k, D, R]
    steps = torch.full((*shape, length, 3), -1, dtype=torch.int16)
    reached = torch.zeros(shape, dtype=torch.bool)
    for _ in range(length):
        op, left, right = _draw(streams, len(layout.operators), size).unbind(-1)
        result = apply(layout.operators, op.unsqueeze(-1), values[row, path, left], values[row, path, right])
        kept = (result[..., 0].abs() <= LARGEST) & ~reached  # NaN is not below anything
        triplets = torch.stack([op, _code(left, batch, layout), _code(right, batch, layout)], -1)
        steps[row[kept], path[kept], (size - starts_with)[kept]] = triplets[kept].to(steps.dtype)
        values[row, path, size] = result  # what is not kept is overwritten by the next one
        size = size + kept
        gap = (result - batch.answers[:, None, None]).abs()
        near = kept & (gap <= batch.tolerances[:, None, None]).any(-1)
        reached[near] = _are_right(batch, layout, row[near], steps[near])
        if reached.all():
            break
    return row[reached], steps[reached].long()


def _are_right(batch: Batch, layout: Layout, row: Tensor, steps: Tensor) -> Tensor:
    """Which paths [K, length, 3] reach the answers of their problems exactly."""
    if not len(row):
        return row.bool()
    paths = layout.pruned(steps.long())
    return batch.check(batch.rows[row], path_hash(paths), lambda i: layout.template(paths[i].tolist()))


def apply(operators: str, op: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """What operators, given by their indices [..., 1], make of operands [..., R]."""
    made = {"+": left + right, "-": left - right, "*": left * right, "/": left / right}
    every = torch.stack([made[sign] for sign in operators], -1)  # [..., R, O]
    index = op.unsqueeze(-1).expand(*every.shape[:-1], 1)
    return every.gather(-1, index).squeeze(-1)


def _streams(paths: int, generator: torch.Generator) -> list[torch.Generator]:
    """A generator for each path, so that the first paths are the same however many there are."""
    seeds = [int(torch.randint(2**62, (), generator=generator)) for _ in range(paths)]
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def _draw(streams: Sequence[torch.Generator], operators: int, size: Tensor) -> Tensor:
    """Uniform (op, left, right) [B, k, 3] out of so many operators and `size` [B, k] operands."""
    uniform = [torch.rand(len(size), 3, dtype=torch.float64, generator=stream) for stream in streams]
    choices = torch.stack([torch.full_like(size, operators), size, size], -1)
    return (torch.stack(uniform, 1) * choices).long()


def _code(operand: Tensor, batch: Batch, layout: Layout) -> Tensor:
    """Slots in the packed OpDict of each problem as codes."""
    counts = batch.counts.unsqueeze(1)
    is_result = operand >= len(layout.constants) + counts
    return torch.where(is_result, operand + MAX_NUMBERS - counts, operand)
