"""The comparisons as Markdown, for pages such as BENCHMARKS.md. They say what the page says."""

import math
from collections.abc import Sequence

from toolkit.labels.figures import Compared, Interval, Ratio, Transferred
from toolkit.labels.plan import WARM
from toolkit.labels.sets import SUBSETS
from toolkit.report.values import NOTHING, percent, points

NAMES_HEAD = ("set", "strategy", "batch", "errors")
TRUST_HEAD = (
    *NAMES_HEAD,
    "cases",
    "ECE",
    "by chance",
    "AUROC",
    "before: ECE",
    "AUROC",
    "with one class",
)
TRANSFER_HEAD = ("set", "strategy", "chosen for", "learnt by", "labels", "seeds", "pool", "others")


def to_markdown(rows: Sequence[Compared], moved: Sequence[Transferred]) -> str:
    """All tables; those without rows are left out."""
    tables = []
    if rows:
        tables.append(_table(labels_head(rows), [labels_row(row) for row in rows]))
        tables.append(_table(TRUST_HEAD, [trust_row(row) for row in rows]))
    if moved:
        tables.append(_table(TRANSFER_HEAD, [transfer_row(row) for row in moved]))
    return "\n".join(tables)


def labels_head(rows: Sequence[Compared]) -> list[str]:
    goals = [f"{100 * ratio.goal:g} %" for ratio in rows[0].labels]
    labels, seconds = [f"labels to {goal}" for goal in goals], [f"seconds to {goal}" for goal in goals[-1:]]
    return [*NAMES_HEAD, *labels, *seconds, "others", "seeds", "right at the start → all annotated"]


def labels_row(row: Compared) -> list[str]:
    return [
        *_names(row),
        *map(ratio_text, row.labels),
        *map(ratio_text, row.seconds[-1:]),
        points_text(row.others),
        str(row.seeds),
        f"{percent(row.start)} → {percent(row.full)}",
    ]


def trust_row(row: Compared) -> list[str]:
    names, trust = _names(row), row.trust
    if trust is None:
        return [*names, *(NOTHING for _ in TRUST_HEAD[len(names) :])]
    single = NOTHING
    if trust.single_right is not None and trust.single_confidence is not None:
        sure, right = percent(trust.single_confidence), percent(trust.single_right)
        single = f"{trust.single}: {sure} sure, {right} right"
    figures = (trust.ece, trust.chance_ece, trust.auroc, trust.plain_ece, trust.plain_auroc)
    return [*names, str(trust.cases), *map(_three_digits, figures), single]


def _names(row: Compared) -> list[str]:
    strategy = row.strategy if row.method == WARM else f"{row.strategy}, {row.method}"
    return [SUBSETS[row.set].title, strategy, str(row.batch), f"{100 * row.error:g} %"]


def transfer_row(row: Transferred) -> list[str]:
    names = [SUBSETS[row.set].title, row.strategy, row.method, row.successor]
    return [*names, str(row.labels), str(row.seeds), points_text(row.pool), points_text(row.others)]


def ratio_text(ratio: Ratio) -> str:
    """78 / 31 = 2.5 (1.9 to 3.4), with what is not a plain ratio told."""
    if ratio.at_start == ratio.seeds:
        return "at the start"
    about = [f"{ratio.at_start} at the start"] if ratio.at_start else []
    about += [f"{ratio.censored} never came there"] if ratio.censored else []
    sign = "≤" if ratio.censored else "="
    found = f"{ratio.random:.0f} / {ratio.strategy:.0f} {sign} {ratio.ratio.value:.1f}{_ends(ratio.ratio)}"
    return "; ".join([found, *about])


def _ends(interval: Interval) -> str:
    if not math.isfinite(interval.low):
        return " (one seed)"
    return f" ({interval.low:.1f} to {interval.high:.1f})"


def points_text(interval: Interval) -> str:
    """A difference in points: +1.2 (−0.3 to +2.6)."""
    ends = f" ({points(interval.low)} to {points(interval.high)})" if math.isfinite(interval.low) else ""
    return f"{points(interval.value)}{ends}"


def _three_digits(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines) + "\n"
