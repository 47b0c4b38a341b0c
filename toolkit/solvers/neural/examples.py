"""What a solver learns from: problems with the prefixes of their equations, each with a weight."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl
import torch
from torch import Tensor

from toolkit.equations import Expr, canonical, commuted, parse_template, show
from toolkit.equations.tree import Const, Pi, postorder
from toolkit.errors import WarmkitError
from toolkit.nn.tokens import Tokens
from toolkit.solvers.base import SolverInput
from toolkit.solvers.neural.config import SolverConfig

LEAST = 0.01  # a class with a smaller posterior is left out, to save time
MOST_FORMS = 4


@dataclass(frozen=True)
class Examples:
    row: Tensor  # [K] which problem of the table
    prefixes: Sequence[Sequence[int]]  # K of them
    weight: Tensor  # [K]

    @cached_property
    def problems(self) -> Tensor:
        """Which problems of the table have something to learn."""
        problems: Tensor = self.row.unique()
        return problems

    @cached_property
    def of_problem(self) -> dict[int, list[int]]:
        """The examples of each of them."""
        found: dict[int, list[int]] = {}
        for i, row in enumerate(self.row.tolist()):
            found.setdefault(row, []).append(i)
        return found


def _forms(template: Expr, config: SolverConfig) -> list[Expr]:
    """How a template is written for the decoder; several forms share its weight.

    Xie and Sun learn equations as annotators wrote them; which of a + b and b + a they wrote is chance.
    """
    if config.forms == "commuted":
        return commuted(template, MOST_FORMS)
    return [canonical(template) if config.forms == "canonical" else template]


def make_examples(data: SolverInput, config: SolverConfig, tokens: Tokens) -> Examples:
    """Equations of D_s with weight 1, candidates of the other problems by posterior."""
    rows: list[int] = []
    prefixes: list[list[int]] = []
    weights: list[float] = []

    def add(row: int, template: Expr, weight: float) -> None:
        forms = _forms(template, config)
        for form in forms:
            prefix = tokens.encode(form)
            if prefix is not None and len(prefix) <= config.max_tokens:
                rows.append(row)
                prefixes.append(prefix)
                weights.append(weight / len(forms))

    row_of = data.problems.row
    for row, problem_id in enumerate(data.problems.ids):
        if problem_id in data.known:
            add(row, data.known[problem_id], 1.0)
    if data.candidates is not None:
        chosen = data.candidates.likeliest if config.target == "best" else data.candidates.table
        chosen = chosen.filter(
            pl.col("posterior") >= config.threshold,
            pl.col("posterior") > LEAST,
            pl.col("problem_id").is_in(list(row_of)),
        ).sort("posterior", descending=True, maintain_order=True)
        for problem_id, template, posterior in chosen.select(
            "problem_id", "template", "posterior"
        ).iter_rows():
            candidate = parse_template(template)
            _check_constants(problem_id, candidate, tokens)
            if problem_id not in data.known:
                add(row_of[problem_id], candidate, posterior)
    return Examples(torch.tensor(rows), prefixes, torch.tensor(weights))


def _check_constants(problem_id: str, candidate: Expr, tokens: Tokens) -> None:
    """Fail if a candidate, perhaps of a model with other constants, has a constant that is not known here."""
    unknown = [
        show(node)
        for node in postorder(candidate)
        if isinstance(node, Const | Pi) and node not in tokens.constants
    ]
    if unknown:
        known = [show(constant) for constant in tokens.constants]
        raise WarmkitError(
            f"Problem {problem_id}: the candidate {show(candidate)} uses {', '.join(unknown)}, which is no "
            "constant here.",
            "unknown-constant",
            constants=",".join([*known, *unknown]),
        )
