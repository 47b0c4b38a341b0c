"""A method with a network and a vocabulary: how it is saved and loaded. No pickle anywhere.

model.json            configuration, vocabulary, what it was trained on, figures of each epoch
weights.safetensors   the network
training.safetensors  network, optimiser and what else training needs: what `resume` goes on from
memory-*.safetensors  WARM: what each worker remembers of the problems that it owns
"""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from toolkit.config import Section
from toolkit.data import Vocabulary
from toolkit.data.vocabulary import described_vocabulary
from toolkit.equations import Constant
from toolkit.methods.base import Epoch, ModelDescription, Origin, StepOne

if TYPE_CHECKING:
    import torch
    from torch import nn

Network = TypeVar("Network", bound="nn.Module")


class NeuralDescription(ModelDescription):
    vocabulary: list[str]


class Neural(StepOne, Generic[Network]):
    Description = NeuralDescription

    def __init__(
        self,
        network: Network,
        vocabulary: Vocabulary,
        config: Section,
        origin: Origin,
        history: Sequence[Epoch] = (),
    ) -> None:
        super().__init__(config, origin, history)
        self.network, self.vocabulary = network, vocabulary

    @classmethod
    @abstractmethod
    def new_network(cls, words: int, constants: tuple[Constant, ...], config: Section) -> Network:
        """A network with first weights, for so many words and these constants."""

    def save(self, folder: Path) -> None:
        from toolkit.nn.weights import save_weights

        save_weights(folder / "weights.safetensors", self.network.state_dict())
        self.describe(folder, vocabulary=self.vocabulary.words)

    @classmethod
    def load(cls, folder: Path, device: "torch.device | None" = None) -> Self:
        from toolkit.nn.weights import load_network

        written, config, origin, history = cls.described(folder)
        vocabulary = described_vocabulary(folder / "model.json", "model", written["vocabulary"])
        network = load_network(
            folder / "weights.safetensors",
            lambda: cls.new_network(len(vocabulary), origin.constants, config),
        )
        network.to(device or "cpu").eval()
        return cls(network, vocabulary, config, origin, history)
