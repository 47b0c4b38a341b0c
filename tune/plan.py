"""Which trials a sweep consists of: decided by its configuration alone, before any of them is run."""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from tune.config import GOLD, Span, TuneConfig


@dataclass(frozen=True)
class Trial:
    number: int  # from 1 on
    keys: dict[str, Any]  # what is varied
    seed: int
    config: LoopConfig

    @property
    def name(self) -> str:
        return f"trial-{self.number:03d}"

    @property
    def told(self) -> str:
        return told(self.keys)


def told(keys: Mapping[str, Any]) -> str:
    """A setting in words: "gold 0.05, beam_width 5"."""
    return ", ".join(f"{short(key)} {written(value)}" for key, value in keys.items())


def short(key: str) -> str:
    return key.rpartition(".")[2]


def written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def trials(config: TuneConfig) -> list[Trial]:
    """All settings with the first seed come first, so that a sweep that is cut short has seen each."""
    settings: dict[str, tuple[dict[str, Any], LoopConfig]] = {}
    for keys in _settings(config):
        applied = apply(config.base, keys)
        settings.setdefault(_canonical(applied), (keys, applied))
    pairs = itertools.product(config.seeds, settings.values())
    planned = [
        Trial(number, keys, seed, applied.model_copy(update={"seed": seed}))
        for number, (seed, (keys, applied)) in enumerate(pairs, 1)
    ]
    return planned[: config.budget.trials]


def apply(base: LoopConfig, keys: dict[str, Any]) -> LoopConfig:
    """The configuration with other values of some keys."""
    values = base.model_dump(mode="json")
    for key, value in keys.items():
        *sections, name = ("known" if key == GOLD else key).split(".")
        inner = values
        for section in sections:
            inner = inner[section]
        inner[name] = value
    try:
        return LoopConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise WarmkitError(f"space: {told(keys)}: {first['msg']} ({first['input']!r}).") from None


def explores(config: LoopConfig) -> bool:
    """Whether training explores more than the one path it samples."""
    explore = config.warm.explore
    return explore.beam_exploration and (explore.beam_width > 1 or explore.lookahead)


def _canonical(config: LoopConfig) -> str:
    """Equal for configurations that come to the same: without exploration a beam has no width."""
    if not explores(config):
        same = {"beam_exploration": False, "lookahead": False, "beam_width": 1}
        config = apply(config, {f"warm.explore.{key}": value for key, value in same.items()})
    return config.model_dump_json()


def _settings(config: TuneConfig) -> Iterator[dict[str, Any]]:
    if config.search == "grid":
        for values in itertools.product(*(span.choice for span in config.space.values())):
            yield dict(zip(config.space, values, strict=True))
        return
    rng = np.random.default_rng(config.seed)
    for _ in range(config.draws):
        yield {key: _draw(span, rng) for key, span in config.space.items()}


def _draw(span: Span, rng: np.random.Generator) -> Any:
    if not span.is_range:
        return span.choice[int(rng.integers(len(span.choice)))]
    low, high = span.low, span.high
    assert low is not None and high is not None
    whole = isinstance(low, int) and isinstance(high, int)
    if span.log:
        value = math.exp(rng.uniform(math.log(low), math.log(high + whole)))
    else:
        value = rng.uniform(low, high + whole)
    return min(math.floor(value), high) if whole else value
