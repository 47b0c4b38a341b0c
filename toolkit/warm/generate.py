"""Equations for problems whose answers are known: beam search that stops at the answer.

Every path that reaches the answer is scored by the policy. What a problem's candidates are worth against
each other (posterior, confidence) is computed in `toolkit.active.confidence`.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import polars as pl
import torch
from torch import Tensor

from toolkit.data import numbers_of
from toolkit.equations import (
    Candidate,
    EquationError,
    Expr,
    evaluate,
    klasses,
    search,
    show,
)
from toolkit.errors import WarmkitError
from toolkit.warm.checkpoint import Trained
from toolkit.warm.explore import Explored, explore, in_codes, path_log_prob
from toolkit.warm.model import Encoded, Warm
from toolkit.warm.seeded import seeded
from toolkit.warm.tensors import Batch, pi_value, to_tensors

BATCH = 128
BEYOND = 2  # steps searched after the first hit, for other classes

Path = tuple[tuple[int, ...], ...]


class Scored(NamedTuple):
    """A template that reaches a problem's answer, and how the policy likes the path to it."""

    template: Expr
    klass: int
    log_prob: float
    origin: str  # warm, or search


@dataclass(frozen=True)
class Generated:
    """What was found for one problem, most probable first; what its best beam came to if nothing was."""

    problem_id: str
    scored: tuple[Scored, ...]
    miss: str | None


def generate(
    trained: Trained,
    problems: pl.DataFrame,
    *,
    width: int = 20,
    most: int = 32,
    lookahead: bool = True,
    searched: int = 0,
    dropout_seed: int | None = None,
    device: torch.device | None = None,
    on_batch: Callable[[int], object] = lambda problems: None,
) -> list[Generated]:
    """Candidates for each problem of the table; the order of its rows changes nothing.

    `width` beams, whose next steps are all tested against the answer (without `lookahead` only those
    taken); `most` paths are kept for a problem. With `searched` > 0 the candidates of exhaustive
    search with so many operators are scored by the policy as well. With a `dropout_seed` dropout stays on:
    another seed is another draw of the model (Gal and Ghahramani 2016).
    """
    if not len(problems):
        raise WarmkitError("There are no problems to generate for.")
    model, layout = trained.model.train(dropout_seed is not None), trained.model.layout
    device = device or next(model.parameters()).device
    by_id = problems.sort("id")  # so that batches are the same whatever the order
    numbers = numbers_of(by_id)
    candidates: list[list[Candidate]] = [[] for _ in numbers]
    if searched:
        candidates = search(numbers, by_id["answer"].to_list(), searched, layout.constants)
    data = to_tensors(by_id, trained.vocabulary, layout, trained.config.model.max_steps)
    results: dict[str, Generated] = {}
    with nullcontext() if dropout_seed is None else seeded(dropout_seed, 0):
        for batch in data.in_order_of_size(BATCH):
            batch = batch.to(device)
            rows = batch.rows.tolist()
            with torch.no_grad():
                encoded = model.encode(batch)
                explored = explore(
                    model,
                    encoded,
                    batch,
                    width=width,
                    lookahead=lookahead,
                    beyond=BEYOND,
                    generator=None,
                    most=most,
                )
                paths = _paths(model, explored, batch, [candidates[row] for row in rows], numbers)
                scored = _score(model, encoded, batch, paths)
            lost = layout.to_codes(explored.lost, batch.n).tolist()
            for i, row in enumerate(rows):
                name, lang = by_id["id"][row], by_id["lang"][row]
                miss = None if scored[i] else _miss(model, lost[i], numbers[row], lang)
                results[name] = Generated(name, tuple(scored[i][:most]), miss)
            on_batch(len(rows))
    model.eval()
    return [results[name] for name in problems["id"]]


def encoder_states(trained: Trained, problems: pl.DataFrame) -> Tensor:
    """h^d_0 of each problem [N, H]: near for problems that read alike."""
    model = trained.model.eval()
    device = next(model.parameters()).device
    data = to_tensors(problems, trained.vocabulary, model.layout, trained.config.model.max_steps)
    states = torch.zeros(len(problems), trained.config.model.hidden)
    with torch.no_grad():
        for batch in data.in_order_of_size(BATCH):
            states[batch.rows] = model.encode(batch.to(device)).hidden.cpu()
    return states


def _paths(
    model: Warm,
    explored: Explored,
    batch: Batch,
    candidates: Sequence[Sequence[Candidate]],
    numbers: Sequence[Sequence[Fraction]],
) -> list[dict[Path, str]]:
    """For each problem of the batch its different paths in codes, each with its origin."""
    paths: list[dict[Path, str]] = [{} for _ in candidates]
    found = in_codes(model, explored.found, batch.n)
    for problem, steps in zip(found.problem.tolist(), found.paths.tolist(), strict=True):
        paths[problem][tuple(map(tuple, steps))] = "warm"
    for problem, (row, from_search) in enumerate(zip(batch.rows.tolist(), candidates, strict=True)):
        for candidate in from_search:
            steps = model.layout.path(candidate.template, len(numbers[row]), model.config.max_steps)
            if steps is not None:
                paths[problem].setdefault(tuple(map(tuple, steps)), "search")
    return paths


def _score(
    model: Warm, encoded: Encoded, batch: Batch, paths: Sequence[dict[Path, str]]
) -> list[list[Scored]]:
    """The paths of each problem with their log-probabilities, most probable first."""
    flat = [(problem, path, origin) for problem, of in enumerate(paths) for path, origin in of.items()]
    scored: list[list[Scored]] = [[] for _ in paths]
    if not flat:
        return scored
    device = batch.rows.device
    problem = torch.tensor([problem for problem, _, _ in flat], device=device)
    steps = torch.tensor([path for _, path, _ in flat], device=device)
    log_prob = path_log_prob(model, encoded, problem, model.layout.to_slots(steps, batch.n)).tolist()
    templates = [model.layout.template(path) for _, path, _ in flat]
    for (row, _, origin), template, klass, score in zip(
        flat, templates, klasses(templates), log_prob, strict=True
    ):
        scored[row].append(Scored(template, klass, score, origin))
    for of_problem in scored:
        of_problem.sort(key=lambda path: (-path.log_prob, show(path.template)))
    return scored


def _miss(model: Warm, path: list[list[int]], numbers: Sequence[Fraction], lang: str) -> str | None:
    """The best beam of a problem that was not solved: "N0 + N1 = 12"."""
    if path[0][0] < 0:
        return None
    template = model.layout.template(model.layout.pruned(torch.tensor([path]))[0].tolist())
    try:
        return f"{show(template)} = {float(evaluate(template, numbers, pi_value(lang))):.6g}"
    except (EquationError, OverflowError):
        return show(template)
