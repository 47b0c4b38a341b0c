"""Trees of a given length, written greedily, and the distribution that each of their tokens was chosen from.

Tree regularisation (Hong et al. 2021): a prefix of l tokens has at most (l - 1) / 2 operators; its first
token is an operator and its last one an operand; before the last, there are never more operands than
operators. So its tree is closed by its last token, and by none before.

Shapes: B texts, K trees of each, T positions, V tokens [operators | constants | numbers].
"""

from typing import NamedTuple

import torch
from torch import Tensor

from toolkit.nn.tree.beam import GrowingTrees
from toolkit.nn.tree.decoder import Source, TreeDecoder

LENGTHS = (-1, 1, 3)  # tokens beyond 2n for n numbers, in the order in which they are tried
SHORTEST = 3  # one operator
NONE = -1  # after the end of a prefix


class Decoded(NamedTuple):
    tokens: Tensor  # [B, T], NONE after the end
    scores: Tensor  # [B, T, V] log-probabilities of the tokens that may stand there


def tree_lengths(counts: Tensor, more: int, longest: int) -> Tensor:
    """The length 2n + `more` for n numbers [B], within what a tree can have."""
    return (2 * counts + more).clamp(SHORTEST, longest - (longest + 1) % 2)


@torch.no_grad()
def decode(decoder: TreeDecoder, source: Source, lengths: Tensor) -> Decoded:
    """The likeliest token at each position of prefixes of these lengths [B], all odd."""
    longest = int(lengths.max())
    trees = GrowingTrees(decoder, source, 1, longest)
    first = torch.zeros_like(lengths).unsqueeze(1)
    tokens, every = [], []
    for position in range(longest):
        left = lengths - position
        scores = trees.next_scores(trees.missing + 2 <= left).squeeze(1)
        would_close = (trees.missing == 1) & (left > 1)
        scores[:, decoder.operators :].masked_fill_(would_close.unsqueeze(1), -torch.inf)
        scores = scores.log_softmax(-1)
        token = scores.argmax(-1)
        tokens.append(token.masked_fill(trees.done, NONE))
        every.append(scores)
        trees.advance(first, token.unsqueeze(1))
    return Decoded(torch.stack(tokens, 1), torch.stack(every, 1))


@torch.no_grad()
def node_scores(decoder: TreeDecoder, source: Source, prefixes: Tensor, longest: int) -> Tensor:
    """Log-probabilities [B, K, T, V] of the tokens that could stand in prefixes [B, K, T].

    They mean nothing after the end of a prefix, nor if it has only NONE because a text has fewer trees.
    """
    size, width, length = prefixes.shape
    trees = GrowingTrees(decoder, source, width, longest)
    itself = torch.arange(width, device=prefixes.device).expand(size, -1)
    prefixes = torch.where(prefixes == NONE, decoder.operators, prefixes)  # an operand: such a tree is closed
    every = []
    for position in range(length):
        every.append(trees.next_scores())
        trees.advance(itself, prefixes[:, :, position])
    return torch.stack(every, 2)
