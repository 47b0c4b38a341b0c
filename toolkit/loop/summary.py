"""The summary of a run, from its ledger alone: nothing here loads torch, so that listing runs is fast."""

from typing import Any, Literal

import polars as pl

from toolkit.loop.run import Run
from toolkit.storage.lock import is_held

Activity = Literal["running", "stopped", "ended"]


def summary(run: Run, metrics: pl.DataFrame | None = None) -> dict[str, Any]:
    """The figures for scripts, each from the last round that has it."""
    metrics = run.metrics if metrics is None else metrics
    last = {(split, name): value for _, split, name, value in metrics.sort("round").iter_rows()}
    end = run.ledger.fact("end") or {}
    return {
        "run": run.name,
        "constants": list(run.config.constants),
        "rounds": len({item.round for item in run.ledger.batch()}),
        "labels": int(last.get(("pool", "labels"), 0)),
        "reached": last.get(("pool", "reached")),
        "gold_equivalent": last.get(("pool", "gold_equivalent")),
        "answer_accuracy": last.get(("test", "answer_accuracy")),
        "stopped_by": end.get("rule"),
        "seconds": sum(seconds for _, _, seconds in run.ledger.stages()),
        "report": str(run.report),
    }


def stage_seconds(run: Run) -> dict[str, float]:
    totals: dict[str, float] = {}
    for _, stage, seconds in run.ledger.stages():
        totals[stage] = totals.get(stage, 0.0) + seconds
    return totals


def activity(run: Run) -> Activity:
    """Whether a process works on the run, a rule ended it, or it was stopped and can be resumed."""
    if is_held(run.folder / "lock"):
        return "running"
    end = run.ledger.fact("end")
    if end is None or end["rule"] == "interrupt":
        return "stopped"
    # A run that was extended and then killed still has its earlier end, but it has asked since then.
    return "ended" if run.ledger.result(end["round"], "choose") is None else "stopped"
