"""The goal-driven tree decoder of GTS (Xie and Sun 2019), for many trees at once.

A tree is written as its prefix. Every node has a goal; the token of a node is chosen from its goal and the
text; an operator splits its goal in two: the left goal at once, the right one when the left subtree is
complete and its embedding is known. In training the tokens are given, and all nodes of one level of all trees
go through the network together (`log_prob`). Beam search takes the same parts one position after the other
(`toolkit.nn.tree.beam`).

Shapes: B texts, K nodes or beams of each, V tokens [operators | constants | numbers], L words, H units.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from toolkit.nn.attention import Attention
from toolkit.nn.dropout import Dropout
from toolkit.nn.linear import Linear
from toolkit.nn.tree.forest import Forest


@dataclass(frozen=True)
class Source:
    """What the decoder reads."""

    states: Tensor  # [B, L, H] of the encoder
    padding: Tensor  # [B, L] True beyond the end of a text
    root: Tensor  # [B, H] the first goal
    tokens: Tensor  # [B, V, H] embeddings of all tokens
    allowed: Tensor  # [B, V] whether there is such a token (numbers that the problem has)
    token_keys: Tensor  # [B, V, H] what scoring compares a goal with

    def rows(self, rows: Tensor | slice) -> "Source":
        return Source(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})


class Gated(nn.Module):
    """tanh(W x) * σ(U x)."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.both = Linear(size, 2 * hidden)

    def forward(self, *parts: Tensor) -> Tensor:
        content, gate = self.both(torch.cat(parts, -1)).chunk(2, -1)
        return torch.tanh(content) * torch.sigmoid(gate)


class TreeDecoder(nn.Module):
    """The attention is a scaled dot product (Vaswani et al. 2017), where Xie and Sun add and take a tanh."""

    def __init__(self, hidden: int, operators: int, dropout: float) -> None:
        super().__init__()
        h = hidden
        self.operators = operators
        self.attend = Attention(h)  # contexts [B, K, H] of goals [B, K, H]
        self.score_goal, self.score_token = Linear(2 * h, h), Linear(h, h, bias=False)
        self.score = Linear(h, 1, bias=False)
        self.left_goal, self.right_goal = Gated(3 * h, h), Gated(4 * h, h)
        self.merge = Gated(3 * h, h)
        self.dropout = Dropout(dropout)

    def source(
        self, states: Tensor, padding: Tensor, root: Tensor, tokens: Tensor, allowed: Tensor
    ) -> Source:
        """What is the same at every node is multiplied once."""
        token_keys = self.score_token(self.dropout(tokens))
        return Source(states, padding, root, tokens, allowed, token_keys)

    def scores(self, source: Source, goals: Tensor, contexts: Tensor, room: Tensor) -> Tensor:
        """Log-probabilities [B, K, V] of the tokens of nodes [B, K, H]; `room` [B, K]: for an operator.

        An operator needs two more operands: there is no room if those that are missing fill what is left.
        """
        query = self.score_goal(torch.cat([goals, self.dropout(contexts)], -1)).unsqueeze(2)
        logits = self.score(torch.tanh(query + source.token_keys.unsqueeze(1))).squeeze(-1)
        forbidden = ~source.allowed.unsqueeze(1).repeat(1, goals.shape[1], 1)
        forbidden[:, :, : self.operators] |= ~room.unsqueeze(-1)
        scores: Tensor = logits.masked_fill(forbidden, -torch.inf).log_softmax(-1)
        return scores

    def log_prob(self, source: Source, forest: Forest) -> Tensor:
        """Log-probabilities [N] of the trees of a forest, whose texts are those of the source.

        What beam search computes one position after the other is computed here level by level, since all
        tokens are known: the subtrees that are needed from the leaves up, then goals from the roots down.
        """
        size, h = source.tokens.shape[1], source.root.shape[-1]
        chosen = forest.owner[forest.tree] * size + forest.token
        embedding = source.tokens.flatten(0, 1).index_select(0, chosen)
        subtree = embedding
        for merge in forest.merges:
            parts = (embedding, merge.nodes), (subtree, merge.left), (subtree, merge.right)
            merged = self.merge(*(values.index_select(0, nodes) for values, nodes in parts))
            subtree = subtree.index_copy(0, merge.nodes, merged)
        found = []
        goal, cells = source.root.index_select(0, forest.owner.sort(stable=True)[0]), forest.levels[0].cells
        for level in forest.levels:
            grid = goal.new_zeros(level.texts * level.width, h).index_copy(0, cells, self.dropout(goal))
            goals, texts = grid.view(level.texts, level.width, h), source.rows(slice(level.texts))
            contexts = self.attend(texts, goals)
            scores = self.scores(texts, goals, contexts, level.room).flatten()
            found.append(scores.index_select(0, level.cells * size + forest.token[level.nodes]))
            parents = (
                grid.index_select(0, level.split),
                contexts.flatten(0, 1).index_select(0, level.split),
                embedding.index_select(0, level.operators),
            )
            sibling = subtree.index_select(0, level.left)
            goal = torch.cat([self.left_goal(*parents), self.right_goal(*parents, sibling)])
            cells = level.children
        trees = forest.tree[torch.cat([level.nodes for level in forest.levels])]
        return source.root.new_zeros(len(forest.owner)).index_add(0, trees, torch.cat(found))
