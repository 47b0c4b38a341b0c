"""Workers that train one model together: each explores the problems it owns, and gradients are added up.

A global batch is that of one worker, drawn by the same seed. Every worker takes from it the problems that
it owns (row modulo the number of workers), so what it remembers of a problem stays with it, shards may be
uneven, and nothing but gradients travels between workers. Gradients are sums over problems, divided by the
size of the global batch: where nothing is drawn at random (dropout, exploration) the weights are those of
one worker up to the order of additions.

torch's DistributedDataParallel is not used: it wraps one `forward`, averages instead of adding, and hangs
where a worker has nothing to learn from in a batch, as one has whose problems were not reached.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from toolkit.warm.memory import Memory


@dataclass(frozen=True)
class Team:
    """Worker `rank` of `size`, in the process group that torch has; by default a worker alone."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this worker is the one that writes files."""
        return self.rank == 0

    def own(self, rows: Tensor) -> Tensor:
        """Which of the rows this worker owns [B], as a mask."""
        return rows % self.size == self.rank

    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> bool:
        """Every gradient becomes the sum over the workers. Whether there is any."""
        learnt = list(parameters)
        if self.size == 1:
            return any(one.grad is not None for one in learnt)
        has = torch.tensor([one.grad is not None for one in learnt], device=learnt[0].device)
        flat = [torch.zeros_like(one) if one.grad is None else one.grad for one in learnt]
        summed = torch.cat([has.to(learnt[0].dtype), *(grad.flatten() for grad in flat)])
        dist.all_reduce(summed)
        counts, *grads = summed.split([len(learnt), *(one.numel() for one in learnt)])
        for one, count, grad in zip(learnt, counts.tolist(), grads, strict=True):
            one.grad = grad.view_as(one) if count else None
        return bool(counts.any())

    def total(self, *figures: float) -> list[float]:
        """Each figure summed over the workers."""
        if self.size == 1:
            return list(figures)
        summed = torch.tensor(figures, dtype=torch.float64)
        if dist.get_backend() == "nccl":
            summed = summed.cuda()
        dist.all_reduce(summed)
        return [float(one) for one in summed]

    def gather(self, memory: Memory) -> None:
        """The leader's memory comes to hold what every worker remembers of the problems it owns."""
        if self.size == 1:
            return
        others = ~self.own(torch.arange(len(memory.scores), device=memory.scores.device))
        paths = memory.paths.int()  # gloo does not add int16
        paths[others] = 0
        scores = memory.scores.clone()
        scores[others] = 0.0
        for tensor in (paths, scores):
            dist.reduce(tensor, dst=0)
        if self.leads:
            memory.paths.copy_(paths)
            memory.scores.copy_(scores)
