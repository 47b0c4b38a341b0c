"""What the tables show: each place with its mean, its interval, its time and the paper's number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolkit.paper.cells import Cell, Result, is_available
from toolkit.paper.plan import Plan
from toolkit.paper.tables import SETS, Entry, Row, Table
from toolkit.report.values import NOTHING, count, duration, percents
from toolkit.statistics import Share, wilson

MEASURED, NOT_RUN, FAILED = "measured", "not run", "failed"
NO_DATA, NOT_AVAILABLE, NOT_APPLICABLE = "no data", "not available", "NA"


@dataclass(frozen=True)
class Shown:
    """A place in a table."""

    state: str
    paper: float | None = None  # in percent
    share: Share | None = None  # of all cells together, with its interval
    right: int = 0
    of: int = 0
    done: int = 0  # cells: folds × seeds
    planned: int = 0
    seconds: float | None = None  # of a cell, on average
    gold: float | None = None  # gold equations that were seen, on average
    by_set: Mapping[str, float] = field(default_factory=dict)  # shares of the sets that are joined
    error: str = ""

    @property
    def figure(self) -> str:
        """The mean in percent, or why there is none."""
        return self.state if self.share is None else f"{100 * self.share.share:.1f}"

    @property
    def interval(self) -> str:
        return "" if self.share is None else percents(*self.share.interval)

    @property
    def time(self) -> str:
        return "" if self.seconds is None else duration(self.seconds)

    @property
    def paper_figure(self) -> str:
        return NOTHING if self.paper is None else f"{self.paper:.1f}"

    @property
    def missing(self) -> str:
        """Words about cells (folds × seeds) that were not measured; empty if none is missing."""
        return f"{self.done} of {self.planned} cells" if 0 < self.done < self.planned else ""

    @property
    def parts(self) -> list[str]:
        """All that a page says of it, the figure first."""
        paper = "" if self.state == NOT_APPLICABLE else f"paper {self.paper_figure}"
        sets = ", ".join(f"{SETS[name].name} {100 * share:.1f}" for name, share in self.by_set.items())
        return [self.figure, *filter(None, (self.interval, sets, self.time, self.missing, paper))]

    def as_dict(self) -> dict[str, Any]:
        """For JSON. Shares are between 0 and 1, the paper's number is in percent as it is printed there."""
        share = self.share
        return {
            "state": self.state,
            "share": None if share is None else share.share,
            "low": None if share is None else share.low,
            "high": None if share is None else share.high,
            "right": self.right,
            "of": self.of,
            "done": self.done,
            "planned": self.planned,
            "seconds": self.seconds,
            "gold": self.gold,
            "by_set": dict(self.by_set),
            "paper": self.paper,
            "error": self.error or None,
        }


@dataclass(frozen=True)
class ShownRow:
    row: Row
    places: Mapping[str, Shown]  # by column


@dataclass(frozen=True)
class ShownTable:
    table: Table
    rows: list[ShownRow]

    def as_dict(self) -> dict[str, Any]:
        return {
            "table": self.table.number,
            "title": self.table.title,
            "measure": self.table.measure,
            "rows": [
                {
                    "row": shown.row.name,
                    "group": shown.row.group,
                    "cells": {column: place.as_dict() for column, place in shown.places.items()},
                }
                for shown in self.rows
            ],
        }


def shown_tables(plan: Plan, results: Mapping[str, Result]) -> list[ShownTable]:
    return [
        ShownTable(
            table,
            [
                ShownRow(row, {column: _shown(plan, entry, results) for column, entry in row.entries.items()})
                for row in table.rows
            ],
        )
        for table in plan.tables
    ]


def _shown(plan: Plan, entry: Entry, results: Mapping[str, Result]) -> Shown:
    if entry.system is None:
        return Shown(NOT_APPLICABLE)
    if not is_available(entry.system):
        return Shown(NOT_AVAILABLE, entry.paper)
    if entry.set not in plan.sets:
        return Shown(NO_DATA, entry.paper)
    cells = plan.cells(entry)
    ended = [(cell, results[cell.name]) for cell in cells if cell.name in results]
    done = [(cell, result) for cell, result in ended if result.is_done]
    errors = [result.error for _, result in ended if not result.is_done]
    errors += [results[step.name].error for cell in cells if (step := _failed_step(plan, cell, results))]
    if not done:
        state = FAILED if errors else NOT_RUN
        return Shown(state, entry.paper, planned=len(cells), error=errors[0] if errors else "")
    right, of = (sum(getattr(result, name) for _, result in done) for name in ("right", "of"))
    problems = min(_distinct(done), len(plan.sets[entry.set].problems))
    return Shown(
        MEASURED,
        entry.paper,
        wilson(right / of if of else 0.0, problems),
        right,
        of,
        len(done),
        len(cells),
        sum(result.seconds for _, result in done) / len(done),
        sum(result.gold for _, result in done) / len(done),
        _by_set([result for _, result in done]),
        errors[0] if errors else "",
    )


def _by_set(results: Sequence[Result]) -> dict[str, float]:
    """The share of each set that is joined, over all cells; a set without problems has none."""
    tally: dict[str, list[int]] = {}
    for result in results:
        for name, counts in result.by_set.items():
            tally[name] = [sum(pair) for pair in zip(tally.get(name, (0, 0)), counts, strict=True)]
    return {name: right / of for name, (right, of) in tally.items() if of}


def _failed_step(plan: Plan, cell: Cell, results: Mapping[str, Result]) -> Cell | None:
    step = plan.needs(cell)
    return step if step and step.name in results and not results[step.name].is_done else None


def _distinct(done: list[tuple[Cell, Result]]) -> int:
    """The problems of the folds that were measured, each fold once: seeds don't make a set larger."""
    folds: dict[str, int] = {}
    for cell, result in done:
        folds[cell.fold] = max(folds.get(cell.fold, 0), result.of)
    return sum(folds.values())


def counted(plan: Plan, results: Mapping[str, Result]) -> dict[str, int]:
    """How many cells are measured, failed, and left."""
    done = sum(result.is_done for result in results.values())
    return {"measured": done, "failed": len(results) - done, "left": len(plan.order) - len(results)}


def in_words(figures: Mapping[str, int]) -> str:
    """A phrase: 12 cells measured, 3 not run."""
    words = [f"{count(figures['measured'], 'cell')} measured"]
    words += [f"{figures['failed']} failed"] if figures["failed"] else []
    return ", ".join([*words, f"{figures['left']} not run"])
