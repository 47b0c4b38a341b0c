"""Numbers as people read them, and figures of the table of metrics."""

import math
from collections.abc import Mapping, Sequence

import polars as pl

from toolkit.statistics import Difference, wilson

NOTHING = "–"


def known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def percent(value: float | None, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f}%" if value is not None and math.isfinite(value) else NOTHING


def points(value: float | None) -> str:
    """A difference of two shares, in percentage points, with its sign."""
    if value is None or not math.isfinite(value):
        return NOTHING
    shown = f"{100 * value:+.1f}"
    return "±0.0" if float(shown) == 0 else shown.replace("-", "−")


def interval(share: float | None, cases: int) -> str:
    """The 95 % interval of a share of so many cases, in percent: "32.1 – 44.6"; empty if it is not known."""
    if share is None or not math.isfinite(share) or not cases:
        return ""
    return percents(*wilson(share, cases).interval)


def percents(low: float, high: float) -> str:
    """The ends of an interval, in percent."""
    return f"{100 * low:.1f} – {100 * high:.1f}"


def gain(found: Difference) -> str:
    """A difference of two shares, in points, with its 95 % interval: "+5.4 (−0.5 to +11.3)"."""
    return f"{points(found.difference)} ({points(found.low)} to {points(found.high)})"


def number(value: float | None, digits: int = 6) -> str:
    """Whole numbers in full with thousands set apart, others with `digits` significant digits."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


def count(how_many: int, noun: str, plural: str | None = None) -> str:
    return f"{how_many:,} {noun if how_many == 1 else plural or noun + 's'}"


def duration(seconds: float | None) -> str:
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def by_round(metrics: pl.DataFrame, split: str, name: str) -> dict[int, float]:
    """The finite values of a metric by round; if a round was measured twice, the last one."""
    rows = metrics.filter((pl.col("split") == split) & (pl.col("name") == name)).select("round", "value")
    values = {at: value for at, value in rows.iter_rows() if at is not None and known(value)}
    return dict(sorted(values.items()))


def last(values: Mapping[int, float]) -> float | None:
    return values[max(values)] if values else None


def join(xs: Mapping[int, float], ys: Mapping[int, float]) -> list[tuple[float, float]]:
    """Pairs of the values that two metrics have in the same round."""
    return [(xs[at], ys[at]) for at in sorted(xs) if at in ys]


def middle(values: Sequence[float]) -> float:
    """The median."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
