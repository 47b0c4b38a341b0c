"""`warmkit solver`: step two of the paper, a solver that needs the text alone."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from toolkit.cli.annotations import annotated, annotated_problems
from toolkit.cli.output import echo, json_option, note, print_json, solver_progress, waiting
from toolkit.cli.parameters import (
    SEED,
    DiskPath,
    annotations_option,
    auto_constants_option,
    device_option,
    prepared_option,
    set_option,
    skip_bad_option,
    solver_choice,
    test_option,
    workers_options,
)
from toolkit.cli.preparing import prepared_root, preparing
from toolkit.cluster.session import ClusterSpec
from toolkit.config import load_config
from toolkit.data import PROBLEMS, Candidates, ProblemSet, read_candidates, read_problems
from toolkit.data.constants import MOST_PROBLEMS, with_constants_of
from toolkit.data.prepared import known_share
from toolkit.data.preparing import Preparation
from toolkit.data.read import is_in_parts, read_sample
from toolkit.data.sorted_candidates import candidate_constants
from toolkit.equations import Constant, Expr
from toolkit.errors import WarmkitError
from toolkit.solvers import DEFAULT_SOLVER, SolverInput, SolverProgress, find_solver
from toolkit.solvers.base import PreparedLessons
from toolkit.storage.folder import check_folder, training_in


@click.group()
def solver() -> None:
    """Train a solver on gold equations, and on those that `warmkit generate` found."""


@solver.command(
    epilog="""\b
Examples:
  warmkit solver fit bundled:en --out models/solver
  warmkit solver fit mine.jsonl --candidates candidates.parquet --kind graph2tree --out models/g2t
  warmkit solver fit mine.jsonl --candidates candidates.parquet --test test.jsonl --out models/solver
  warmkit solver fit mine.jsonl --annotations label-studio/annotations.parquet --out models/solver
  warmkit solver fit mine.jsonl --candidates candidates.parquet --test test.jsonl --out models/solver --resume
  warmkit solver fit parts/ --candidates candidates/ --out models/parts --workers 2
  warmkit solver fit large.parquet --out models/large --workers 8 --gpu --address auto --storage s3://bucket/warmkit"""
)
@click.argument("data")
@click.option("--out", required=True, type=DiskPath(), help="The folder of the solver.")
@click.option("--kind", type=solver_choice, default=DEFAULT_SOLVER, show_default=True, help="Which solver.")
@click.option(
    "--candidates", type=DiskPath(), help="What `warmkit generate` wrote: a file, or a folder of parts."
)
@annotations_option
@click.option(
    "--gold", is_flag=True, help="With --candidates or --annotations: use the gold equations of DATA too."
)
@test_option
@click.option("--config", "config_file", type=DiskPath(), help="A YAML file.")
@set_option
@click.option("--seed", type=SEED, default=0, show_default=True, help="The same seed gives the same solver.")
@click.option("--resume", is_flag=True, help="Go on with the stopped training in --out.")
@prepared_option
@workers_options
@device_option
@auto_constants_option
@skip_bad_option
@json_option
def fit(
    data: str,
    out: Path,
    kind: str,
    candidates: Path | None,
    annotations: Path | None,
    gold: bool,
    test: str | None,
    config_file: Path | None,
    overrides: tuple[str, ...],
    seed: int,
    prepared: Path | None,
    spec: ClusterSpec | None,
    storage: str | None,
    device: str,
    constants: tuple[Constant, ...] | None,
    skip_bad: bool,
    as_json: bool,
    resume: bool,
) -> None:
    """Train on the equations of DATA; the solver goes to the folder --out.

    What was learnt is kept there after every epoch: a training that is stopped goes on with --resume.

    Without --candidates and --annotations it learns from the gold equations of DATA; with them it learns from
    these alone, unless --gold is given. What annotators agree on comes before gold equations and candidates.

    With workers, or if DATA is a folder or a pattern of Parquet and JSON Lines parts, texts and equations are
    prepared once, part by part, and each worker holds its share of them alone: they need not fit in one
    process.
    """
    _check_out(out)
    chosen = find_solver(kind)
    config = load_config(chosen.Config, config_file, overrides)
    in_parts = (spec is not None or is_in_parts(data)) and chosen.learns_in_parts
    use_gold = gold or (candidates is None and annotations is None)
    with waiting(f"Reading {data}"):
        table: Candidates | None = None
        used: Iterable[Expr] = ()  # templates with the constants of the candidates
        if not in_parts:
            problems = read_problems(data, skip_bad=skip_bad)
            table = read_candidates(candidates, problems) if candidates else None
            used = table.templates if table else ()
        elif constants is None:  # they are those of a sample, and of all candidates
            problems = read_sample(data, MOST_PROBLEMS, seed, skip_bad=skip_bad)
            used = candidate_constants(candidates) if candidates else ()
        else:  # no problem has to be seen here
            problems = ProblemSet(PROBLEMS.to_frame())
        if constants is not None:
            problems = problems.with_constants(constants)
        marked = annotated_problems(annotations, data, skip_bad=skip_bad) if in_parts else problems
        agreed = annotated(
            annotations, marked.with_constants(problems.constants), more_constants=constants is None
        )
        if constants is None:
            problems = with_constants_of(problems, [*used, *agreed.values()], use_gold)
        tested = read_problems(test, skip_bad=skip_bad) if test else None
    with waiting("Loading torch"):
        from toolkit.compute import computing
        from toolkit.nn.device import pick_device
        from toolkit.solvers.evaluate import accuracies

    start = time.perf_counter()
    loss = 0.0
    with computing(spec, pick_device(device), storage, note) as compute, training_in(out):
        _check_out(out)  # another process may have trained here meanwhile
        given: SolverInput | PreparedLessons
        if in_parts:
            from toolkit.loop.in_parts import prepared_lessons, prepared_problems

            root = prepared_root(prepared, storage, out).absolute()
            with preparing(data, root, out if skip_bad else None, times=2) as told:
                ready = prepared_problems(
                    data,
                    Preparation(root, problems.constants),
                    compute,
                    told.skipped,
                    told.advance,
                    told.on_wait,
                )
                given = prepared_lessons(
                    ready,
                    known_share(ready, float(use_gold), seed, agreed),
                    root,
                    chosen,
                    config,
                    compute,
                    seed,
                    candidates=candidates,
                    advance=told.advance,
                    on_wait=told.on_wait,
                )
            count = len(ready)
        else:
            known = (problems.gold_templates if use_gold else {}) | agreed
            given, count = SolverInput(problems, known, table, config, seed), len(problems)
        with solver_progress(f"Training {kind}") as show_progress:

            def on_progress(now: SolverProgress) -> None:
                nonlocal loss
                loss = now.loss
                show_progress(now)

            trained = compute.fit_solver(
                chosen, given, folder=out, resume=resume, on_progress=on_progress, label=out.name
            )
        trained.save(out)
    figures: dict[str, Any] = {
        "out": str(out),
        "kind": kind,
        "problems": count,
        "loss": loss,
        "seconds": time.perf_counter() - start,
    }
    if tested is not None:
        figures |= accuracies(trained, tested)
    if as_json:
        print_json(figures)
        return
    echo(f"{kind} trained on {count:,} problems in {figures['seconds']:.0f} s. Solver in {out}")
    if tested is not None:
        echo(f"{100 * figures['answer_accuracy']:.1f} % of the answers of {test} are right")


def _check_out(out: Path) -> None:
    """Whether the folder of the solver is free."""
    check_folder(out)
    if (out / "solver.json").exists():
        raise WarmkitError(f"{out}: there is a solver already. Name another folder.")
