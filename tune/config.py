"""A sweep as keys: a configuration of the loop, which all trials share, and the keys that vary."""

import difflib
import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from toolkit.config import Section, Seed, full_key, known_keys
from toolkit.loop.config import PLUGINS, LoopConfig

GOLD = "gold"  # LoopConfig calls it `known`, because annotators add to it
# A trial reads the sections of methods and solvers and a few single keys, and no other key of the loop.
SECTIONS = ("generate.", *(f"{plugin.section}." for plugin in PLUGINS))
SINGLE = ("method", "solver_kind", "constants")


MOST_TRIALS = 100_000
Bounded = Annotated[int | float, Field(ge=-1e15, le=1e15)]


class Span(Section):
    """The values of one key: a list of them, or a range to draw from."""

    choice: tuple[Any, ...] = ()
    low: Bounded | None = None
    high: Bounded | None = None
    log: bool = False

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, written: Any) -> Any:
        if isinstance(written, list | tuple):
            written = {"choice": written}
        if not isinstance(written, dict | Span):
            raise PydanticCustomError("span", "write a list of values, or low and high")
        return written

    @model_validator(mode="after")
    def _is_complete(self) -> "Span":
        if not self.choice and (self.low is None or self.high is None):
            raise PydanticCustomError("span", "write a list of values, or low and high")
        if self.is_range and (self.choice or self.low >= self.high or (self.log and self.low <= 0)):  # type: ignore[operator]
            raise PydanticCustomError("span", "a range has low < high, above 0 with log, and no choice")
        return self

    @model_serializer
    def _plain(self) -> Any:
        if not self.is_range:
            return list(self.choice)
        return {"low": self.low, "high": self.high, "log": self.log}

    @property
    def is_range(self) -> bool:
        return self.low is not None or self.high is not None

    def __contains__(self, value: object) -> bool:
        """Whether it is one of these values."""
        if self.low is None or self.high is None:
            return any(type(value) is type(choice) and value == choice for choice in self.choice)
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        return type(value) in ((int,) if whole else (int, float)) and self.low <= value <= self.high  # type: ignore[operator]


PAPER = {  # how many gold equations, how wide a beam
    GOLD: Span(choice=(0.0, 0.05, 0.2)),
    "warm.explore.beam_width": Span(choice=(1, 5, 10)),
}


class BudgetConfig(Section):
    trials: int | None = Field(None, ge=1, le=1_000_000, description="run only this many trials; null: all")
    seconds: float | None = Field(
        None, gt=0, le=1e9, description="time limit from the start or resumption of a sweep; null: none"
    )


class TuneConfig(LoopConfig):
    """The keys of the loop are the base of every trial and of best.yaml; the problems are chosen by `seed`.

    A trial is one round without annotators: it reads the sections of its method and its solver, generate,
    constants and the share of gold equations.
    """

    space: dict[str, Span] = Field(
        PAPER, description="dotted key: [values], or {low, high, log} to draw from"
    )
    seeds: tuple[Seed, ...] = Field(
        (0,), min_length=1, max_length=MOST_TRIALS, description="each setting is tried with each seed"
    )
    search: Literal["grid", "random", "tpe"] = Field(
        "grid", validate_default=True, description="tpe learns from the trials so far (Optuna)"
    )
    draws: int = Field(20, ge=1, le=MOST_TRIALS, description="settings that random draws, or tpe proposes")
    measure_solver: bool = Field(True, description="each trial also trains a solver, tested on the test part")
    metric: Literal["reached", "gold_equivalent", "answer_accuracy", "seconds"] = "gold_equivalent"
    mode: Literal["max", "min"] = "max"
    asha: bool = Field(False, description="stop trials early if they reach fewer answers than others")
    grace: int = Field(
        2, ge=1, le=1_000_000, description="epochs that every trial gets before ASHA may stop it"
    )
    reduction: int = Field(3, ge=2, le=1_000_000, description="ASHA lets one trial in this many continue")
    budget: BudgetConfig = BudgetConfig()

    @field_validator("space")
    @classmethod
    def _known(cls, space: dict[str, Span]) -> dict[str, Span]:
        if not space:
            raise PydanticCustomError("space", "name at least one key, for instance gold: [0, 0.1]")
        return dict(_named(space))

    @field_validator("search")
    @classmethod
    def _has_values(cls, search: str, info: Any) -> str:
        space = info.data.get("space", {})
        for key, span in space.items():
            if search == "grid" and span.is_range:
                raise PydanticCustomError(
                    "grid", f"{key} is a range: list its values, or set search: random or tpe"
                )
        settings = math.prod(len(span.choice) for span in space.values())
        if search == "grid" and settings > MOST_TRIALS:
            sentence = f"the grid has {settings:,} settings, and at most {MOST_TRIALS:,} can be planned"
            raise PydanticCustomError("grid", "{sentence}", {"sentence": f"{sentence}: set search: random"})
        return search

    @field_validator("metric")
    @classmethod
    def _measured(cls, metric: str, info: Any) -> str:
        if metric == "answer_accuracy" and not info.data.get("measure_solver", True):
            raise PydanticCustomError("metric", "answer_accuracy needs measure_solver: true")
        return metric

    @property
    def base(self) -> LoopConfig:
        return LoopConfig(**{name: getattr(self, name) for name in LoopConfig.model_fields})


def _named(space: Mapping[str, Span]) -> Iterator[tuple[str, Span]]:
    """The space with the full names of its keys."""
    known = list(known_keys(LoopConfig))
    varied = [GOLD, *SINGLE, *(key for key in known if key.startswith(SECTIONS))]
    leaves = [key for key in varied if not any(other.startswith(f"{key}.") for other in known)]
    for written, span in space.items():
        key = GOLD if written in (GOLD, "known") else full_key(written, leaves)
        if key in leaves:
            yield key, span
            continue
        close = difflib.get_close_matches(key, leaves, n=1, cutoff=0.5)
        hint = f"; did you mean {close[0]}?" if close else ""
        reason = "can't be varied: no trial reads it" if key in known else "is no key"
        raise PydanticCustomError("space", "{sentence}", {"sentence": f"{written} {reason}{hint}"})
