"""The results of a sweep: a table with one row per trial, settings with their means over seeds, the best."""

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict  # pydantic takes the one of `typing` only from Python 3.12 on

from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.storage.atomic import replacing
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


Marks = Annotated[str, Field(pattern="^[01]*$")]  # which test problems are right


class Written(TypedDict):
    """The file of a trial."""

    state: Literal["done", "stopped", "failed"]
    error: str | None
    figures: dict[str, int | Annotated[float, Field(allow_inf_nan=False)] | Marks | None]


WRITTEN = TypeAdapter(Written)


@dataclass(frozen=True)
class TrialResult:
    """How a trial ended: as planned, stopped early by ASHA, or with an error."""

    trial: Trial
    figures: Mapping[str, Any]
    state: str  # done, stopped, failed
    error: str | None = None


@dataclass(frozen=True)
class Setting:
    """The results of one setting, all seeds together."""

    keys: Mapping[str, Any]
    config: LoopConfig
    results: Sequence[TrialResult]

    def values(self, name: str) -> list[float]:
        return values(self.results, name)

    def mean(self, name: str) -> float | None:
        return mean(self.values(name))

    def right_answers(self) -> list[float]:
        """For each test problem, the share of its solvers (one a seed) that answer it."""
        marks = [result.figures.get("right", "") for result in self.results if result.state == "done"]
        return [sum(map(int, column)) / len(marks) for column in zip(*marks, strict=True)]


def values(results: Sequence[TrialResult], name: str) -> list[float]:
    """A figure of the trials that ended as planned and have it."""
    found = [result.figures.get(name) for result in results if result.state == "done"]
    return [value for value in found if value is not None]


def mean(found: Sequence[float]) -> float | None:
    return statistics.fmean(found) if found else None


def deviation(found: Sequence[float]) -> float | None:
    """The sample standard deviation; None for fewer than two values."""
    return statistics.stdev(found) if len(found) > 1 else None


def write_result(
    file: Path, figures: Mapping[str, Any], state: str = "done", error: str | None = None
) -> None:
    finite = {
        name: value for name, value in figures.items() if not isinstance(value, float) or math.isfinite(value)
    }
    with replacing(file) as temporary:
        temporary.write_text(
            json.dumps({"state": state, "error": error, "figures": finite}), encoding="utf-8"
        )


def read_result(file: Path, trial: Trial) -> TrialResult | None:
    """The result of a trial; None if it has not ended."""
    try:
        written = WRITTEN.validate_json(file.read_bytes(), strict=True)
        return TrialResult(trial, written["figures"], written["state"], written["error"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise WarmkitError(f"{file}: it can't be read. Delete it, and the trial is run again.") from None


def table(config: TuneConfig, results: Sequence[TrialResult]) -> pl.DataFrame:
    """One row per trial: number, every varied key, seed, figures, state, error."""
    columns: dict[str, Any] = {
        "trial": pl.Series([result.trial.number for result in results], dtype=pl.Int64)
    }
    for key in config.space:
        columns[key] = _column([result.trial.keys[key] for result in results])
    columns["seed"] = pl.Series([result.trial.seed for result in results], dtype=pl.Int64)
    for name, dtype in FIGURES.items():
        figures = [result.figures.get(name) for result in results]
        columns[name] = pl.Series(figures, dtype=dtype, strict=False)
    columns["state"] = pl.Series([result.state for result in results], dtype=pl.String)
    columns["error"] = pl.Series([result.error for result in results], dtype=pl.String)
    return pl.DataFrame(columns)


def _column(written: Sequence[Any]) -> pl.Series:
    """The values of a key: numbers as numbers, lists and mixed types as text."""
    kinds = {type(value) for value in written if value is not None}
    if kinds == {int, float}:
        return pl.Series(written, dtype=pl.Float64, strict=False)
    if len(kinds) <= 1 and kinds <= {bool, int, float, str}:
        return pl.Series(written)
    return pl.Series([None if value is None else json.dumps(value, ensure_ascii=False) for value in written])


def settings(results: Sequence[TrialResult]) -> list[Setting]:
    """The settings of these results, in the order of the plan."""
    groups: dict[str, list[TrialResult]] = {}
    for result in results:
        groups.setdefault(json.dumps(result.trial.keys, sort_keys=True), []).append(result)
    return [Setting(group[0].trial.keys, group[0].trial.config, group) for group in groups.values()]


def ranked(config: TuneConfig, results: Sequence[TrialResult]) -> list[Setting]:
    """Settings that have the metric, the best mean over seeds first; the one planned first wins ties."""
    sign = -1.0 if config.mode == "max" else 1.0
    measured = [setting for setting in settings(results) if setting.mean(config.metric) is not None]
    return sorted(measured, key=lambda setting: sign * (setting.mean(config.metric) or 0.0))
