"""What a run came to: the figures of its report, and the files that go with it."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import polars as pl

from toolkit.active.calibration import Reliability, reliability
from toolkit.active.confidence import posterior
from toolkit.config import to_yaml
from toolkit.data.candidates import by_class, likeliest
from toolkit.data.export import with_equations
from toolkit.data.write import replacing, write_table
from toolkit.loop.knowledge import Knowledge, tops
from toolkit.loop.ledger import Asked
from toolkit.loop.run import Run
from toolkit.loop.standing import Standing
from toolkit.loop.summary import metrics_table, stage_seconds, summary
from toolkit.report import figures as report
from toolkit.report.page import render
from toolkit.solvers.solver import Solver

MOST_SPURIOUS = 20
SHOWN_PACKAGES = ("warmkit", "torch", "polars")


def write_outcome(run: Run) -> dict[str, Any]:
    """Write report, metrics, equations and solver of a run as far as it is; its figures in brief."""
    knowledge = Knowledge(run)
    figures = run_figures(knowledge)
    write_table(figures.metrics, run.folder / "metrics.parquet")
    last = _last_generated(run)
    if last:
        equations = with_equations(
            knowledge.visible(last), knowledge.candidates(last), run.constants, gold=True
        )
        write_table(equations, run.folder / "equations.parquet")
        solver = run.round_folder(last) / "solver"
        if (solver / "solver.json").exists():
            Solver.load(solver).save(run.folder / "solver")
    with replacing(run.report) as temporary:
        temporary.write_text(render(figures), encoding="utf-8")
    return summary(run, figures.metrics)


def run_figures(knowledge: Knowledge) -> report.RunFigures:
    run, ledger, config = knowledge.run, knowledge.ledger, knowledge.config
    metrics = metrics_table(run)
    brief = summary(run, metrics)
    end = ledger.fact("end") or {"rule": "running", "sentence": "It has not ended yet."}
    last = _last_generated(run)
    before, after, temperature = _calibration(knowledge, last)
    return report.RunFigures(
        name=run.name,
        data=config.data,
        problems=len(knowledge.problems),
        test_problems=len(knowledge.test),
        annotator=config.annotator.name,
        strategy=config.active.strategy,
        stopped_by=end["rule"],
        stop_reason=end["sentence"],
        rounds=brief["rounds"],
        labels=brief["labels"],
        seconds=brief["seconds"],
        seed=config.seed,
        command=f"warmkit loop --config {run.folder}/config.yaml --run another-name",
        config=to_yaml(config),
        metrics=metrics,
        final=_shares(ledger.result(last, "solver") if last else None),
        references=_references(knowledge),
        before=before,
        after=after,
        temperature=temperature,
        asked=_asked(knowledge),
        disputed=_disputed(knowledge),
        spurious=_spurious(knowledge, last),
        stage_seconds=stage_seconds(run),
        versions={"python": platform.python_version()} | {name: version(name) for name in SHOWN_PACKAGES},
    )


def _last_generated(run: Run) -> int:
    return max((round_ for round_, stage, _ in run.ledger.stages() if stage == "generate"), default=0)


def _shares(result: Mapping[str, Any] | None) -> dict[str, float]:
    return {name: value for name, value in (result or {}).items() if value is not None}


def _references(knowledge: Knowledge) -> dict[str, dict[str, float]]:
    ledger, last = knowledge.ledger, _last_generated(knowledge.run)
    lines = {
        "no annotations": ledger.result(last, "no annotations") or ledger.result(1, "solver"),
        "everything annotated": ledger.result(last, "everything annotated"),
    }
    return {name: _shares(result) for name, result in lines.items() if result}


def _calibration(knowledge: Knowledge, last: int) -> tuple[Reliability | None, Reliability | None, float]:
    """Confidence against gold on the problems outside D_s, with temperature 1 and with the fitted one.

    Where the data set has no gold equations: against what annotators said of the random picks, whose
    confidence is that of the round in which they were picked.
    """
    result = knowledge.ledger.result(last, "generate") if last else None
    if result is None:
        return None, None, 1.0
    known, temperature = knowledge.known(last), float(result["temperature"])
    if any(knowledge.truth):
        right = {
            name: truth
            for name, truth in zip(knowledge.row, knowledge.truth, strict=True)
            if truth and name not in known
        }
        cases = [(last, name, truth) for name, truth in right.items()]
    else:
        standings = knowledge.standings()
        cases = [
            (one.round, one.problem_id, standings[one.problem_id].klasses)
            for one in knowledge.ledger.asked()
            if one.kind == "random" and one.problem_id in standings and standings[one.problem_id].klasses
        ]
    plain: list[tuple[float, bool]] = []
    fitted: list[tuple[float, bool]] = []
    found = {r: by_class(knowledge.candidates(r), "log_prob") for r in {case[0] for case in cases}}
    for round_, name, truth in cases:
        scores = found[round_].get(name)
        if scores is None:
            continue
        for heat, into in ((1.0, plain), (temperature, fitted)):
            shares = posterior(scores, heat)
            top = max(shares, key=lambda k: shares[k])
            into.append((shares[top], top in truth))
    if not plain:
        return None, None, temperature
    return _reliability(plain), _reliability(fitted), temperature


def _reliability(cases: list[tuple[float, bool]]) -> Reliability:
    return reliability([confidence for confidence, _ in cases], [right for _, right in cases])


def _asked(knowledge: Knowledge) -> list[report.Asked]:
    standings = knowledge.standings()
    tables = {
        round_: knowledge.candidates(round_).partition_by("problem_id", as_dict=True)
        for round_ in {one.round for one in knowledge.ledger.asked()}
    }
    shown = []
    for one in knowledge.ledger.asked():
        its, standing = tables[one.round].get((one.problem_id,)), standings.get(one.problem_id)
        shown.append(_asked_one(knowledge, one, its, standing))
    return shown


def _asked_one(
    knowledge: Knowledge, one: Asked, its: pl.DataFrame | None, standing: Standing | None
) -> report.Asked:
    row = knowledge.row[one.problem_id]
    candidates = [] if its is None else list(its.select("equation", "posterior").head(8).iter_rows())
    top = None if its is None else int(its["klass"][0])
    was_top = top in standing.klasses if standing and standing.klasses and top is not None else None
    return report.Asked(
        round=one.round,
        problem_id=one.problem_id,
        text=knowledge.problems["text"][row],
        answer=knowledge.problems["answer"][row],
        lang=knowledge.problems["lang"][row],
        why=one.why,
        confidence=candidates[0][1] if candidates else None,
        candidates=candidates,
        verdict=standing.verdict if standing else "pending",
        equation=standing.equation if standing else None,
        annotator=", ".join(standing.annotators) if standing else None,
        reason=(standing.reason or None) if standing else None,
        was_top=was_top,
        seconds=standing.seconds if standing else None,
    )


def _disputed(knowledge: Knowledge) -> list[report.Disputed]:
    return [
        report.Disputed(
            name,
            knowledge.problems["text"][knowledge.row[name]],
            knowledge.problems["answer"][knowledge.row[name]],
            ", ".join(standing.annotators),
            standing.reason,
            knowledge.problems["lang"][knowledge.row[name]],
        )
        for name, standing in knowledge.standings().items()
        if standing.verdict == "disputed"
    ]


def _spurious(knowledge: Knowledge, last: int) -> list[report.Spurious]:
    """Problems whose likeliest equation gives the answer and is not the gold one, the surest first."""
    if not last:
        return []
    table, known = knowledge.candidates(last), knowledge.known(last)
    equations = dict(likeliest(table).select("problem_id", "equation").iter_rows())
    wrong = [
        report.Spurious(
            name,
            knowledge.problems["text"][knowledge.row[name]],
            knowledge.problems["answer"][knowledge.row[name]],
            equations[name],
            knowledge.problems["equation"][knowledge.row[name]],
            confidence,
            knowledge.problems["lang"][knowledge.row[name]],
        )
        for name, (its_class, confidence) in tops(table).items()
        if name not in known and (truth := knowledge.truth[knowledge.row[name]]) and its_class not in truth
    ]
    return sorted(wrong, key=lambda one: -one.confidence)[:MOST_SPURIOUS]
