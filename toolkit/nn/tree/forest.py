"""Known trees as training reads them: all nodes of one level of all trees go through the network together.

Shapes: N trees with M nodes, of B texts. A level is a grid [texts, width]: a row for each text, with its
nodes of that depth in the first cells. The grid has no more rows than it needs if the texts with the deepest
trees come first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Merge:
    """Operators of one height whose subtrees are needed; their children are lower."""

    nodes: Tensor  # [n]
    left: Tensor  # [n]
    right: Tensor  # [n]


@dataclass(frozen=True)
class Level:
    """The n nodes of one depth; s of them are operators, whose children are the next level."""

    texts: int
    width: int
    nodes: Tensor  # [n]
    cells: Tensor  # [n] where they are in the grid: row * width + column
    room: Tensor  # [texts, width] whether an operator would have had room here
    operators: Tensor  # [s] nodes
    split: Tensor  # [s] their cells
    left: Tensor  # [s] their left children
    children: Tensor  # [2s] cells of the next level: of left children, then of right ones


@dataclass(frozen=True)
class Forest:
    """N whole trees as M nodes, in the order of their prefixes."""

    owner: Tensor  # [N] the text of a tree
    tree: Tensor  # [M] the tree of a node
    token: Tensor  # [M]
    merges: Sequence[Merge]  # each after those below it
    levels: Sequence[Level]  # the first one has the roots, in the order of their texts

    @staticmethod
    def of(
        prefixes: Sequence[Sequence[int]],
        owner: Sequence[int],
        operators: int,
        longest: int,
        device: torch.device,
    ) -> "Forest":
        """The trees of complete prefixes, none longer than `longest`; owner [N] is the text of each."""
        shapes = [_shape(tuple(prefix), operators, longest) for prefix in prefixes]
        sizes = np.array([len(prefix) for prefix in prefixes])
        tree = np.repeat(np.arange(len(prefixes)), sizes)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        token, left, right, depth, height, room = (
            np.concatenate(parts) for parts in zip(*shapes, strict=True)
        )
        left, right, text = left + first, right + first, np.asarray(owner)[tree]

        def tensor(values: npt.NDArray[np.generic]) -> Tensor:
            return torch.from_numpy(values).to(device)

        merges = [
            Merge(tensor(nodes), tensor(left[nodes]), tensor(right[nodes]))
            for nodes in (np.flatnonzero(height == h) for h in range(1, height.max(initial=0) + 1))
        ]
        grids = [_grid(np.flatnonzero(depth == d), text) for d in range(depth.max(initial=-1) + 1)]
        cell = np.zeros_like(token)
        for grid in grids:
            cell[grid.nodes] = grid.cells
        levels = []
        for grid in grids:
            has_room = np.ones(grid.texts * grid.width, dtype=np.bool_)
            has_room[grid.cells] = room[grid.nodes]
            split = grid.nodes[token[grid.nodes] < operators]
            levels.append(
                Level(
                    grid.texts,
                    grid.width,
                    tensor(grid.nodes),
                    tensor(grid.cells),
                    tensor(has_room.reshape(grid.texts, grid.width)),
                    tensor(split),
                    tensor(cell[split]),
                    tensor(left[split]),
                    tensor(np.concatenate([cell[left[split]], cell[right[split]]])),
                )
            )
        return Forest(tensor(np.asarray(owner)), tensor(tree), tensor(token), merges, levels)


def depth_of(prefix: Sequence[int], operators: int) -> int:
    """How many levels a tree has."""
    return int(_shape(tuple(prefix), operators, len(prefix)).depth.max()) + 1


class _Shape(NamedTuple):
    """One tree; nodes are named by their positions."""

    token: Ints
    left: Ints  # 0 for a leaf, likewise:
    right: Ints
    depth: Ints
    height: Ints  # of an operator whose subtree is needed, otherwise 0
    room: npt.NDArray[np.bool_]


@lru_cache(maxsize=2**16)
def _shape(prefix: tuple[int, ...], operators: int, longest: int) -> _Shape:
    """Only a left subtree is needed, with all that it consists of: the goal beside it asks for it."""
    size = len(prefix)
    left, right, height, depth = [0] * size, [0] * size, [0] * size, [0] * size
    waiting: list[int] = []  # subtrees that a parent further left waits for
    for node in reversed(range(size)):
        if prefix[node] < operators:
            left[node], right[node] = waiting.pop(), waiting.pop()
            height[node] = 1 + max(height[left[node]], height[right[node]])
        waiting.append(node)
    room, is_needed, missing = [], [False] * size, 1
    for node in range(size):
        room.append(missing + 2 <= longest - node)
        missing += 1 if prefix[node] < operators else -1
        if prefix[node] < operators:
            depth[left[node]] = depth[right[node]] = depth[node] + 1
            is_needed[left[node]], is_needed[right[node]] = True, is_needed[node]
    height = [h if needed else 0 for h, needed in zip(height, is_needed, strict=True)]
    tables = np.array([prefix, left, right, depth, height], dtype=np.int64)
    return _Shape(tables[0], tables[1], tables[2], tables[3], tables[4], np.array(room, dtype=np.bool_))


class _Grid(NamedTuple):
    texts: int
    width: int
    nodes: Ints
    cells: Ints


def _grid(nodes: Ints, text: Ints) -> _Grid:
    """Nodes in the order of their texts, and where they are in a grid that holds them all."""
    nodes = nodes[np.argsort(text[nodes], kind="stable")]
    rows = text[nodes]
    columns = np.arange(len(nodes)) - np.searchsorted(rows, rows)
    width = int(columns.max()) + 1
    return _Grid(int(rows[-1]) + 1, width, nodes, rows * width + columns)
