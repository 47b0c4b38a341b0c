"""Step two: solvers by their names. Nothing here loads torch."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from toolkit.config import Section, settings_of
from toolkit.data import Candidates, ProblemSet, as_candidates, as_problem_set
from toolkit.data.constants import AUTO, parse_constants, with_constants_of
from toolkit.equations import Expr
from toolkit.errors import look_up
from toolkit.solvers.base import OnProgress, Solution, Solver, SolverInput, SolverProgress, read_solver
from toolkit.solvers.lbf import LbfSolver
from toolkit.solvers.published import (
    DEFAULT_SOLVER,
    Aligned,
    Dns,
    Ensemble,
    Graph2Tree,
    Gts,
    MathEn,
    Seq2Tree,
    TRnn,
)

if TYPE_CHECKING:
    import torch

__all__ = [
    "DEFAULT_SOLVER",
    "SOLVERS",
    "OnProgress",
    "Solution",
    "Solver",
    "SolverInput",
    "SolverProgress",
    "find_solver",
    "fit_solver",
    "load_solver",
]

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver
    for solver in (
        Ensemble,
        Gts,
        Graph2Tree,
        Seq2Tree,
        TRnn,
        Aligned,
        MathEn,
        Dns,
        LbfSolver,
    )
}


def find_solver(name: str) -> type[Solver]:
    """The solver of that name, or an error that says which there are."""
    return look_up("solver", name, SOLVERS)


def load_solver(folder: Path | str, device: "torch.device | None" = None) -> Solver:
    """The solver in a folder, whichever it is."""
    folder = Path(folder)
    return find_solver(read_solver(folder)["solver"]).load(folder, device)


def fit_solver(
    problems: ProblemSet | pl.DataFrame,
    candidates: Candidates | pl.DataFrame | None = None,
    solver: str | type[Solver] = DEFAULT_SOLVER,
    *,
    known: Mapping[str, Expr] | None = None,
    constants: Literal["auto"] | Sequence[str] = AUTO,
    settings: Mapping[str, object] | Section | None = None,
    seed: int = 0,
    device: "torch.device | None" = None,
    folder: Path | str | None = None,
    resume: bool = False,
    on_progress: OnProgress = lambda progress: None,
) -> Solver:
    """Train a solver on candidates and on equations that are known (D_s, problem → template).

    Without candidates and without `known` it learns from the gold equations of the problems. `constants` is
    V_const, ["1", "100", "π"]; auto: those of the problem set, and those of the equations it learns from.
    `settings` are keys of the solver's configuration, {"epochs": 20}. With a `folder`, what was learnt is
    kept there after every epoch, and `resume` goes on with it; save the solver in the same folder in
    the end.
    """
    chosen = find_solver(solver) if isinstance(solver, str) else solver
    given = as_problem_set(problems)
    table = as_candidates(candidates, given)
    from_gold = known is None and table is None
    if constants == AUTO:
        templates = [*(table.templates if table else ()), *(known or {}).values()]
        given = with_constants_of(given, templates, from_gold)
    else:
        given = given.with_constants(parse_constants(constants))
    if known is None:
        known = given.gold_templates if from_gold else {}
    data = SolverInput(given, known, table, settings_of(chosen.Config, settings), seed)
    return chosen.fit(
        data,
        device=device,
        folder=None if folder is None else Path(folder),
        resume=resume,
        on_progress=on_progress,
    )
