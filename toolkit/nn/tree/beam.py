"""Beam search over whole trees, for a batch of problems at once.

All beams of a batch are at the same position of their prefixes. A beam is a stack of operators that wait
for operands; the goal, the context and the left subtree of an operator stay where they were computed, and the
stack has their places, so that nothing but integers is copied when beams are chosen.

Shapes: B texts, K beams of each, N = B · K beams, T positions, D operators that wait, V tokens, H units.
"""

import math

import torch
from torch import Tensor

from toolkit.nn.network import HOPELESS, Beam
from toolkit.nn.tree.decoder import Source, TreeDecoder


def beam_search(decoder: TreeDecoder, source: Source, width: int, longest: int) -> list[list[Beam]]:
    """The complete trees of each problem, likeliest first."""
    size, device = len(source.root), source.root.device
    trees = GrowingTrees(decoder, source, width, longest)
    prefix = torch.full((size, width, longest), -1, device=device)
    total = torch.full((size, width), -torch.inf, device=device)
    total[:, 0] = 0.0  # all beams are the same at first
    found: list[list[Beam]] = [[] for _ in range(size)]
    texts = torch.arange(size, device=device)  # those that are not finished
    for at in range(longest):
        scores = trees.next_scores()
        done = trees.done.view(-1, width)
        waits = torch.full_like(scores, -torch.inf)
        waits[..., 0] = 0.0  # a complete tree goes on as it is
        scores = torch.where(done.unsqueeze(-1), waits, scores)
        tokens = scores.shape[-1]
        total, chosen = (total.unsqueeze(-1) + scores).flatten(1).topk(width, 1)
        beam, token = chosen // tokens, chosen % tokens
        prefix = prefix.gather(1, beam.unsqueeze(-1).expand(-1, -1, longest))
        prefix[:, :, at] = torch.where(done.gather(1, beam), -1, token)
        trees.advance(beam, token)
        done = trees.done.view(-1, width)
        best = total.masked_fill(~done, -torch.inf).amax(1, keepdim=True)
        given_up = ~done & (total < best - HOPELESS)
        total = total.masked_fill(given_up, -torch.inf)
        trees.done |= given_up.flatten()
        finished = trees.done.view(-1, width).all(1) | (at + 1 == longest)
        if finished.any():
            whole = total[finished].masked_fill(~done[finished], -torch.inf)
            ranked = _ranked(prefix[finished], whole)
            for text, beams in zip(texts[finished].tolist(), ranked, strict=True):
                found[text] = beams
            left = (~finished).nonzero().squeeze(1)
            if not len(left):
                break
            texts, prefix, total = texts[left], prefix[left], total[left]
            trees.keep(left)
    return found


def _ranked(prefix: Tensor, total: Tensor) -> list[list[Beam]]:
    order = total.argsort(dim=1, descending=True, stable=True)
    return [
        [
            Beam(tuple(token for token in prefixes[i] if token >= 0), totals[i])
            for i in ranks
            if totals[i] > -math.inf
        ]
        for prefixes, ranks, totals in zip(prefix.tolist(), order.tolist(), total.tolist(), strict=True)
    ]


class GrowingTrees:
    """N trees, written up to the same position."""

    def __init__(self, decoder: TreeDecoder, source: Source, width: int, longest: int) -> None:
        self.decoder, self.source, self.width, self.longest = decoder, source, width, longest
        (texts, h), device = source.root.shape, source.root.device
        self.size = texts * width  # of all trees, finished or not
        self.at = 0
        self.embedding = source.tokens.flatten(0, 1)  # [B · V, H]
        self.first = torch.arange(texts, device=device) * source.tokens.shape[1]  # of a text's embeddings
        self.goal = source.root.repeat_interleave(width, 0)  # [N, H] of the node that comes next
        # Computed at position t for tree i: row t · size + i.
        self.goals, self.contexts, self.subtrees = source.root.new_empty(3, longest * self.size, h)
        # Stacks [N, D]: rows of goals and contexts, of embeddings, of left subtrees (-1: not complete).
        self.parent, self.operator, self.left = torch.full(
            (3, self.size, (longest + 1) // 2), -1, device=device
        )
        self.depth = torch.zeros(self.size, dtype=torch.long, device=device)  # [N] of the stack
        self.missing = self.depth + 1  # [N] operands
        self.done = self.depth > 0  # [N]

    def next_scores(self, room: Tensor | None = None) -> Tensor:
        """Log-probabilities [B, K, V] of the next token; `room` [N]: for an operator, if not by `longest`."""
        goals = self.goal.view(-1, self.width, self.goal.shape[-1])
        contexts = self.decoder.attend(self.source, goals)
        here = slice(self.at * self.size, self.at * self.size + len(self.goal))
        self.goals[here], self.contexts[here] = self.goal, contexts.flatten(0, 1)
        if room is None:
            room = self.missing + 2 <= self.longest - self.at
        return self.decoder.scores(self.source, goals, contexts, room.view(-1, self.width))

    def advance(self, beam: Tensor, token: Tensor) -> None:
        """Each tree becomes that of a beam [B, K] with one more token [B, K]; complete trees stay."""
        texts = torch.arange(len(beam), device=beam.device).unsqueeze(1)
        rows = (texts * self.width + beam).flatten()
        self._take(rows)
        here = self.at * self.size + rows  # where the goal and the context of the token are
        embedded = (self.first.unsqueeze(1) + token).flatten()
        is_operator = (token.flatten() < self.decoder.operators) & ~self.done
        is_leaf = ~is_operator & ~self.done
        self.missing += is_operator.long() - is_leaf.long()
        self.goal = torch.zeros_like(self.goal)
        self._split(is_operator.nonzero().squeeze(1), here, embedded)
        self._close(is_leaf.nonzero().squeeze(1), embedded)
        self.at += 1

    def keep(self, texts: Tensor) -> None:
        """Go on with these texts alone."""
        beams = torch.arange(self.width, device=texts.device)
        self.source, self.first = self.source.rows(texts), self.first[texts]
        rows = (texts.unsqueeze(1) * self.width + beams).flatten()
        self._take(rows)
        self.goal = self.goal[rows]

    def _take(self, rows: Tensor) -> None:
        self.parent, self.operator, self.left = self.parent[rows], self.operator[rows], self.left[rows]
        self.depth, self.missing, self.done = self.depth[rows], self.missing[rows], self.done[rows]

    def _split(self, trees: Tensor, here: Tensor, embedded: Tensor) -> None:
        """An operator waits for its operands; the left one comes next."""
        parent, operator, top = here[trees], embedded[trees], self.depth[trees]
        self.parent[trees, top], self.operator[trees, top], self.left[trees, top] = parent, operator, -1
        self.depth[trees] += 1
        self.goal[trees] = self.decoder.left_goal(
            self.goals[parent], self.contexts[parent], self.embedding[operator]
        )

    def _close(self, trees: Tensor, embedded: Tensor) -> None:
        """A leaf completes itself and every subtree that it is the last node of; a right operand follows."""
        subtree = self.embedding[embedded[trees]]
        climbing = torch.arange(len(trees), device=trees.device)
        while True:
            tree = trees[climbing]
            top = self.depth[tree] - 1
            left = torch.where(top >= 0, self.left[tree, top.clamp(min=0)], -1)
            is_right = left >= 0
            climbing, tree, top, left = climbing[is_right], tree[is_right], top[is_right], left[is_right]
            if not len(climbing):
                break
            operator = self.embedding[self.operator[tree, top]]
            subtree[climbing] = self.decoder.merge(operator, self.subtrees[left], subtree[climbing])
            self.depth[tree] -= 1
        self.done[trees] = self.depth[trees] == 0
        waits = self.depth[trees] > 0
        trees, subtree = trees[waits], subtree[waits]
        top, place = self.depth[trees] - 1, self.at * self.size + trees
        self.subtrees[place], self.left[trees, top] = subtree, place
        parent, operator = self.parent[trees, top], self.operator[trees, top]
        self.goal[trees] = self.decoder.right_goal(
            self.goals[parent], self.contexts[parent], self.embedding[operator], subtree
        )
