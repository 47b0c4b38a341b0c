"""Random Equation Sampling (paper, section 5.4): the floor that a policy has to beat.

For each problem k parallel paths of d steps; each step draws an operator and two operands uniformly, and
its result joins OpDict; a path ends when it reaches the answer. From the shell:

    python -c "from toolkit.baselines import sample_random; from toolkit.data import read_problems; \
    print(sample_random(read_problems('bundled:en').problems))"

Where the paper is silent:
- the three draws of a step are independent, so the same operand may be drawn twice (N0 * N0);
- a result that is no number, or beyond 10¹² in size, does not join OpDict, but its draw is used up;
- of several paths that reach the answer the one with the fewest steps counts, once the steps that it does
  not need are gone.
"""

from collections.abc import Sequence

import polars as pl
import torch
from torch import Tensor

from toolkit.data import build_vocabulary, numbers_of
from toolkit.data.schema import MAX_NUMBERS
from toolkit.equations import DEFAULT_CONSTANTS, Constant, Expr, reaches
from toolkit.warm.explore import LARGEST
from toolkit.warm.paths import Layout
from toolkit.warm.tensors import Batch, to_tensors

OPERATORS = "+-*/"


def sample_random(
    problems: pl.DataFrame,
    *,
    paths: int = 5,
    length: int = 40,
    seed: int = 0,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
) -> list[Expr | None]:
    """For each problem the shortest template found that reaches its answer, None where none was found.

    With the same seed, more or longer paths start with the paths of fewer or shorter ones, so that they
    reach at least the same problems.
    """
    found: list[Expr | None] = [None] * len(problems)
    if not found:
        return found
    layout = Layout(tuple(constants), OPERATORS)
    no_words = build_vocabulary([], numbers=MAX_NUMBERS)
    batch = to_tensors(problems, no_words, layout, longest=1).all
    generator = torch.Generator().manual_seed(seed)
    problem, drawn = random_paths(batch, layout, paths=paths, length=length, generator=generator)
    pruned = layout.pruned(drawn) if len(drawn) else drawn
    order = (pruned[..., 0] >= 0).sum(1).argsort(stable=True)
    numbers, answers = numbers_of(problems), problems["answer"].to_list()
    for row, path in zip(problem[order].tolist(), pruned[order].tolist(), strict=True):
        if found[row] is None:
            template = layout.template(path)
            # Floats cancel (10¹¹ + 0.1 - 10¹¹ is not 0.1), so the answer is checked in fractions.
            if reaches(template, numbers[row], answers[row]):
                found[row] = template
    return found


def random_paths(
    batch: Batch, layout: Layout, *, paths: int, length: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Paths that end in the answer: the problem [K] of each, and its steps [K, length, 3] in codes.

    All problems and paths take a step at once. OpDict is packed, so that its first `size` places are what
    may be drawn: constants, the numbers that the problem has, then results.
    """
    streams = _streams(paths, generator)
    shape = len(batch.rows), paths
    row, path = torch.meshgrid(*map(torch.arange, shape), indexing="ij")
    starts_with = (len(layout.constants) + batch.counts).unsqueeze(1)  # [B, 1]
    size = starts_with.expand(shape)
    room = batch.values.new_zeros(*shape, length)
    values = torch.cat([batch.values.unsqueeze(1).expand(*shape, -1), room], -1)  # [B, k, D]
    steps = torch.full((*shape, length, 3), -1, dtype=torch.int16)
    reached = torch.zeros(shape, dtype=torch.bool)
    for _ in range(length):
        op, left, right = _draw(streams, len(layout.operators), size).unbind(-1)
        result = apply(layout.operators, op, values[row, path, left], values[row, path, right])
        kept = (result.abs() <= LARGEST) & ~reached  # NaN is not below anything
        triplets = torch.stack([op, _code(left, batch, layout), _code(right, batch, layout)], -1)
        steps[row[kept], path[kept], (size - starts_with)[kept]] = triplets[kept].to(steps.dtype)
        values[row, path, size] = result  # where it is not kept the next one takes its place
        size = size + kept
        gap = (result - batch.answers.unsqueeze(1)).abs()
        reached = reached | (kept & (gap <= batch.limits.unsqueeze(1)))
        if reached.all():
            break
    return row[reached], steps[reached].long()


def apply(operators: str, op: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """What operators, given by their indices, make of operands of the same shape."""
    made = {"+": left + right, "-": left - right, "*": left * right, "/": left / right}
    every = torch.stack([made[sign] for sign in operators], -1)
    return every.gather(-1, op.unsqueeze(-1)).squeeze(-1)


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
    """Places in the packed OpDict of each problem as codes."""
    counts = batch.counts.unsqueeze(1)
    is_result = operand >= len(layout.constants) + counts
    return torch.where(is_result, operand + MAX_NUMBERS - counts, operand)
