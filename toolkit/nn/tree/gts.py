"""GTS (Xie and Sun 2019): a GRU encoder and the goal-driven tree decoder."""

from collections.abc import Sequence

import torch
from torch import Tensor

from toolkit.nn.batches import Batch
from toolkit.nn.network import Beam, EquationNetwork, NetworkConfig
from toolkit.nn.tokens import Tokens
from toolkit.nn.tree.beam import beam_search
from toolkit.nn.tree.decoder import Source, TreeDecoder
from toolkit.nn.tree.forest import Forest


class GtsNetwork(EquationNetwork):
    """The last state of the text is the first goal."""

    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        self.decoder = TreeDecoder(config.hidden, len(tokens.operators), config.decoder_dropout)

    def source(self, batch: Batch) -> Source:
        text = self.read(batch)
        return self.decoder.source(text.states, text.padding, text.last, text.tokens, text.allowed)

    def log_prob(
        self, batch: Batch, prefixes: Sequence[Sequence[int]], owner: Sequence[int], longest: int
    ) -> Tensor:
        operators, device = len(self.tokens.operators), batch.tokens.device
        return self.decoder.log_prob(
            self.source(batch), Forest.of(prefixes, owner, operators, longest, device)
        )

    @torch.no_grad()
    def beams(self, batch: Batch, width: int, longest: int) -> list[list[Beam]]:
        return beam_search(self.decoder, self.source(batch), width, longest)
