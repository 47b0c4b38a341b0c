"""The best paths found so far for each problem.

REINFORCE forgets a reward as soon as the next path is sampled. With a memory every path that ever reached
the answer takes part in the loss, as much as the policy believes in it now (memory-augmented policy
optimisation: Liang et al. 2018; maximum marginal likelihood: Guu et al. 2017). The paper has none.
"""

import torch
from torch import Tensor

from toolkit.methods.warm.explore import FoundPaths
from toolkit.methods.warm.paths import path_hash

MOST_IN_A_BYTE = 255  # codes, beside the one that stands for no step


class Memory:
    """Up to `size` different paths for each of N problems, most probable first.

    `codes` is how many codes of operands and operators there are (`Layout`): if they are few, a path takes
    a byte for each. 0 stands for no step.
    """

    def __init__(
        self, problems: int, size: int, longest: int, device: torch.device, codes: int = 2**14
    ) -> None:
        dtype = torch.uint8 if codes <= MOST_IN_A_BYTE else torch.int16
        self.paths = torch.zeros((problems, size, longest, 3), dtype=dtype, device=device)
        self.scores = torch.full((problems, size), -torch.inf, device=device)  # log-probability, last seen

    @property
    def tensors(self) -> dict[str, Tensor]:
        """What a checkpoint keeps."""
        return {"paths": self.paths, "scores": self.scores}

    @property
    def size(self) -> int:
        return self.scores.shape[1]

    def recall(self, rows: Tensor) -> Tensor:
        """Paths [B, size, T, 3] in codes."""
        return self.paths[rows].long() - 1

    def rescore(self, rows: Tensor, scores: Tensor) -> None:
        self.scores[rows] = scores

    def forget(self, rows: Tensor) -> None:
        self.paths[rows] = 0
        self.scores[rows] = -torch.inf

    def put(self, rows: Tensor, columns: Tensor, paths: Tensor, scores: Tensor) -> None:
        """Remember paths (in codes) in these rows and columns, whatever was there."""
        device = self.scores.device
        self.paths[rows, columns] = (paths + 1).to(device, self.paths.dtype)
        self.scores[rows, columns] = scores.to(device)

    def add(self, rows: Tensor, found: FoundPaths) -> None:
        """Remember paths (in codes); found.problem counts within rows."""
        if not len(found.problem):
            return
        new_paths, new_scores = _by_problem(found, len(rows), self.size)
        paths = torch.cat([self.recall(rows), new_paths], 1)
        scores = torch.cat([self.scores[rows], new_scores], 1)
        # Equal paths lie side by side once sorted by hash; a stable sort keeps the remembered one first.
        digests, order = path_hash(paths).sort(dim=1, stable=True)
        repeated = torch.zeros_like(order, dtype=torch.bool)
        repeated[:, 1:] = digests[:, 1:] == digests[:, :-1]
        scores = scores.gather(1, order).masked_fill(repeated, -torch.inf)
        kept, best = scores.topk(self.size, 1)
        chosen = order.gather(1, best)[..., None, None].expand(-1, -1, *paths.shape[2:])
        nothing = kept.isinf()[..., None, None]
        self.paths[rows] = (paths.gather(1, chosen).masked_fill(nothing, -1) + 1).to(self.paths.dtype)
        self.scores[rows] = kept


def _by_problem(found: FoundPaths, problems: int, most: int) -> tuple[Tensor, Tensor]:
    """The rows of `found` as [problems, most, T, 3] and their scores, the most probable of each problem."""
    order = found.log_prob.argsort(descending=True, stable=True)
    order = order[found.problem[order].argsort(stable=True)]
    problem = found.problem[order]
    counts = torch.bincount(problem, minlength=problems)
    rank = torch.arange(len(order), device=order.device) - (counts.cumsum(0) - counts)[problem]
    kept = rank < most
    problem, rank, order = problem[kept], rank[kept], order[kept]
    paths = found.paths.new_full((problems, most, *found.paths.shape[1:]), -1)
    scores = found.log_prob.new_full((problems, most), -torch.inf)
    paths[problem, rank] = found.paths[order]
    scores[problem, rank] = found.log_prob[order]
    return paths, scores
