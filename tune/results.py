"""What a sweep came to: a table with one row a trial, the settings with their means over seeds, the best."""

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from toolkit.data.write import replacing
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from tune.config import TuneConfig
from tune.plan import Trial

SHARES = ("reached", "gold_equivalent", "answer_accuracy", "class_accuracy")
FIGURES: dict[str, pl.DataType] = {
    "gold_equations": pl.Int64(),
    "epochs": pl.Int64(),
    "loss": pl.Float64(),
    **dict.fromkeys(SHARES, pl.Float64()),
    "seconds": pl.Float64(),
}


@dataclass(frozen=True)
class Outcome:
    """A trial that has ended: as planned, early by ASHA, or by an error."""

    trial: Trial
    figures: Mapping[str, Any]
    state: str  # done, stopped, failed
    error: str | None = None


@dataclass(frozen=True)
class Setting:
    """The outcomes of one setting, all seeds together."""

    keys: Mapping[str, Any]
    config: LoopConfig
    outcomes: Sequence[Outcome]

    def values(self, name: str) -> list[float]:
        return values(self.outcomes, name)

    def mean(self, name: str) -> float | None:
        return mean(self.values(name))


def values(outcomes: Sequence[Outcome], name: str) -> list[float]:
    """A figure of the trials that were done as planned and have it."""
    found = [one.figures.get(name) for one in outcomes if one.state == "done"]
    return [value for value in found if value is not None]


def mean(found: Sequence[float]) -> float | None:
    return statistics.fmean(found) if found else None


def deviation(found: Sequence[float]) -> float | None:
    """Of a sample: one value says nothing of it."""
    return statistics.stdev(found) if len(found) > 1 else None


def write_outcome(
    file: Path, figures: Mapping[str, Any], state: str = "done", error: str | None = None
) -> None:
    finite = {name: value for name, value in figures.items() if value is None or math.isfinite(value)}
    with replacing(file) as temporary:
        temporary.write_text(
            json.dumps({"state": state, "error": error, "figures": finite}), encoding="utf-8"
        )


def read_outcome(file: Path, trial: Trial) -> Outcome | None:
    """What a trial came to; None where it has not ended."""
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
        return Outcome(trial, dict(said["figures"]), str(said["state"]), said["error"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        raise WarmkitError(f"{file}: it can't be read. Delete it, and the trial is run again.") from None


def table(config: TuneConfig, outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """One row a trial: its number, every varied key, seed, figures, state, error."""
    columns: dict[str, Any] = {"trial": pl.Series([one.trial.number for one in outcomes], dtype=pl.Int64)}
    for key in config.space:
        columns[key] = _column([one.trial.keys[key] for one in outcomes])
    columns["seed"] = pl.Series([one.trial.seed for one in outcomes], dtype=pl.Int64)
    for name, kind in FIGURES.items():
        columns[name] = pl.Series([one.figures.get(name) for one in outcomes], dtype=kind, strict=False)
    columns["state"] = pl.Series([one.state for one in outcomes], dtype=pl.String)
    columns["error"] = pl.Series([one.error for one in outcomes], dtype=pl.String)
    return pl.DataFrame(columns)


def _column(written: Sequence[Any]) -> pl.Series:
    """Values of a key: numbers as numbers, lists and what is mixed as text."""
    kinds = {type(value) for value in written if value is not None}
    if kinds == {int, float}:
        return pl.Series(written, dtype=pl.Float64, strict=False)
    if len(kinds) <= 1 and kinds <= {bool, int, float, str}:
        return pl.Series(written)
    return pl.Series([None if value is None else json.dumps(value, ensure_ascii=False) for value in written])


def settings(outcomes: Sequence[Outcome]) -> list[Setting]:
    """In the order of the plan."""
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(json.dumps(one.trial.keys, sort_keys=True), []).append(one)
    return [Setting(group[0].trial.keys, group[0].trial.config, group) for group in groups.values()]


def ranked(config: TuneConfig, outcomes: Sequence[Outcome]) -> list[Setting]:
    """Settings that have the metric, the best mean over seeds first; of equals the one planned first."""
    sign = -1.0 if config.mode == "max" else 1.0
    measured = [one for one in settings(outcomes) if one.mean(config.metric) is not None]
    return sorted(measured, key=lambda one: sign * (one.mean(config.metric) or 0.0))
