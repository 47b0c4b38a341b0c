"""The summary of a run, from its ledger alone: nothing here loads torch, so that listing runs is fast."""

from collections.abc import Mapping
from typing import Any, Literal

import polars as pl

from toolkit.data.stored import StoredProblems
from toolkit.equations import show
from toolkit.errors import WarmkitError
from toolkit.loop.ledger import last_opened
from toolkit.loop.run import Run
from toolkit.loop.team import answered_problems, resolved, resolver_of, team_of
from toolkit.statistics import Difference, paired, wilson
from toolkit.storage.lock import is_held

Activity = Literal["running", "stopped", "ended"]


def summary(run: Run, metrics: pl.DataFrame | None = None, labels: int | None = None) -> dict[str, Any]:
    """The figures for scripts, each from the last round that has it. What is given is not read again."""
    metrics = run.metrics if metrics is None else metrics
    last = {(split, name): value for _, split, name, value in metrics.sort("round").iter_rows()}
    end = run.ledger.fact("end") or {}
    return {
        "run": run.name,
        "constants": [show(constant) for constant in run.constants_in(last_opened(run.ledger))],
        "rounds": len({item.round for item in run.ledger.batch()}),
        "labels": label_count(run) if labels is None else labels,
        "reached": last.get(("pool", "reached")),
        "gold_equivalent": last.get(("pool", "gold_equivalent")),
        "answer_accuracy": last.get(("test", "answer_accuracy")),
        "answer_interval": _answer_interval(run),
        "stopped_by": end.get("rule"),
        "seconds": sum(seconds for _, _, seconds in run.ledger.stages()),
        "report": str(run.report),
    }


def label_count(run: Run) -> int:
    """How many equations the ledger has from annotators now, those of a round that is open included."""
    ledger, config = run.ledger, run.config
    opened = ledger.result(last_opened(ledger), "open")
    if not ledger.responses():
        return 0
    # Only what was answered is read: a large run must not slow down the list of runs.
    stored = StoredProblems(run.folder / "problems.parquet", run.constants, most_held=0)
    resolver = resolver_of(answered_problems(stored, ledger), config)
    weighing = team_of(ledger, resolver) if config.annotator.votes == "weighted" else None
    found = resolved(ledger, resolver, opened["set_aside"] if opened else (), weighing)
    return sum(resolution.template is not None for resolution in found.values())


def right_answers(run: Run) -> dict[str, bool]:
    """For each test problem whether the last solver of the run answers it; nothing if there is no solver."""
    right = _last_right(run)
    if not right:
        return {}
    ids = StoredProblems(run.folder / "test.parquet", run.constants, most_held=0).ids
    if len(ids) != len(right):
        raise WarmkitError(f"{run.folder}: test.parquet is damaged: the solver answered other problems.")
    return {name: mark == "1" for name, mark in zip(ids, right, strict=True)}


def solver_gain(first: Mapping[str, bool], second: Mapping[str, bool]) -> Difference | None:
    """How much better the second of two runs answers, problem by problem; None if their tests differ."""
    if not first or first.keys() != second.keys():
        return None
    return paired([first[name] for name in first], [second[name] for name in first])


def _answer_interval(run: Run) -> tuple[float, float] | None:
    right = _last_right(run)
    return wilson(right.count("1") / len(right), len(right)).interval if right else None


def _last_right(run: Run) -> str:
    """A 1 or a 0 for each test problem, from the last solver of the run."""
    rounds = [round_ for round_, stage, _ in run.ledger.stages() if stage == "solver"]
    result = run.ledger.solver_result(max(rounds)) if rounds else None
    return str(result["right"]) if result else ""


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
    done = {(round_, stage) for round_, stage, _ in run.ledger.stages()}
    return "stopped" if (end["round"], "choose") in done else "ended"
