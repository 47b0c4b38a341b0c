"""Workers that train one model together: each explores its share of every batch, and gradients are added up.

A global batch is that of one worker, drawn by the same seed, and is dealt out evenly: all wait for the last,
and a share of 134 in place of 128 problems would cost 5 %. So a problem may meet another worker in the next
epoch, and what was found goes to all of them after each. Gradients are sums over problems, divided by the
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
from toolkit.warm.tensors import Batch


@dataclass(frozen=True)
class Team:
    """Worker `rank` of `size`, in the process group that torch has; by default a worker alone."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this worker is the one that writes files."""
        return self.rank == 0

    def deal(self, batch: Batch) -> Batch:
        """This worker's share of a batch. Gold problems cost less, and are dealt by themselves."""
        if self.size == 1:
            return batch
        by_cost = batch.has_gold.int().argsort(stable=True)
        return batch.take(by_cost[self.rank :: self.size])

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

    def share(self, memory: Memory, rows: Tensor) -> None:
        """What every worker remembers of its rows, each being one worker's, is remembered by all."""
        if self.size == 1:
            return
        others = torch.ones(len(memory.scores), dtype=torch.bool, device=memory.scores.device)
        others[rows] = False
        memory.paths[others] = 0
        memory.scores[others] = 0.0
        for tensor in (memory.paths.view(torch.uint8), memory.scores):  # gloo does not add int16
            dist.all_reduce(tensor)
