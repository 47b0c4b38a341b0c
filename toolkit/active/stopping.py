"""When to stop asking: rules on what is known after each round."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pydantic import Field

from toolkit.config import Section


class StopConfig(Section):
    """What ends a run. A rule whose key is null is off; an empty pool always ends it."""

    budget: int | None = Field(
        None, ge=0, le=1_000_000_000, description="problems that annotators settle, in all"
    )
    rounds: int | None = Field(5, ge=1, le=100_000, description="rounds of asking")
    kappa: float | None = Field(
        0.99, ge=-1, le=1, description="agreement of successive models (Bloodgood and Vijay-Shanker 2009)"
    )
    kappa_rounds: int = Field(
        2, ge=1, le=100_000, description="rounds that kappa is averaged over: one may be chance"
    )
    uncertainty: float | None = Field(None, ge=0, le=1_000, description="mean uncertainty of what is left")
    plateau_rounds: int | None = Field(None, ge=1, le=100_000, description="rounds that gained nothing")
    plateau_gain: float = Field(
        0.005, ge=0, le=1, description="what counts as nothing: half a point of a share"
    )


@dataclass(frozen=True)
class Progress:
    """What is known at one time. A history begins before anybody is asked; each round adds one entry."""

    labels: int  # problems that annotators have settled
    pool: int  # problems that may still be asked
    predictions: Sequence[Hashable] = ()  # top class (None: unsolved) of each of a set that stays the same
    uncertainty: float | None = None  # mean over the pool
    figure: float | None = None  # more is better: accuracy, or the share of answers reached


@dataclass(frozen=True)
class Stop:
    rule: str
    sentence: str


def why_stop(history: Sequence[Progress], config: StopConfig) -> Stop | None:
    """The first rule that says stop, in this order: pool, budget, rounds, kappa, uncertainty, plateau."""
    if not history:
        return None
    for name, rule in RULES.items():
        sentence = rule(history, config)
        if sentence is not None:
            return Stop(name, sentence)
    return None


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Agreement of two models on the same problems beyond chance (Cohen 1960): 1 is full, 0 is chance.

    1 if both give the same single class to everything, for which the formula is undefined.
    """
    if len(first) != len(second) or len(first) == 0:
        raise ValueError("kappa takes two lists over the same problems, of which there is at least one")
    size = len(first)
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / size
    counts = Counter(second)
    chance = sum(count * counts[klass] for klass, count in Counter(first).items()) / (size * size)
    return 1.0 if chance == 1 else (agreed - chance) / (1 - chance)


def _pool_empty(history: Sequence[Progress], config: StopConfig) -> str | None:
    return "There is no problem left to ask about." if history[-1].pool == 0 else None


def _budget(history: Sequence[Progress], config: StopConfig) -> str | None:
    if config.budget is None or history[-1].labels < config.budget:
        return None
    return f"Annotators settled {history[-1].labels} problems, of a budget of {config.budget}."


def _rounds(history: Sequence[Progress], config: StopConfig) -> str | None:
    rounds = len(history) - 1
    if config.rounds is None or rounds < config.rounds:
        return None
    return f"Annotators were asked in {rounds} rounds, as many as were wanted."


def _kappa(history: Sequence[Progress], config: StopConfig) -> str | None:
    """Successive models agree (Bloodgood & Vijay-Shanker 2009): the last kappas are high, in the mean."""
    if config.kappa is None:
        return None
    compared = [
        (before.predictions, after.predictions)
        for before, after in pairwise(history)
        # A model that learnt from nothing new agrees with the last one, and so do two that solve nothing.
        if after.labels > before.labels and any(klass is not None for klass in after.predictions)
    ]
    if len(compared) < config.kappa_rounds:
        return None
    mean = sum(cohen_kappa(*pair) for pair in compared[-config.kappa_rounds :]) / config.kappa_rounds
    if mean < config.kappa:
        return None
    return (
        f"Successive models agree: the mean kappa of the last {config.kappa_rounds} is {mean:.3f}, "
        f"at least {config.kappa:g}."
    )


def _uncertainty(history: Sequence[Progress], config: StopConfig) -> str | None:
    """The pool has little to teach (overall uncertainty: Zhu et al. 2008)."""
    mean = history[-1].uncertainty
    if config.uncertainty is None or mean is None or mean >= config.uncertainty:
        return None
    return f"The model is sure of what is left: mean uncertainty {mean:.3f}, below {config.uncertainty:g}."


def _plateau(history: Sequence[Progress], config: StopConfig) -> str | None:
    """The best of the last rounds is hardly better than the best before them."""
    figures = [progress.figure for progress in history if progress.figure is not None]
    last = config.plateau_rounds
    if last is None or len(figures) <= last:
        return None
    gain = max(figures[-last:]) - max(figures[:-last])
    if gain > config.plateau_gain:
        return None
    return f"The last {last} rounds gained {max(gain, 0):.4f}, no more than {config.plateau_gain:g}."


RULES: dict[str, Callable[[Sequence[Progress], StopConfig], str | None]] = {
    "pool": _pool_empty,
    "budget": _budget,
    "rounds": _rounds,
    "kappa": _kappa,
    "uncertainty": _uncertainty,
    "plateau": _plateau,
}
