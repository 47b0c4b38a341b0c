"""Graph2Tree (Zhang et al. 2020): GTS whose words are linked to the numbers by two graphs.

- The quantity cell graph joins each number with the words around it. The paper takes them from a parser;
  here they are the words of a window, which works for any language.
- The quantity comparison graph has an edge from each number to every smaller one, so that the order of the
  values is known though the values are masked.

Each head is a graph convolution of two layers over one of the graphs (Kipf and Welling 2017); heads are
concatenated, then added and normalised, as in the paper.
"""

import torch
from torch import Tensor, nn

from toolkit.nn.batches import Batch
from toolkit.nn.linear import Linear
from toolkit.nn.network import NetworkConfig
from toolkit.nn.tokens import Tokens
from toolkit.nn.tree.gts import GtsNetwork

WINDOW = 3  # words on each side that belong to a number
HEADS = 4  # half of them for each graph


class GraphHead(nn.Module):
    """Two layers of graph convolution: A · relu(A · X W1) W2."""

    def __init__(self, hidden: int, size: int, dropout: float) -> None:
        super().__init__()
        self.first, self.second = Linear(hidden, hidden), Linear(hidden, size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, graph: Tensor) -> Tensor:
        inner = self.dropout(torch.relu(graph @ self.first(states)))
        out: Tensor = graph @ self.second(inner)
        return out


class Graph2TreeNetwork(GtsNetwork):
    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        h = config.hidden
        self.heads = nn.ModuleList(GraphHead(h, h // HEADS, config.dropout) for _ in range(HEADS))
        self.join = Linear(h // HEADS * HEADS, h)
        self.feed = nn.Sequential(Linear(h, h), nn.ReLU(), nn.Dropout(config.dropout), Linear(h, h))
        self.norm_graph, self.norm_forward = nn.LayerNorm(h), nn.LayerNorm(h)

    def encode(self, batch: Batch) -> tuple[Tensor, Tensor]:
        states, last = super().encode(batch)
        graphs = (cell_graph(batch), comparison_graph(batch))
        heads = [head(states, graphs[i % 2]) for i, head in enumerate(self.heads)]
        states = self.norm_graph(states + self.join(torch.cat(heads, -1)))
        states = self.norm_forward(states + self.feed(states))
        is_word = torch.arange(states.shape[1], device=states.device) < batch.lengths.unsqueeze(1)
        best = states.masked_fill(~is_word.unsqueeze(-1), -torch.inf).amax(1)
        return states, last + best


def cell_graph(batch: Batch) -> Tensor:
    """[B, L, L]: every number with the words of its window, both ways."""
    positions = torch.arange(batch.tokens.shape[1], device=batch.tokens.device)
    near = (positions.unsqueeze(0) - positions.unsqueeze(1)).abs() <= WINDOW
    number = batch.is_number
    return _normalised(near & (number.unsqueeze(1) | number.unsqueeze(2)), batch)


def comparison_graph(batch: Batch) -> Tensor:
    """[B, L, L]: from every number to the smaller ones."""
    size, length = batch.tokens.shape
    values = batch.values[:, -batch.n :]
    exists = torch.arange(batch.n, device=values.device) < batch.counts.unsqueeze(1)
    larger = (values.unsqueeze(2) > values.unsqueeze(1)) & exists.unsqueeze(1) & exists.unsqueeze(2)
    problem, greater, smaller = larger.nonzero(as_tuple=True)
    graph = torch.zeros(size, length, length, dtype=torch.bool, device=values.device)
    graph[problem, batch.positions[problem, greater], batch.positions[problem, smaller]] = True
    return _normalised(graph, batch)


def _normalised(edges: Tensor, batch: Batch) -> Tensor:
    """Rows that add up to 1, each word joined with itself; padding joined with nothing else."""
    length = batch.tokens.shape[1]
    is_word = torch.arange(length, device=edges.device) < batch.lengths.unsqueeze(1)
    edges = edges & is_word.unsqueeze(1) & is_word.unsqueeze(2)
    edges = edges | torch.eye(length, dtype=torch.bool, device=edges.device)
    weights = edges.float()
    return weights / weights.sum(-1, keepdim=True)
