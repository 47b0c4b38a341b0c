"""A run in brief, from its ledger alone: nothing here loads torch, so that listing runs is quick."""

import fcntl
from typing import Any, Literal

import polars as pl

from toolkit.loop.run import Run
from toolkit.report.figures import METRICS

State = Literal["running", "stopped", "ended"]


def summary(run: Run, metrics: pl.DataFrame | None = None) -> dict[str, Any]:
    """The figures that scripts read, of the last round that has them."""
    metrics = metrics_table(run) if metrics is None else metrics
    last = {(split, name): value for _, split, name, value in metrics.sort("round").iter_rows()}
    end = run.ledger.fact("end") or {}
    return {
        "run": run.name,
        "rounds": len({one.round for one in run.ledger.asked()}),
        "labels": int(last.get(("pool", "labels"), 0)),
        "reached": last.get(("pool", "reached")),
        "gold_equivalent": last.get(("pool", "gold_equivalent")),
        "answer_accuracy": last.get(("test", "answer_accuracy")),
        "stopped_by": end.get("rule"),
        "seconds": sum(seconds for _, _, seconds in run.ledger.stages()),
        "report": str(run.report),
    }


def metrics_table(run: Run) -> pl.DataFrame:
    return pl.DataFrame(run.ledger.metrics(), schema=METRICS, orient="row")


def stage_seconds(run: Run) -> dict[str, float]:
    totals: dict[str, float] = {}
    for _, stage, seconds in run.ledger.stages():
        totals[stage] = totals.get(stage, 0.0) + seconds
    return totals


def state(run: Run) -> State:
    """Whether somebody works on a run, a rule ended it, or it was stopped and can be resumed."""
    if _is_locked(run):
        return "running"
    end = run.ledger.fact("end")
    if end is None or end["rule"] == "interrupt":
        return "stopped"
    # A run that was made longer and killed still has the end it had before; it has asked since then.
    return "ended" if run.ledger.result(end["round"], "choose") is None else "stopped"


def _is_locked(run: Run) -> bool:
    try:
        with (run.folder / "lock").open() as file:
            # Shared, so that two who look at a time don't take each other for somebody at work.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
