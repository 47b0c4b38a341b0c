"""The hybrid model with SNI (DNS; Wang et al. 2017, "Deep Neural Solver for Math Word Problems").

An LSTM writes the equation under rules that forbid what can be no equation, and a classifier tells the
numbers of the text that matter (significant number identification); the others can't be written. Problems
that are very much like one that was learnt take its equation: the key `retrieval`.

Here the rules are those of a postfix, where DNS writes an infix. The classifier shares the reader, where DNS
trains an LSTM of its own; what it learns is which numbers the equation uses, as published.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from toolkit.nn.batches import Batch
from toolkit.nn.linear import Linear
from toolkit.nn.network import NetworkConfig, Text
from toolkit.nn.tokens import Tokens
from toolkit.solvers.networks.lstm import LstmNetwork


class DnsNetwork(LstmNetwork):
    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        self.significance = Linear(config.hidden, 1)

    def log_prob(
        self, batch: Batch, prefixes: Sequence[Sequence[int]], owner: Sequence[int], longest: int
    ) -> Tensor:
        """That of the numbers that matter, and of the equation over them."""
        text = self.read(batch)
        written, row, column = self.grid(prefixes, owner, text.allowed)
        first = self.tokens.first_number
        is_used = torch.zeros(len(prefixes), batch.n, dtype=torch.bool)
        for i, prefix in enumerate(prefixes):
            is_used[i, [token - first for token in prefix if token >= first]] = True
        logits = self._significant(text)[row]
        each = functional.logsigmoid(torch.where(is_used.to(logits.device), logits, -logits))
        of_numbers = (each * text.allowed[row, first:]).sum(-1)
        return self.log_prob_of(text, written, longest)[row, column] + of_numbers

    def narrowed(self, text: Text) -> Text:
        """Only the numbers that matter can be written; if none does, all can."""
        first = self.tokens.first_number
        numbers = text.allowed[:, first:]
        matter = numbers & (self._significant(text) > 0)
        kept = torch.where(matter.any(1, keepdim=True), matter, numbers)
        return replace(text, allowed=torch.cat([text.allowed[:, :first], kept], 1))

    def _significant(self, text: Text) -> Tensor:
        """Logits [B, n] of each number."""
        logits: Tensor = self.significance(text.tokens[:, self.tokens.first_number :]).squeeze(-1)
        return logits
