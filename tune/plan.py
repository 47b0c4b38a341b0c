"""The trials of a sweep.

A grid and random draws are decided by the configuration alone, before any trial is run. With `search: tpe`
settings are proposed one by one (tune/propose.py), and the trials are those of the proposals so far.
"""

import itertools
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.methods.warm import WarmNoBeam
from toolkit.methods.warm.config import WarmConfig
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
    def setting(self) -> str:
        return describe(self.keys)


def describe(keys: Mapping[str, Any]) -> str:
    """A setting in words: "gold 0.05, beam_width 5"."""
    return ", ".join(f"{short(key)} {written(value)}" for key, value in keys.items())


def short(key: str) -> str:
    return key.rpartition(".")[2]


def written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def trials(config: TuneConfig, proposed: Sequence[dict[str, Any]] = ()) -> list[Trial]:
    """All trials in order, cut to the budget.

    In a grid or random search all settings come with the first seed first, so that a sweep that is cut short
    has tried each of them. A proposed setting is tried with all seeds before the next.
    """
    if config.search == "tpe":
        for key, span in config.space.items():
            for value in span.choice or (span.low, span.high):
                apply(config.base, {key: value})  # an invalid value is refused before anything runs
        tried = [(keys, apply(config.base, keys)) for keys in proposed]
        pairs = [(seed, setting) for setting in tried for seed in config.seeds]
    else:
        pairs = list(itertools.product(config.seeds, _distinct(config, _settings(config))))
    planned = [
        Trial(number, keys, seed, applied.model_copy(update={"seed": seed}))
        for number, (seed, (keys, applied)) in enumerate(pairs, 1)
    ]
    return planned[: config.budget.trials]


def proposals(config: TuneConfig) -> int:
    """How many trials a sweep with proposed settings has when it is complete."""
    settings = config.draws
    if not any(span.is_range for span in config.space.values()):
        settings = min(settings, len(_distinct(config, _grid(config))))
    return min(settings * len(config.seeds), config.budget.trials or sys.maxsize)


def longest(config: TuneConfig) -> int:
    """The epochs of the longest trial."""
    tried = [config.base]
    for key, span in config.space.items():
        if key == "method" or key.rpartition(".")[2] == "epochs":
            tried += [apply(config.base, {key: value}) for value in span.choice or (span.high,)]
    return max(setting.step_one.epochs(setting.method_settings) for setting in tried)


def apply(base: LoopConfig, keys: dict[str, Any]) -> LoopConfig:
    """The configuration with new values for some keys."""
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
        raise WarmkitError(f"space: {describe(keys)}: {first['msg']} ({first['input']!r}).") from None


def explores(config: LoopConfig) -> bool:
    """Whether training explores more than the path it samples."""
    settings = config.method_settings
    if not isinstance(settings, WarmConfig):
        return True
    explore = settings.explore
    return (
        config.method != WarmNoBeam.name
        and explore.beam_exploration
        and (explore.beam_width > 1 or explore.lookahead)
    )


def canonical(config: LoopConfig) -> str:
    """A text that is equal for equivalent configurations: without exploration a beam has no width."""
    if not explores(config):
        same = {"beam_exploration": False, "lookahead": False, "beam_width": 1}
        config = apply(config, {f"warm.explore.{key}": value for key, value in same.items()})
    return config.model_dump_json()


def _distinct(
    config: TuneConfig, settings: Iterable[dict[str, Any]]
) -> list[tuple[dict[str, Any], LoopConfig]]:
    """Settings with their configurations; of equivalent ones, the first."""
    found: dict[str, tuple[dict[str, Any], LoopConfig]] = {}
    for keys in settings:
        applied = apply(config.base, keys)
        found.setdefault(canonical(applied), (keys, applied))
    return list(found.values())


def _settings(config: TuneConfig) -> Iterator[dict[str, Any]]:
    if config.search == "grid":
        return _grid(config)
    return itertools.islice(draws(config.space, np.random.default_rng(config.seed)), config.draws)


def _grid(config: TuneConfig) -> Iterator[dict[str, Any]]:
    for values in itertools.product(*(span.choice for span in config.space.values())):
        yield dict(zip(config.space, values, strict=True))


def draws(space: Mapping[str, Span], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Random settings, without end."""
    while True:
        yield {key: _draw(span, rng) for key, span in space.items()}


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
