"""The comparisons as a page in the style of a run's report: one file that works offline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from toolkit.labels.figures import Compared, Transferred
from toolkit.labels.markdown import (
    TRANSFER_HEAD,
    TRUST_HEAD,
    labels_head,
    labels_row,
    transfer_row,
    trust_row,
)
from toolkit.labels.pieces import PERFECT, Curve, Piece
from toolkit.labels.plan import WARM, Plan
from toolkit.labels.sets import SUBSETS
from toolkit.report import svg
from toolkit.report.markup import Html, tag
from toolkit.report.page import document
from toolkit.report.parts import meter, missing, plots, section, table, tile
from toolkit.report.values import count, duration

HOW_LABELS = (
    "Labels that random needs for a share of what everything annotated comes to / those of the strategy = "
    "their ratio, with a 95% bootstrap interval over paired seeds; seeds that are there before anybody is "
    "asked are counted (“at the start”) and left out. Seconds are of an annotator who picks a candidate if "
    "a right one is shown, and otherwise writes. “Others” are problems that are never asked: their gain over "
    "random at the same labels, in points."
)
HOW_CURVES = (
    "The share of the pool whose equation is right, by labels; the mean of all seeds that have come so far."
)
HOW_TRUST = (
    "Confidence in the top class of problems that were never asked, when a fifth of the pool is labelled: "
    "all seeds together, after and before annotators taught how far to trust it. “By chance” is what "
    "the ECE of as many cases would be if their confidence were exact."
)
HOW_TRANSFER = (
    "Another method learns from the labels that were chosen for one (Lowell et al. 2019): its gain over as "
    "many random labels, in points."
)


@dataclass(frozen=True)
class Results:
    plan: Plan
    curves: Mapping[str, Curve]  # by the names of their pieces
    rows: Sequence[Compared]
    transfers: Sequence[Transferred]
    command: str
    versions: Mapping[str, str]

    @property
    def counts(self) -> dict[str, int]:
        """Of pieces: measured, failed, left."""
        done = sum(curve.is_done for curve in self.curves.values())
        left = len(self.plan.order) - len(self.curves)
        return {"measured": done, "failed": len(self.curves) - done, "left": left}

    @property
    def verdicts(self) -> tuple[int, int, int]:
        """In how many rows the strategy needs half of random's labels to the middle goal, does not, or either
        is possible; rows whose seeds are there at the start are left out, and so is what nobody can do."""
        rows = [row for row in self.rows if row.strategy != PERFECT]
        middle = [row.labels[len(row.labels) // 2] for row in rows]
        halves = [ratio.halves for ratio in middle if ratio.is_known]
        return halves.count(True), halves.count(False), halves.count(None)


def render(results: Results) -> str:
    """The whole page."""
    sections = {
        "labels": ("Labels", _labels(results)),
        "curves": ("Curves", _curves(results)),
        "trust": ("Confidence", _trust(results)),
        "transfer": ("Transfer", _transfer(results)),
        "reproduce": ("Run again", _reproduce(results)),
    }
    return document("Fewer labels · warmkit", _headline(results), sections)


def _headline(results: Results) -> list[Html]:
    counts = results.counts
    pieces = sum(counts.values())
    yes, no, open_ = results.verdicts
    goals = results.plan.protocol.goals
    return [
        tag("p", "warmkit bench", class_="over"),
        tag("h1", "Fewer labels, measured"),
        tag("p", f"Half of random’s labels: yes in {yes}, no in {no}, open in {open_}.", class_="lead"),
        tag("p", f"rows of the first table, at {100 * goals[len(goals) // 2]:g}%", class_="about"),
        tag(
            "div",
            tile(
                "Pieces",
                f"{counts['measured']:,} of {pieces:,}",
                f"{counts['failed']} failed",
                meter(counts["measured"] / pieces if pieces else None),
                word=True,
            ),
            tile(
                "Time of all pieces",
                duration(sum(curve.seconds for curve in results.curves.values())),
                "of one core",
                word=True,
            ),
            class_="tiles",
        ),
    ]


def _labels(results: Results) -> Html:
    if not results.rows:
        return section(
            "labels", "Labels against random", HOW_LABELS, missing("No pair of curves is there yet.")
        )
    rows = [labels_row(row) for row in results.rows]
    return section(
        "labels", "Labels against random", HOW_LABELS, table("Labels", labels_head(results.rows), rows)
    )


def _curves(results: Results) -> Html:
    plan, drawn = results.plan, []
    for error, batch, name in product(plan.errors, plan.batches, plan.sets):
        series = {
            strategy: _mean_curve(results, Piece(name, WARM, strategy, batch, 0, error))
            for strategy in plan.compared
        }
        if any(series.values()):
            about = f", {100 * error:g}% errors" if error else ""
            title = f"{SUBSETS[name].title}, batches of {batch}{about}"
            drawn.append(svg.line_chart(series, title=title, x_label="labels", share=True, markers=False))
    content = plots(*drawn) if drawn else missing("No curve is there yet.")
    return section("curves", "Curves", HOW_CURVES, content)


def _mean_curve(results: Results, piece: Piece) -> list[tuple[float, float]]:
    """The mean over seeds, as far as the shortest curve goes."""
    names = (results.plan.digested(piece.with_seed(seed)).name for seed in range(results.plan.seeds))
    curves = [results.curves[name] for name in names if name in results.curves]
    done = [curve.points for curve in curves if curve.is_done]
    return [
        (float(np.mean([p.labels for p in at])), float(np.mean([p.pool for p in at])))
        for at in zip(*done, strict=False)
    ]


def _trust(results: Results) -> Html:
    rows = [trust_row(row) for row in results.rows]
    content = table("Confidence", TRUST_HEAD, rows) if rows else missing("Nothing is measured yet.")
    return section("trust", "Confidence", HOW_TRUST, content)


def _transfer(results: Results) -> Html:
    rows = [transfer_row(row) for row in results.transfers]
    content = table("Transfer", TRANSFER_HEAD, rows) if rows else missing("It was not measured.")
    return section("transfer", "Labels that another method learns from", HOW_TRANSFER, content)


def _reproduce(results: Results) -> Html:
    plan = results.plan
    versions = [[tag("dt", name), tag("dd", version)] for name, version in results.versions.items()]
    sample = f"{plan.protocol.asked} problems of the pool and {plan.protocol.others} others"
    starts = [
        f"{data.subset.title}: all seeds begin with a model that learnt {data.answers:,} answers."
        for data in plan.sets.values()
        if data.start is not None
    ]
    failed = [f"{name}: {curve.error}" for name, curve in results.curves.items() if not curve.is_done]
    facts = [tag("li", line) for line in (*starts, *failed)]
    return section(
        "reproduce",
        "Run it again",
        "This command, with these files and versions, gives the same figures.",
        tag("pre", tag("code", results.command), class_="command", tabindex="0"),
        tag("p", f"{count(plan.seeds, 'seed')}, from 0 on; each draws {sample}. Settings of the loop:"),
        tag("pre", "\n".join(plan.protocol.settings), tabindex="0"),
        tag("ul", facts, class_="facts") if facts else None,
        tag("dl", versions, class_="versions"),
    )
