"""WARM and WARM-S as methods of step one."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypedDict

from toolkit.config import Section
from toolkit.data import ProblemSet
from toolkit.equations import Constant
from toolkit.methods.base import (
    DEFAULT_OPTIONS,
    FitInput,
    FitOptions,
    Floats,
    GenerateConfig,
    Generated,
    nothing,
)
from toolkit.methods.neural import Neural
from toolkit.methods.prepared import PreparedInput
from toolkit.methods.warm.config import WarmConfig

if TYPE_CHECKING:
    import torch

    from toolkit.methods.warm.policy import Policy


class Follow(TypedDict):
    """Of `generate`."""

    width: int
    lookahead: bool


class Warm(Neural["Policy"]):
    """A trained policy with its vocabulary."""

    name = "warm"
    section = "warm"
    Config = WarmConfig
    distributed = True
    learns_in_parts = True
    config: WarmConfig

    @property
    def policy(self) -> "Policy":
        return self.network

    @classmethod
    def new_network(cls, words: int, constants: tuple[Constant, ...], config: Section) -> "Policy":
        from toolkit.methods.warm.paths import Layout
        from toolkit.methods.warm.policy import Policy

        model = cls.settings(config).model
        return Policy(words, Layout(constants, model.operators), model)

    @classmethod
    def settings(cls, config: Section) -> WarmConfig:
        """The settings that this method trains with."""
        assert isinstance(config, WarmConfig)
        return config

    @classmethod
    def epochs(cls, config: Section) -> int:
        return cls.settings(config).train.epochs

    @classmethod
    def warm_started(cls, config: Section, epochs: int) -> WarmConfig:
        settings = cls.settings(config)
        changed = {"epochs": epochs, "temperature": 1.0}  # the model that it starts from has made up its mind
        return settings.model_copy(update={"train": settings.train.model_copy(update=changed)})

    @classmethod
    def fit(cls, data: FitInput, folder: Path | None = None, options: FitOptions = DEFAULT_OPTIONS) -> Self:
        from toolkit.methods.warm.train import train

        return train(cls, data, folder, options)

    @classmethod
    def fit_prepared(
        cls, data: PreparedInput, folder: Path | None = None, options: FitOptions = DEFAULT_OPTIONS
    ) -> Self:
        from toolkit.methods.warm.train import train

        return train(cls, data, folder, options)

    def candidates(
        self,
        problems: ProblemSet,
        settings: GenerateConfig,
        *,
        device: "torch.device | None" = None,
        on_batch: Callable[[int], object] = nothing,
    ) -> list[Generated]:
        from toolkit.methods.warm.generate import generate

        follow, searched = self.follow(settings), self.searched(settings)
        return generate(self, problems, searched=searched, device=device, on_batch=on_batch, **follow)

    def searched(self, settings: GenerateConfig) -> int:
        """Operators of exhaustive search. Without what it found the posterior would lack what was learnt."""
        return self.config.train.search if settings.search is None else settings.search

    @classmethod
    def follow(cls, settings: GenerateConfig) -> Follow:
        """Which paths generation follows."""
        return {"width": settings.width, "lookahead": True}

    def states(self, problems: ProblemSet) -> Floats:
        from toolkit.methods.warm.generate import encoder_states

        return encoder_states(self, problems)

    def draw(self, problems: ProblemSet, settings: GenerateConfig, seed: int) -> list[Generated]:
        """Dropout stays on: another seed is another draw of the policy."""
        from toolkit.methods.warm.generate import generate

        searched = self.searched(settings)
        return generate(self, problems, width=settings.width, searched=searched, dropout_seed=seed)


class WarmNoBeam(Warm):
    """WARM without beam exploration (paper, section 5.4): one path is sampled, whatever the settings say.

    There is no beam in generation either: the likeliest path is followed.
    """

    name = "warm_no_beam"

    @classmethod
    def settings(cls, config: Section) -> WarmConfig:
        config = super().settings(config)
        explore = config.explore.model_copy(update={"beam_exploration": False})
        return config.model_copy(update={"explore": explore})

    @classmethod
    def follow(cls, settings: GenerateConfig) -> Follow:
        return {"width": 1, "lookahead": False}
