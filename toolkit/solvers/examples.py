"""What a solver learns from: problems with the prefixes of their equations, each with a weight."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
import torch
from torch import Tensor

from toolkit.data.candidates import likeliest
from toolkit.data.gold import gold_verdicts
from toolkit.equations import (
    Constant,
    Expr,
    canonical,
    commuted,
    from_prefix,
    parse,
    show,
    to_prefix,
)
from toolkit.equations.tree import OPERATORS, Const, Pi, postorder
from toolkit.errors import WarmkitError
from toolkit.solvers.config import SolverConfig

LEAST = 0.01  # a class of a smaller posterior is not worth its time
MOST_FORMS = 4


@dataclass(frozen=True)
class Tokens:
    """The tokens of a prefix as integers: operators, constants, N0, N1, …"""

    constants: tuple[Constant, ...]
    operators: tuple[str, ...] = OPERATORS

    @property
    def first_number(self) -> int:
        return len(self.operators) + len(self.constants)

    def encode(self, template: Expr) -> list[int] | None:
        """None where the template has a constant that is not in V_const."""
        known = [*self.operators, *(show(constant) for constant in self.constants)]
        encoded = []
        for token in to_prefix(template):
            if token in known:
                encoded.append(known.index(token))
            elif token.startswith("N"):
                encoded.append(self.first_number + int(token[1:]))
            else:
                return None
        return encoded

    def decode(self, tokens: Sequence[int]) -> Expr:
        known = [*self.operators, *(show(constant) for constant in self.constants)]
        return from_prefix([known[t] if t < len(known) else f"N{t - len(known)}" for t in tokens])


@dataclass(frozen=True)
class Examples:
    row: Tensor  # [K] which problem of the table
    prefixes: Sequence[Sequence[int]]  # K of them
    weight: Tensor  # [K]


def gold_templates(problems: pl.DataFrame, constants: Sequence[Constant]) -> list[Expr | None]:
    """The template of each gold equation that holds."""
    return [
        verdict.templates[0] if verdict is not None and verdict.ok else None
        for verdict in gold_verdicts(problems, constants)
    ]


def _forms(template: Expr, config: SolverConfig) -> list[Expr]:
    """How a template is written for the decoder; several forms share its weight.

    Xie and Sun learn equations as annotators wrote them; which of a + b and b + a they wrote is chance.
    """
    if config.forms == "commuted":
        return commuted(template, MOST_FORMS)
    return [canonical(template) if config.forms == "canonical" else template]


def make_examples(
    problems: pl.DataFrame,
    candidates: pl.DataFrame | None,
    config: SolverConfig,
    tokens: Tokens,
    gold: bool,
) -> Examples:
    """Gold equations with weight 1 (if they may be used), candidates of the other problems by posterior."""
    known = gold_templates(problems, tokens.constants) if gold else [None] * len(problems)
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

    place = {name: row for row, name in enumerate(problems["id"])}
    for row, template in enumerate(known):
        if template is not None:
            add(row, template, 1.0)
    if candidates is not None:
        chosen = likeliest(candidates) if config.target == "best" else candidates
        chosen = chosen.filter(
            pl.col("posterior") >= config.threshold,
            pl.col("posterior") > LEAST,
            pl.col("problem_id").is_in(list(place)),
        ).sort("posterior", descending=True, maintain_order=True)
        for name, written, share in chosen.select("problem_id", "template", "posterior").iter_rows():
            candidate = parse(written)
            _check_constants(name, candidate, tokens)
            if known[place[name]] is None:
                add(place[name], candidate, share)
    return Examples(torch.tensor(rows), prefixes, torch.tensor(weights))


def _check_constants(name: str, candidate: Expr, tokens: Tokens) -> None:
    """Candidates may come from a model with other constants: these are named, not left out unsaid."""
    unknown = [
        show(node)
        for node in postorder(candidate)
        if isinstance(node, Const | Pi) and node not in tokens.constants
    ]
    if unknown:
        known = [show(constant) for constant in tokens.constants]
        raise WarmkitError(
            f"Problem {name}: the candidate {show(candidate)} uses {', '.join(unknown)}, which is no "
            f"constant here. Give --constants {','.join([*known, *unknown])}, as the model that made it had."
        )
