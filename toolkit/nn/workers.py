"""Workers that train one network together: each takes its shard of every batch, and gradients are summed.

A global batch is that of one worker, drawn by the same seed. Gradients are sums over problems, divided by the
size of the global batch: if nothing is drawn at random (dropout, exploration) the weights are those of one
worker up to the order of additions.

A worker owns its rows for the whole run (`own_rows`), with what was found for them: all of them need not fit
in one process. A batch falls to the workers as chance has it, and all wait for the last.

torch's DistributedDataParallel is not used: it wraps one `forward`, averages instead of adding, and hangs
if a rank has nothing to learn from in a batch, because none of its problems was reached.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class WorkerGroup:
    """Rank `rank` of `world_size`, in the process group of torch; by default the only worker."""

    rank: int = 0
    world_size: int = 1

    @property
    def is_rank_zero(self) -> bool:
        """Whether this worker is the one that writes files."""
        return self.rank == 0

    def owned(self, count: int) -> range:
        """The rows that this rank owns, of so many: every `world_size`-th, in whatever order they come."""
        return range(self.rank, count, self.world_size)

    def is_own(self, rows: Tensor) -> Tensor:
        """Which of some rows [B] of the whole set this rank owns [B]."""
        return rows % self.world_size == self.rank

    def own_rows(self, rows: Tensor) -> Tensor:
        """Of some rows of the whole set, those that this rank owns, as rows among its own."""
        if self.world_size == 1:
            return rows
        return rows[self.is_own(rows)] // self.world_size

    def draw_differently(self, seed: int, epoch: int) -> int | None:
        """Let torch draw other numbers (dropout) on this rank; rank zero draws as if it were alone.

        Returns the seed of this rank, None for rank zero.
        """
        if self.is_rank_zero:
            return None
        own = (seed * 1_000_003 + epoch + self.rank * 7_000_003) % 2**63
        torch.manual_seed(own)
        return own

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> bool:
        """Replace every gradient by its sum over the ranks; return whether there is any."""
        trained = list(parameters)
        if self.world_size == 1:
            return any(parameter.grad is not None for parameter in trained)
        first = trained[0]
        has = torch.tensor([parameter.grad is not None for parameter in trained], device=first.device)
        flat = [
            torch.zeros_like(parameter) if parameter.grad is None else parameter.grad for parameter in trained
        ]
        summed = torch.cat([has.to(first.dtype), *(grad.flatten() for grad in flat)])
        dist.all_reduce(summed)
        counts, *grads = summed.split([len(trained), *(parameter.numel() for parameter in trained)])
        for parameter, count, grad in zip(trained, counts.tolist(), grads, strict=True):
            parameter.grad = grad.view_as(parameter) if count else None
        return bool(counts.any())

    def sum(self, *figures: float) -> list[float]:
        """Each figure summed over the ranks."""
        if self.world_size == 1:
            return list(figures)
        summed = torch.tensor(figures, dtype=torch.float64)
        if dist.get_backend() == "nccl":
            summed = summed.cuda()
        dist.all_reduce(summed)
        return [float(figure) for figure in summed]


ALONE = WorkerGroup()
