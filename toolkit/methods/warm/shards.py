"""What a rank trains on: its shard of problems that are in memory (`sharded`: in prepared parts)."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from toolkit.data import ProblemSet, Vocabulary
from toolkit.equations import search
from toolkit.methods.base import FitInput
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.explore import FoundPaths
from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.paths import Layout
from toolkit.nn.batches import ProblemTensors, to_tensors
from toolkit.nn.workers import WorkerGroup

SEARCHED = 4_096  # problems that are searched at a time


@dataclass(frozen=True)
class Shard:
    """The problems that a rank owns, n of N."""

    lengths: Tensor  # [N] how many tokens each text of the whole set has: all ranks draw the same batches
    tensors: ProblemTensors
    gold: Tensor | None  # [n, T, 3] paths of D_s, -1 for the others; None if it is empty

    def gold_of(self, rows: Tensor, longest: int) -> Tensor:
        """Paths [B, T, 3] of D_s, -1 for problems that are not in it."""
        if self.gold is None:
            return torch.full((len(rows), longest, 3), -1)
        return self.gold[rows].long()


def shard_of(
    data: FitInput,
    vocabulary: Vocabulary,
    layout: Layout,
    config: WarmConfig,
    workers: WorkerGroup,
    memory: Memory | None,
) -> Shard:
    """The shard of a rank, of problems that are in memory. What search finds goes to `memory`, if any."""
    problems = data.problems
    lengths = torch.tensor([len(masked.tokens) for masked in problems.masked], dtype=torch.int16)
    if workers.world_size > 1:
        problems = problems.take(workers.owned(len(problems)))
    if memory is not None:
        _fill(memory, problems, layout, config)
    gold = gold_paths(replace(data, problems=problems), layout, config.model.max_steps)
    return Shard(lengths, to_tensors(problems, vocabulary), gold)


def gold_paths(data: FitInput, layout: Layout, longest: int) -> Tensor:
    """The paths [N, T, 3] of D_s in codes; -1 for a problem that is not in it, or whose path is too long."""
    paths = torch.full((len(data.problems), longest, 3), -1, dtype=torch.int16)
    for row, (problem_id, numbers) in enumerate(zip(data.problems.ids, data.problems.numbers, strict=True)):
        template = data.known.get(problem_id)
        path = None if template is None else layout.path(template, len(numbers), longest)
        if path is not None:
            paths[row] = torch.tensor(path)
    return paths


def _fill(memory: Memory, problems: ProblemSet, layout: Layout, config: WarmConfig) -> None:
    device = memory.scores.device
    for start in range(0, len(problems), SEARCHED):
        rows = range(start, min(start + SEARCHED, len(problems)))
        found = search_paths(problems.take(rows), layout, config)
        columns = (column.to(device) for column in (found.problem, found.paths, found.log_prob))
        memory.add(torch.tensor(rows, device=device), FoundPaths(*columns))


def search_paths(problems: ProblemSet, layout: Layout, config: WarmConfig) -> FoundPaths:
    """The candidates of exhaustive search as paths in codes, the simpler the likelier."""
    longest = config.model.max_steps
    found = search(problems.numbers, problems.answers, config.train.search, layout.constants)
    rows, of_rows, counts = [], [], []
    for row, (values, candidates) in enumerate(zip(problems.numbers, found, strict=True)):
        for candidate in candidates:
            path = layout.path(candidate.template, len(values), longest)
            if path is not None:
                rows.append(row)
                of_rows.append(path)
                counts.append(len(values))
    paths = torch.tensor(of_rows, dtype=torch.long).view(-1, longest, 3)
    likely = -layout.costs(paths, torch.tensor(counts, dtype=torch.long))
    return FoundPaths(torch.tensor(rows, dtype=torch.long), paths, likely)
