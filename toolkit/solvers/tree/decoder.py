"""The goal-driven tree decoder of GTS (Xie and Sun 2019), for many trees at once.

A tree is written as its prefix. Every node has a goal; the token of a node is chosen from its goal and the
text; an operator splits its goal in two: the left goal at once, the right one when the left subtree is
complete and its embedding is known. All trees of a batch stand at the same position of their prefixes, so
one step of the network serves them all in beam search. In training the tokens are given, and all nodes of
one level of all trees go through the network together.

Shapes: N trees (or beams), T positions, V tokens [operators | constants | numbers], L words, H units.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Source:
    """What the decoder reads."""

    states: Tensor  # [N, L, H] of the encoder
    padding: Tensor  # [N, L] True beyond the end of a text
    root: Tensor  # [N, H] the first goal
    tokens: Tensor  # [N, V, H] embeddings of all tokens
    allowed: Tensor  # [N, V] whether there is such a token (numbers that the problem has)
    text_keys: Tensor  # [N, L, H] what attention compares a goal with
    token_keys: Tensor  # [N, V, H] what scoring compares a goal with

    def rows(self, rows: Tensor) -> "Source":
        return Source(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class Trees:
    """N trees, written up to the same position. Nodes are named by their positions."""

    goal: Tensor  # [N, H] of the node that comes next
    goals: Tensor  # [N, t, H] of the nodes before, likewise:
    contexts: Tensor  # [N, t, H]
    embeddings: Tensor  # [N, t, H] of their tokens
    subtrees: Tensor  # [N, T, H] embeddings of complete subtrees
    parent: Tensor  # [N, T]
    is_right: Tensor  # [N, T]
    left_child: Tensor  # [N, T]
    done: Tensor  # [N] whether the tree is complete
    open: Tensor  # [N] how many operands are still missing

    def rows(self, rows: Tensor) -> "Trees":
        return Trees(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class Forest:
    """N whole trees as M nodes, in the order of their prefixes."""

    tree: Tensor  # [M] the tree that a node belongs to
    token: Tensor  # [M]
    left: Tensor  # [M] the left child, -1 for a leaf; likewise:
    right: Tensor  # [M]
    room: Tensor  # [M] whether an operator would have had room here
    roots: Tensor  # [N]
    merges: Sequence[Tensor]  # operators by height: each after those below it

    @staticmethod
    def of(prefixes: Sequence[Sequence[int]], operators: int, longest: int, device: torch.device) -> "Forest":
        """The trees of complete prefixes, none longer than `longest`."""
        nodes: list[tuple[int, int, bool]] = []
        left, right, roots = [], [], []
        heights: dict[int, list[int]] = {}
        for tree, prefix in enumerate(prefixes):
            first = len(nodes)
            roots.append(first)
            open_ = 1
            for at, token in enumerate(prefix):
                nodes.append((tree, token, open_ + 2 <= longest - at))
                open_ += 1 if token < operators else -1
            left += [-1] * len(prefix)
            right += [-1] * len(prefix)
            waiting: list[tuple[int, int]] = []  # subtrees that a parent further left waits for
            for node in range(len(nodes) - 1, first - 1, -1):
                height = 0
                if nodes[node][1] < operators:
                    (left[node], low), (right[node], high) = waiting.pop(), waiting.pop()
                    height = 1 + max(low, high)
                    heights.setdefault(height, []).append(node)
                waiting.append((node, height))

        def ints(values: Sequence[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.long, device=device)

        return Forest(
            ints([tree for tree, _, _ in nodes]),
            ints([token for _, token, _ in nodes]),
            ints(left),
            ints(right),
            torch.tensor([room for _, _, room in nodes], device=device),
            ints(roots),
            [ints(heights[height]) for height in sorted(heights)],
        )


class Gated(nn.Module):
    """tanh(W x) * σ(U x)."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.both = nn.Linear(size, 2 * hidden)

    def forward(self, *parts: Tensor) -> Tensor:
        content, gate = self.both(torch.cat(parts, -1)).chunk(2, -1)
        return torch.tanh(content) * torch.sigmoid(gate)


class TreeDecoder(nn.Module):
    def __init__(self, hidden: int, operators: int, dropout: float) -> None:
        super().__init__()
        h = hidden
        self.operators = operators
        self.attend_goal, self.attend_text = nn.Linear(h, h), nn.Linear(h, h, bias=False)
        self.attend_score = nn.Linear(h, 1, bias=False)
        self.score_goal, self.score_token = nn.Linear(2 * h, h), nn.Linear(h, h, bias=False)
        self.score = nn.Linear(h, 1, bias=False)
        self.left_goal, self.right_goal = Gated(3 * h, h), Gated(4 * h, h)
        self.merge = Gated(3 * h, h)
        self.dropout = nn.Dropout(dropout)

    def source(
        self, states: Tensor, padding: Tensor, root: Tensor, tokens: Tensor, allowed: Tensor
    ) -> Source:
        """What is the same at every node is multiplied once."""
        token_keys = self.score_token(self.dropout(tokens))
        return Source(states, padding, root, tokens, allowed, self.attend_text(states), token_keys)

    def start(self, source: Source, longest: int) -> Trees:
        n, h = source.root.shape
        nothing = source.root.new_zeros(n, 0, h)
        zeros = torch.zeros(n, longest, dtype=torch.long, device=source.root.device)
        return Trees(
            goal=source.root,
            goals=nothing,
            contexts=nothing,
            embeddings=nothing,
            subtrees=source.root.new_zeros(n, longest, h),
            parent=zeros - 1,
            is_right=zeros.bool(),
            left_child=zeros,
            done=zeros[:, 0].bool(),
            open=zeros[:, 0] + 1,
        )

    def attend(self, source: Source, goal: Tensor) -> Tensor:
        """The context [N, H] of a goal [N, H]: the part of the text that it asks for."""
        energy = self.attend_score(torch.tanh(source.text_keys + self.attend_goal(goal).unsqueeze(1)))
        weights = energy.squeeze(-1).masked_fill(source.padding, -torch.inf).softmax(-1)
        context: Tensor = (weights.unsqueeze(1) @ source.states).squeeze(1)
        return context

    def scores(self, source: Source, goals: Tensor, contexts: Tensor, room: Tensor) -> Tensor:
        """Log-probabilities [N, t, V] of the tokens of t nodes [N, t, H]; `room` [N, t]: for an operator."""
        query = self.score_goal(torch.cat([goals, self.dropout(contexts)], -1)).unsqueeze(2)
        logits = self.score(torch.tanh(query + source.token_keys.unsqueeze(1))).squeeze(-1)
        allowed = source.allowed.unsqueeze(1).repeat(1, goals.shape[1], 1)
        allowed[:, :, : self.operators] &= room.unsqueeze(-1)
        scores: Tensor = logits.masked_fill(~allowed, -torch.inf).log_softmax(-1)
        return scores

    def next_scores(self, source: Source, trees: Trees, left: int) -> tuple[Tensor, Tensor]:
        """Log-probabilities [N, V] of the next token, and the context [N, H]; `left` positions remain.

        An operator needs two more operands: there is no room if the missing ones already fill what is left.
        """
        context = self.attend(source, trees.goal)
        room = (trees.open + 2 <= left).unsqueeze(1)
        scores = self.scores(source, trees.goal.unsqueeze(1), context.unsqueeze(1), room)
        return scores.squeeze(1), context

    def advance(self, source: Source, trees: Trees, context: Tensor, token: Tensor) -> Trees:
        """The trees with one more token [N] each; complete trees stay as they are."""
        at = trees.goals.shape[1]
        embedding = _take(source.tokens, token)
        is_operator = (token < self.operators) & ~trees.done
        grown = replace(
            trees,
            goals=torch.cat([trees.goals, trees.goal.unsqueeze(1)], 1),
            contexts=torch.cat([trees.contexts, context.unsqueeze(1)], 1),
            embeddings=torch.cat([trees.embeddings, embedding.unsqueeze(1)], 1),
            open=trees.open + torch.where(trees.done, 0, torch.where(is_operator, 1, -1)),
        )
        grown = self._close(grown, at, (~is_operator) & ~trees.done, embedding)
        if at + 1 == grown.parent.shape[1]:
            return grown
        return self._next_goal(grown, at, is_operator)

    def _close(self, trees: Trees, at: int, is_leaf: Tensor, embedding: Tensor) -> Trees:
        """A leaf completes itself and every subtree that it is the last node of."""
        leaf = torch.full_like(trees.open, at)
        subtrees = _put(trees.subtrees, leaf, embedding, is_leaf)
        node, climbing = leaf, is_leaf
        done = trees.done
        for _ in range(at + 1):
            is_root = _pick(trees.parent, node) < 0
            done = done | (climbing & is_root)
            climbing = climbing & ~is_root & _pick(trees.is_right, node)
            if not climbing.any():
                break
            parent = _pick(trees.parent, node).clamp(min=0)
            left = _take(subtrees, _pick(trees.left_child, parent))
            merged = self.merge(_take(trees.embeddings, parent), left, _take(subtrees, node))
            subtrees = _put(subtrees, parent, merged, climbing)
            node = torch.where(climbing, parent, node)
        # If the climb ended below the root, at a left child, its parent's right child comes next.
        waiting = torch.where(is_leaf & ~done, _pick(trees.parent, node), -1)
        trees = replace(trees, subtrees=subtrees, done=done)
        if at + 1 < trees.parent.shape[1]:
            parent_next, right_next = trees.parent.clone(), trees.is_right.clone()
            parent_next[:, at + 1] = torch.where(waiting >= 0, waiting, at)
            right_next[:, at + 1] = waiting >= 0
            trees = replace(trees, parent=parent_next, is_right=right_next)
        return trees

    def _next_goal(self, trees: Trees, at: int, is_operator: Tensor) -> Trees:
        """The goal of the next node: left child of the last operator, or right child of an older one."""
        left_child = trees.left_child.clone()
        left_child[:, at] = torch.where(is_operator, at + 1, left_child[:, at])
        parent = trees.parent[:, at + 1].clamp(min=0)
        goal, context = _take(trees.goals, parent), _take(trees.contexts, parent)
        embedding = _take(trees.embeddings, parent)
        sibling = _take(trees.subtrees, _pick(left_child, parent))
        left = self.left_goal(goal, context, embedding)
        right = self.right_goal(goal, context, embedding, sibling)
        return replace(trees, goal=torch.where(is_operator.unsqueeze(1), left, right), left_child=left_child)

    def log_prob(self, source: Source, forest: Forest, owner: Tensor) -> Tensor:
        """Log-probabilities [N] of the trees of a forest; owner [N] is the row of each text in the source.

        What the steps of beam search compute one position after the other is computed here level by level,
        since all tokens are known: subtrees from the leaves up, then goals from the roots down.
        """
        text = owner[forest.tree]
        embedding = source.tokens[text, forest.token]
        subtree = embedding
        for nodes in forest.merges:
            merged = self.merge(embedding[nodes], subtree[forest.left[nodes]], subtree[forest.right[nodes]])
            subtree = subtree.index_copy(0, nodes, merged)
        nodes = forest.roots
        goal = source.root[owner]
        goals, contexts, order = [], [], []
        while len(nodes):
            goal = self.dropout(goal)
            context = self.attend(source.rows(text[nodes]), goal)
            goals.append(goal)
            contexts.append(context)
            order.append(nodes)
            splits = (forest.left[nodes] >= 0).nonzero().squeeze(1)
            parents = nodes[splits]
            known = goal[splits], context[splits], embedding[parents]
            sibling = subtree[forest.left[parents]]
            goal = torch.cat([self.left_goal(*known), self.right_goal(*known, sibling)])
            nodes = torch.cat([forest.left[parents], forest.right[parents]])
        nodes = torch.cat(order)
        scores = self.scores(
            source.rows(text[nodes]),
            torch.cat(goals).unsqueeze(1),
            torch.cat(contexts).unsqueeze(1),
            forest.room[nodes].unsqueeze(1),
        )
        chosen = scores.squeeze(1).gather(1, forest.token[nodes].unsqueeze(1)).squeeze(1)
        return source.root.new_zeros(len(owner)).index_add(0, forest.tree[nodes], chosen)


def _take(values: Tensor, index: Tensor) -> Tensor:
    """values [N, K, H] at index [N] → [N, H]."""
    return values.gather(1, index[:, None, None].expand(-1, 1, values.shape[-1])).squeeze(1)


def _pick(values: Tensor, index: Tensor) -> Tensor:
    """values [N, T] at index [N] → [N]."""
    return values.gather(1, index.unsqueeze(1)).squeeze(1)


def _put(values: Tensor, index: Tensor, new: Tensor, where: Tensor) -> Tensor:
    """values [N, T, H] with new [N, H] at index [N], in the rows that `where` selects."""
    kept = torch.where(where.unsqueeze(1), new, _take(values, index))
    return values.scatter(1, index[:, None, None].expand(-1, 1, values.shape[-1]), kept.unsqueeze(1))
