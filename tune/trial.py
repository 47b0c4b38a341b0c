"""One trial: a round without annotators, with some of the equations of its problems.

It is a plain function that runs in the calling process and knows nothing of Ray. If it is called again with
the same folder, it continues after the last epoch that it saved.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from toolkit.compute import LocalCompute
from toolkit.data import ProblemSet
from toolkit.data.split import chosen_gold
from toolkit.loop.config import LoopConfig
from toolkit.loop.round import Round, measure
from toolkit.methods import Epoch


def run_trial(
    problems: ProblemSet,
    test: ProblemSet | None,
    config: LoopConfig,
    folder: Path,
    on_epoch: Callable[[Epoch], object] = lambda epoch: None,
) -> dict[str, Any]:
    """Run a trial and return its figures, those of one round of the loop; without `test` none of a solver.

    `reached` is the share of problems to whose answer training found an equation (the paper's equation
    exploration accuracy), `gold_equivalent` the share whose likeliest equation is then the right one.
    """
    begun, fresh = time.perf_counter(), 0.0

    def count(epoch: Epoch, epochs: int) -> None:
        nonlocal fresh
        fresh += epoch.seconds
        on_epoch(epoch)

    config, _ = config.with_chosen_constants(problems)
    problems = problems.with_constants(config.v_const)
    known = chosen_gold(problems, config.known_share, config.seed)
    work = Round(problems, known, config, LocalCompute(torch.device("cpu")))
    model = work.fit(folder, label=folder.name, on_epoch=count)
    candidates = work.candidates(work.generate(model))
    last = model.history[-1]
    figures: dict[str, Any] = {
        "gold_equations": len(known),
        "epochs": len(model.history),
        "loss": last.loss,
        "reached": last.reached,
        "gold_equivalent": work.gold_equivalent(candidates),
    }
    if test is not None:
        figures |= measure(
            work.fit_solver(candidates, label=folder.name), test.with_constants(config.v_const)
        )
    before = sum(epoch.seconds for epoch in model.history) - fresh  # before the trial was stopped
    return figures | {"seconds": before + time.perf_counter() - begun}
