"""What the convolutional network and the transformer share: what they are fed with, and how they ask."""

from typing import TypeVar

import torch
from torch import Tensor, nn

from toolkit.nn.network import NetworkConfig, Text
from toolkit.nn.sequence import SequenceNetwork
from toolkit.nn.tokens import Tokens
from toolkit.solvers.networks.lstm import Query, embedded

State = TypeVar("State", bound=tuple[Tensor, ...])


class FedNetwork(SequenceNetwork[State]):
    """Before the first token it is fed with the text as a whole, then with each token that is written."""

    def __init__(self, words: int, tokens: Tokens, config: NetworkConfig) -> None:
        super().__init__(words, tokens, config)
        self.start, self.ask = nn.Parameter(torch.zeros(config.hidden)), Query(config.hidden, config.hidden)

    def first(self, text: Text, width: int) -> Tensor:
        """What comes before the first token [B, K, H]."""
        return (text.last + self.start).unsqueeze(1).expand(-1, width, -1)

    def fed(self, text: Text, written: Tensor) -> Tensor:
        """What comes before each token [B, K, T, H] of equations [B, K, T]."""
        width = written.shape[1]
        known = embedded(text, written[:, :, :-1].flatten(1)).unflatten(1, (width, -1))
        return torch.cat([self.first(text, width).unsqueeze(2), known], 2)
