"""T-RNN (Wang et al. 2019, "Template-Based Math Word Problem Solvers with Recursive Neural Networks").

An LSTM writes a template whose operators are left open, so that there are few templates. Then a recursive
network goes up the tree from its leaves, and tells the operator of each node from what is below it. Problems
that are very much like one that was learnt take its equation: the key `retrieval`.

The reader is WARM's GRU, and a number is read by its state there. Where the paper has self-attention among
the words, an operator is chosen by what is below it and by what that attends to in the text. Beams have the
likeliest operators of a template, and those that differ from them in one.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from toolkit.nn.attention import Attention
from toolkit.nn.batches import Batch
from toolkit.nn.linear import Linear
from toolkit.nn.network import Beam, NetworkConfig, Text
from toolkit.nn.sequence import NONE, postfix_of, prefix_of
from toolkit.nn.tokens import Tokens
from toolkit.solvers.networks.lstm import LstmNetwork, embedded
from toolkit.solvers.networks.stack import Stack

OPEN = 0  # an operator of a template


class TRnnNetwork(LstmNetwork):
    """What the LSTM writes has a single operator, `OPEN`."""

    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        h = config.hidden
        self.merge = nn.Sequential(Linear(2 * h, h), nn.Tanh())
        self.look = Attention(h)
        self.choose = Linear(2 * h, len(tokens.operators))

    @property
    def operators(self) -> int:
        return 1

    @property
    def _shift(self) -> int:
        """By how much the number of an operand is smaller in a template."""
        return len(self.tokens.operators) - 1

    def read(self, batch: Batch) -> Text:
        text, first = super().read(batch), len(self.tokens.operators)
        return replace(
            text,
            tokens=torch.cat([text.tokens[:, :1], text.tokens[:, first:]], 1),
            allowed=torch.cat([text.allowed[:, :1], text.allowed[:, first:]], 1),
        )

    def written(self, prefix: Sequence[int]) -> list[int]:
        return [max(OPEN, token - self._shift) for token in self._postfix(prefix)]

    def _postfix(self, prefix: Sequence[int]) -> list[int]:
        return postfix_of(prefix, len(self.tokens.operators))

    def log_prob(
        self, batch: Batch, prefixes: Sequence[Sequence[int]], owner: Sequence[int], longest: int
    ) -> Tensor:
        """That of the template, and of its operators."""
        text = self.read(batch)
        written, row, column = self.grid(prefixes, owner, text.allowed)
        operator = torch.full((len(prefixes), written.shape[2]), NONE)
        for i, prefix in enumerate(prefixes):
            postfix = torch.tensor(self._postfix(prefix))
            operator[i, : len(postfix)] = torch.where(postfix <= self._shift, postfix, NONE)
        each = self._operator_scores(text, written)[row, column]  # [N, T, operators]
        operator = operator.to(each.device)
        chosen = each.gather(2, operator.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        of_operators = torch.where(operator != NONE, chosen, 0.0).sum(-1)
        return self.log_prob_of(text, written, longest)[row, column] + of_operators

    @torch.no_grad()
    def beams(self, batch: Batch, width: int, longest: int) -> list[list[Beam]]:
        """The likeliest templates, with their likeliest operators or with one other."""
        text = self.read(batch)
        written, total = self.search(text, width, longest)
        is_open = written == OPEN
        likely, operator = self._operator_scores(text, written).topk(2)  # [B, K, T, 2]
        likeliest = total + torch.where(is_open, likely[..., 0], 0.0).sum(-1)
        loss = torch.where(is_open, likely[..., 0] - likely[..., 1], torch.inf)  # of the other operator
        every = likeliest.unsqueeze(-1) - torch.cat([torch.zeros_like(loss[..., :1]), loss], -1)
        best, place = every.flatten(1).topk(min(width, every[0].numel()))
        template, changed = place // every.shape[2], place % every.shape[2] - 1  # -1: none
        shifted = torch.where(written > OPEN, written + self._shift, written)
        first, second = (torch.where(is_open, operator[..., rank], shifted) for rank in (0, 1))
        rows = torch.arange(len(place), device=place.device).unsqueeze(1)
        is_changed = nn.functional.one_hot(changed + 1, every.shape[2])[..., 1:].bool()
        whole = torch.where(is_changed, second[rows, template], first[rows, template])
        return [self.ranked(*both) for both in zip(whole.tolist(), best.tolist(), strict=True)]

    def prefix(self, written: Sequence[int]) -> tuple[int, ...]:
        tokens = [token for token in written if token != NONE]
        return prefix_of(tokens[:-1], len(self.tokens.operators))

    def _operator_scores(self, text: Text, written: Tensor) -> Tensor:
        """Log-probabilities [B, K, T, operators] of the operators of templates [B, K, T]; elsewhere any."""
        tokens = written.clamp(0, text.tokens.shape[1] - 1)
        stack = Stack.empty(embedded(text, tokens[:, :, 0]), (written.shape[2] + 1) // 2 + 1)
        found = []
        for token in tokens.unbind(2):
            merged = self.merge(torch.cat([stack.top(1), stack.top()], -1))
            found.append(merged)
            stack = stack.reduced(token == OPEN, embedded(text, token), merged)
        below = torch.stack(found, 2)
        seen = self.look(text, below.flatten(1, 2)).view(below.shape)
        scores: Tensor = self.choose(self.dropout(torch.cat([below, seen], -1))).log_softmax(-1)
        return scores
