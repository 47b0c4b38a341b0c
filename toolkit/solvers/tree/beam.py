"""Beam search over whole trees, for a batch of problems at once."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from toolkit.solvers.tree.decoder import Source, TreeDecoder


class Beam(NamedTuple):
    """A complete tree."""

    prefix: list[int]
    log_prob: float


def beam_search(decoder: TreeDecoder, source: Source, width: int, longest: int) -> list[list[Beam]]:
    """The complete trees of each problem, likeliest first."""
    size, device = len(source.root), source.root.device
    wide = source.rows(torch.arange(size, device=device).repeat_interleave(width))
    trees = decoder.start(wide, longest)
    prefix = torch.full((size * width, longest), -1, device=device)
    total = torch.full((size, width), -torch.inf, device=device)
    total[:, 0] = 0.0  # all beams are the same at first
    first = (torch.arange(size, device=device) * width).unsqueeze(1)
    for at in range(longest):
        scores, context = decoder.next_scores(wide, trees, longest - at)
        waits = torch.full_like(scores, -torch.inf)
        waits[:, 0] = 0.0  # a complete tree goes on as it is
        scores = torch.where(trees.done.unsqueeze(1), waits, scores)
        tokens = scores.shape[1]
        total, chosen = (total.unsqueeze(-1) + scores.view(size, width, tokens)).flatten(1).topk(width, 1)
        rows = (first + chosen // tokens).flatten()
        token = (chosen % tokens).flatten()
        trees, prefix = trees.rows(rows), prefix[rows]
        prefix[:, at] = torch.where(trees.done, -1, token)
        trees = decoder.advance(wide, trees, context[rows], token)
        if trees.done.all():
            break
    total = total.masked_fill(~trees.done.view(size, width), -torch.inf)
    return _ranked(prefix.view(size, width, longest), total)


def _ranked(prefix: Tensor, total: Tensor) -> list[list[Beam]]:
    order = total.argsort(dim=1, descending=True, stable=True)
    return [
        [
            Beam([token for token in prefixes[i] if token >= 0], totals[i])
            for i in ranks
            if totals[i] > -math.inf
        ]
        for prefixes, ranks, totals in zip(prefix.tolist(), order.tolist(), total.tolist(), strict=True)
    ]
