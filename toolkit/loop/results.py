"""The results of a run: the figures of its report, and the files beside it."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import polars as pl

from toolkit.active.calibration import Reliability, reliability
from toolkit.active.confidence import posterior
from toolkit.active.cost import LabelCost
from toolkit.annotators.account import ModelCost
from toolkit.annotators.llm import annotator_name, is_program
from toolkit.annotators.resolve import Resolution
from toolkit.annotators.wording import shown_candidates
from toolkit.config import to_yaml
from toolkit.data import Candidates, write_table
from toolkit.data.export import with_equations
from toolkit.data.growing import growing_table
from toolkit.equations import show
from toolkit.equations.tree import postorder
from toolkit.loop.ledger import GOLD, BatchItem
from toolkit.loop.records import FINAL
from toolkit.loop.round import ACCURACIES, difference
from toolkit.loop.run import Run
from toolkit.loop.state import RunState
from toolkit.loop.summary import stage_seconds, summary
from toolkit.report import figures as report
from toolkit.report.page import render
from toolkit.report.results import ALL, NONE, RUN
from toolkit.solvers import load_solver
from toolkit.statistics import Difference
from toolkit.storage.atomic import replacing

MOST_SPURIOUS = 20
MOST_CANDIDATES = 8  # of a question
SHOWN_PACKAGES = ("warmkit", "torch", "polars")


def write_results(state: RunState) -> dict[str, Any]:
    """Write the report, metrics, equations and solver of a run so far. Returns its summary."""
    run = state.run
    figures = run_figures(state)
    write_table(figures.metrics, run.folder / "metrics.parquet")
    last = _last_generated(run)
    if last:
        _write_equations(state, last)
        solvers = (run.solver_folder(last, stage) for stage in (FINAL, "solver"))
        solver = next((folder for folder in solvers if (folder / "solver.json").exists()), None)
        if solver is not None:
            load_solver(solver).save(run.folder / "solver")
    with replacing(run.report) as temporary:
        temporary.write_text(render(figures), encoding="utf-8")
    return summary(run, figures.metrics, figures.labels)


def _write_equations(state: RunState, last: int) -> None:
    """The problems with their equations, part by part."""
    out, known = state.run.folder / "equations.parquet", state.known(last)
    done = 0
    with growing_table(out) as growing:
        for found in state.found(last).parts():
            problems = state.stored.rows(done, len(found.tops))
            growing.add(with_equations(problems, Candidates(found.candidates), known))
            done += len(found.tops)
        growing.write({out: None})


def run_figures(state: RunState) -> report.RunFigures:
    run, ledger, config = state.run, state.ledger, state.config
    metrics = run.metrics
    brief = summary(run, metrics, _labels(state))
    end = ledger.fact("end") or {"rule": "running", "sentence": "It has not ended yet."}
    last = _last_generated(run)
    final, references = ledger.solver_result(last), _references(state)
    before, after = _calibration(state, last)
    verdicts = state.verdicts()
    return report.RunFigures(
        name=run.name,
        data=config.data,
        problems=len(state.stored),
        test_problems=len(state.test),
        test_gold=sum(map(bool, state.test.with_constants(run.constants_in(last)).gold_classes)),
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
        constants=tuple(brief["constants"]),
        joined=_joined(state, last),
        annotators=state.team().rows(),
        alpha=state.team().agreement(),
        set_aside=state.set_aside(),
        cost=_cost(state),
        model_cost=_model_cost(state),
        choice=run.constant_choice,
        metrics=metrics,
        final=_shares(final),
        references={name: _shares(result) for name, result in references.items()},
        gains=_gains(final, references),
        before=before,
        after=after,
        asked=_asked(state),
        responses=len(verdicts),
        usable=verdicts.count("accepted"),
        disputed=_disputed(state),
        spurious=_spurious(state, last),
        stage_seconds=stage_seconds(run),
        versions={"python": platform.python_version()} | {name: version(name) for name in SHOWN_PACKAGES},
    )


def _last_generated(run: Run) -> int:
    return max((round_ for round_, stage, _ in run.ledger.stages() if stage == "generate"), default=0)


def _labels(state: RunState) -> int:
    return sum(resolution.template is not None for resolution in state.resolutions().values())


def _cost(state: RunState) -> LabelCost | None:
    times = [
        response.seconds
        for response, _ in state.team().judged
        if response.seconds is not None and not is_program(response.annotator)
    ]
    if not times:
        return None
    labels = _labels(state)
    left = len(state.stored) - len(state.given) - labels
    return LabelCost(sum(times), labels, max(0, left), state.config.annotator.price)


def _model_cost(state: RunState) -> ModelCost | None:
    ledger, config = state.ledger, state.config.llm
    spent, reasons = ledger.spent(), ledger.reasons()
    if not spent.requests and not reasons:
        return None
    name = annotator_name(config.model)
    labels = {
        problem_id: resolution.klasses
        for problem_id, resolution in state.resolutions().items()
        if resolution.template is not None and name in resolution.annotators
    }
    problems = state.stored.few(labels)
    problems = problems.take([problems.row[name] for name in labels])
    gold = dict(zip(labels, problems.gold_classes, strict=True))
    known = [bool(labels[name] & classes) for name, classes in gold.items() if classes]
    return ModelCost(
        name, spent, config.money(spent), reasons, len(labels), sum(known) if known else None, len(known)
    )


def _joined(state: RunState, last: int) -> list[report.JoinedConstant]:
    """The constants that joined V_const, each with the equations that brought it."""
    before, found = state.run.constants, []
    resolutions = state.resolutions()
    for round_ in range(1, last + 1):
        now = state.run.constants_in(round_)
        for constant in (constant for constant in now if constant not in before):
            users = [
                problem_id
                for problem_id, template in state.known(round_).items()
                if constant in postorder(template)
            ]
            names = {name for user in users if user in resolutions for name in resolutions[user].annotators}
            found.append(report.JoinedConstant(round_, show(constant), len(users), tuple(sorted(names))))
        before = tuple({*before, *now})
    return found


def _shares(result: Mapping[str, Any] | None) -> dict[str, float]:
    return {name: result[name] for name in ACCURACIES if result[name] is not None} if result else {}


def _references(state: RunState) -> dict[str, dict[str, Any]]:
    ledger, last = state.ledger, _last_generated(state.run)
    lines = {NONE: ledger.result(last, NONE) or ledger.result(1, "solver"), ALL: ledger.result(last, ALL)}
    return {name: result for name, result in lines.items() if result}


def _gains(
    final: Mapping[str, Any] | None, references: Mapping[str, Mapping[str, Any]]
) -> dict[str, Difference]:
    """What this run and the full price gain over no annotations, on the same test problems."""
    if NONE not in references:
        return {}
    compared = {RUN: final, ALL: references.get(ALL)}
    return {
        name: difference(references[NONE], result) for name, result in compared.items() if result is not None
    }


def _calibration(state: RunState, last: int) -> tuple[Reliability | None, Reliability | None]:
    """Confidence against gold on the problems outside D_s: of the method alone, and calibrated.

    If the data set has no gold equations: against the annotators' responses to the random picks. The
    confidence of a random pick is that of the round in which it was picked.
    """
    if state.ledger.result(last, "generate") is None:
        return None, None
    tops = state.found(last).tops("problem_id", "share", "posterior", "right")
    if tops["right"].count():
        known = list(state.known(last))
        cases = tops.filter(~pl.col("problem_id").is_in(known)).drop_nulls()
    else:
        cases = _random_picks(state)
    if not len(cases):
        return None, None
    return reliability(cases["share"], cases["right"]), reliability(cases["posterior"], cases["right"])


def _random_picks(state: RunState) -> pl.DataFrame:
    """Random picks that were annotated: what their round found, and whether it is right."""
    resolutions = state.resolutions()
    rows = []
    for item in state.ledger.batch():
        resolution = resolutions.get(item.problem_id)
        if item.kind == "random" and resolution is not None and resolution.klasses:
            candidates = state.asked(item.round).candidates
            if top := candidates.top.get(item.problem_id):
                share = posterior(candidates.scores[item.problem_id])[top.klass]
                rows.append((share, top.posterior, top.klass in resolution.klasses))
    columns = {"share": pl.Float64, "posterior": pl.Float64, "right": pl.Boolean}
    return pl.DataFrame(rows, schema=columns, orient="row")


def _asked(state: RunState) -> list[report.Asked]:
    resolutions = state.resolutions()
    return [
        _asked_problem(
            state,
            item,
            state.asked(item.round).candidates.by_problem.get(item.problem_id),
            resolutions.get(item.problem_id),
        )
        for item in state.ledger.batch()
        if item.kind != GOLD
    ]


def _asked_problem(
    state: RunState, item: BatchItem, rows: pl.DataFrame | None, resolution: Resolution | None
) -> report.Asked:
    problems = state.stored.few({item.problem_id})
    row = problems.row[item.problem_id]
    candidates = []
    if rows is not None:
        best = rows.head(MOST_CANDIDATES)
        shown = shown_candidates(problems, item.problem_id, best["template"])
        candidates = [(one.equation, share) for one, share in zip(shown, best["posterior"], strict=True)]
    top = None if rows is None else int(rows["klass"][0])
    was_top = None
    if resolution is not None and resolution.klasses and top is not None:
        was_top = top in resolution.klasses
    return report.Asked(
        round=item.round,
        problem_id=item.problem_id,
        text=problems.table["text"][row],
        answer=problems.answers[row],
        lang=problems.langs[row],
        why=item.why,
        confidence=candidates[0][1] if candidates else None,
        candidates=candidates,
        verdict=_verdict(resolution),
        equation=resolution.equation if resolution else None,
        annotator=", ".join(resolution.annotators) if resolution else None,
        reason=(resolution.reason or None) if resolution else None,
        was_top=was_top,
        seconds=resolution.seconds if resolution else None,
    )


def _verdict(resolution: Resolution | None) -> str:
    if resolution is None:
        return "pending"
    return "disagreement" if resolution.disagreement else resolution.verdict


def _disputed(state: RunState) -> list[report.Disputed]:
    disputed = []
    for problem_id, resolution in state.resolutions().items():
        if resolution.verdict == "disputed":
            problems = state.stored.few({problem_id})
            row = problems.row[problem_id]
            disputed.append(
                report.Disputed(
                    problem_id,
                    problems.table["text"][row],
                    problems.answers[row],
                    ", ".join(resolution.annotators),
                    resolution.reason,
                    problems.langs[row],
                    resolution.disagreement,
                )
            )
    return disputed


def _spurious(state: RunState, last: int) -> list[report.Spurious]:
    """Problems whose likeliest equation gives the answer but is not the gold one, most confident first."""
    if not last:
        return []
    tops = state.found(last).tops("problem_id", "posterior", "right").drop_nulls()
    known = list(state.known(last))
    wrong = tops.filter(~pl.col("right"), ~pl.col("problem_id").is_in(known))
    wrong = wrong.sort("posterior", descending=True, maintain_order=True).head(MOST_SPURIOUS)
    problems = state.stored.few(wrong["problem_id"].to_list())
    candidates, found = state.found_for(last, wrong["problem_id"].to_list()).candidates.by_problem, []
    for problem_id, confidence in wrong.select("problem_id", "posterior").iter_rows():
        row, table = problems.row[problem_id], problems.table
        found.append(
            report.Spurious(
                problem_id,
                table["text"][row],
                problems.answers[row],
                candidates[problem_id]["equation"][0],
                table["equation"][row],
                confidence,
                problems.langs[row],
            )
        )
    return found
