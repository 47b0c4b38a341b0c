"""One trial: train on the problems with some of their equations, generate, and see what a solver makes of it.

A plain function: it runs in whatever process calls it, and knows nothing of Ray. A trial that is called again
with the same folder goes on after the last epoch that it saved.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from toolkit.active.candidates import count_right, find_candidates, gold_classes
from toolkit.data.split import chosen_share
from toolkit.loop.config import LoopConfig
from toolkit.solvers.evaluate import accuracies
from toolkit.solvers.solver import Solver
from toolkit.warm.train import Epoch, train


def run_trial(
    problems: pl.DataFrame,
    test: pl.DataFrame | None,
    config: LoopConfig,
    folder: Path,
    on_epoch: Callable[[Epoch], object] = lambda epoch: None,
) -> dict[str, Any]:
    """The figures of a trial, as one round of the loop would have them; without a `test` none of a solver.

    `reached` is the share of problems to whose answer training found an equation (the paper's equation
    exploration accuracy), `gold_equivalent` the share whose likeliest equation is then the right one.
    """
    begun, fresh = time.perf_counter(), 0.0

    def count(epoch: Epoch) -> None:
        nonlocal fresh
        fresh += epoch.seconds
        on_epoch(epoch)

    constants = config.v_const
    truth = gold_classes(problems, constants)
    shown = [
        taken and bool(right)
        for taken, right in zip(chosen_share(problems, config.known_share, config.seed), truth, strict=True)
    ]
    seen = problems.with_columns(equation=pl.when(pl.Series(shown)).then("equation"))
    settings = config.warm.train.model_copy(update={"seed": config.seed})
    trained = train(
        seen,
        config.warm.model_copy(update={"train": settings}),
        folder,
        gold=shown,
        constants=constants,
        resume=(folder / "model.json").exists(),
        on_epoch=count,
    )
    known = [right if its else frozenset() for right, its in zip(truth, shown, strict=True)]
    found = find_candidates(
        trained, seen, known, width=config.generate.width, searched=config.generate.search
    ).table
    open_ = [bool(right) and not its for right, its in zip(truth, shown, strict=True)]
    right = count_right(
        found, problems.filter(open_), [of for of, its in zip(truth, open_, strict=True) if its]
    )
    with_truth = sum(map(bool, truth))
    figures: dict[str, Any] = {
        "gold_equations": sum(shown),
        "epochs": len(trained.history),
        "loss": trained.history[-1]["loss"],
        "reached": trained.history[-1]["reached"],
        "gold_equivalent": (right + sum(shown)) / with_truth if with_truth else None,
    }
    if test is not None:
        figures |= _solver(config, seen, found, test)
    before = sum(epoch["seconds"] for epoch in trained.history) - fresh  # of a trial that was stopped
    return figures | {"seconds": before + time.perf_counter() - begun}


def _solver(
    config: LoopConfig, seen: pl.DataFrame, found: pl.DataFrame, test: pl.DataFrame
) -> dict[str, float | None]:
    has_gold = seen["equation"].null_count() < len(seen)
    if not has_gold and not len(found):
        return {"answer_accuracy": 0.0, "class_accuracy": 0.0}  # nothing to learn from
    solver = Solver.fit(
        config.solver_kind,
        seen,
        found,
        config.solver.model_copy(update={"seed": config.seed}),
        gold=has_gold,
        constants=config.v_const,
    )
    return accuracies(solver, test)
