"""The figures of a sweep as people read them."""

from collections.abc import Sequence

from toolkit.report.values import NOTHING, duration, number, percent
from tune.results import deviation

MAPS = {
    "reached": "Equations reached",
    "gold_equivalent": "Gold-equivalent",
    "answer_accuracy": "Solver accuracy on the test problems",
}
TIME = "Time of a trial"


def show(name: str, value: float | None) -> str:
    """A figure as people read it: shares in percent, time in its units."""
    if value is None:
        return NOTHING
    return duration(value) if name == "seconds" else number(value) if name not in MAPS else percent(value)


def spread(name: str, found: Sequence[float]) -> str:
    """The deviation over seeds, for shares in percentage points: "± 1.2"."""
    width = deviation(found)
    if width is None:
        return ""
    return f"± {100 * width:.1f}" if name in MAPS else f"± {duration(width)}"
