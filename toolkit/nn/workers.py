"""Workers that train one network together: each takes its shard of every batch, and gradients are summed.

A global batch is that of one worker, drawn by the same seed, and is sharded evenly: all wait for the last,
and a shard of 134 instead of 128 problems would cost 5 %. So a problem may meet another rank in the next
epoch, and what was found goes to all ranks after each epoch. Gradients are sums over problems, divided by the
size of the global batch: if nothing is drawn at random (dropout, exploration) the weights are those of one
worker up to the order of additions.

torch's DistributedDataParallel is not used: it wraps one `forward`, averages instead of adding, and hangs
if a rank has nothing to learn from in a batch, because none of its problems was reached.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from toolkit.nn.batches import Batch


@dataclass(frozen=True)
class WorkerGroup:
    """Rank `rank` of `world_size`, in the process group of torch; by default the only worker."""

    rank: int = 0
    world_size: int = 1

    @property
    def is_rank_zero(self) -> bool:
        """Whether this worker is the one that writes files."""
        return self.rank == 0

    def shard(self, batch: Batch, is_cheap: Tensor) -> Batch:
        """This rank's shard of a batch. Problems [B] that cost less are sharded by themselves."""
        if self.world_size == 1:
            return batch
        by_cost = is_cheap.int().argsort(stable=True)
        return batch.take(self.own(by_cost))

    def own(self, rows: Tensor) -> Tensor:
        """Every `world_size`-th of the rows: neighbours, which cost about the same, go to different ranks."""
        return rows[self.rank :: self.world_size]

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

    def share_rows(self, tensors: Sequence[Tensor], rows: Tensor) -> None:
        """Copy the rows of each rank to all ranks, in these tensors; each row belongs to one rank."""
        if self.world_size == 1:
            return
        others = torch.ones(len(tensors[0]), dtype=torch.bool, device=tensors[0].device)
        others[rows] = False
        for tensor in tensors:
            tensor[others] = 0
            # gloo does not add int16; no two ranks have the same row, so bytes can be added
            dist.all_reduce(tensor.view(torch.uint8) if tensor.dtype == torch.int16 else tensor)


ALONE = WorkerGroup()
