"""Equations for problems whose answers are known: beam search that stops at the answer.

Every path that reaches the answer is scored by the policy. How a problem's candidates compare with each other
(posterior, confidence) is computed in `toolkit.active.confidence`.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from fractions import Fraction

import torch

from toolkit.data import ProblemSet
from toolkit.data.languages import language
from toolkit.equations import (
    Candidate,
    EquationError,
    Expr,
    count_operators,
    evaluate,
    klasses,
    search,
    show,
)
from toolkit.errors import WarmkitError
from toolkit.methods.base import Floats, Generated, Scored, nothing
from toolkit.methods.warm.explore import Explored, explore, in_codes, path_log_prob
from toolkit.methods.warm.method import Warm
from toolkit.methods.warm.policy import Encoded, Policy
from toolkit.nn.batches import Batch, to_tensors
from toolkit.nn.seeds import seeded

BATCH = 128
EXTRA_STEPS = 2  # searched after the first hit, for other classes
READABLE = 4  # operators of a miss that is shown

Path = tuple[tuple[int, ...], ...]


def generate(
    warm: Warm,
    problems: ProblemSet,
    *,
    width: int = 20,
    most: int = 32,
    lookahead: bool = True,
    searched: int = 0,
    dropout_seed: int | None = None,
    device: torch.device | None = None,
    on_batch: Callable[[int], object] = nothing,
) -> list[Generated]:
    """Candidates for each problem of the set; the order of its rows changes nothing.

    `width` beams, whose next steps are all tested against the answer (without `lookahead` only those
    taken); `most` paths are kept for a problem. With `searched` > 0 the candidates of exhaustive
    search with so many operators are scored by the policy as well. With a `dropout_seed` dropout stays on:
    another seed is another draw of the model (Gal and Ghahramani 2016).
    """
    if not len(problems):
        raise WarmkitError("There are no problems to generate for.")
    device = device or next(warm.policy.parameters()).device
    policy, layout = warm.policy.to(device).train(dropout_seed is not None), warm.policy.layout
    by_id = problems.with_constants(layout.constants).sorted_by_id()  # so that batches are the same
    candidates: list[list[Candidate]] = [[] for _ in by_id.ids]
    if searched:
        candidates = search(by_id.numbers, by_id.answers, searched, layout.constants)
    data = to_tensors(by_id, warm.vocabulary)
    results: dict[str, Generated] = {}
    with nullcontext() if dropout_seed is None else seeded(dropout_seed, 0):
        for batch in data.in_order_of_size(BATCH):
            batch = batch.to(device)
            rows = batch.rows.tolist()
            with torch.no_grad():
                encoded = policy.encode(batch)
                explored = explore(
                    policy,
                    encoded,
                    batch,
                    width=width,
                    lookahead=lookahead,
                    extra_steps=EXTRA_STEPS,
                    generator=None,
                    most=most,
                )
                paths = _paths(warm, explored, batch, [candidates[row] for row in rows])
                scored = _score(policy, encoded, batch, paths)
            failed = layout.to_codes(explored.failed, batch.n).tolist()
            for i, row in enumerate(rows):
                miss = None
                if not scored[i]:
                    pi = language(by_id.langs[row]).pi
                    steps = layout.results(failed[i])
                    miss = near_miss(steps, by_id.numbers[row], by_id.answers[row], pi)
                results[by_id.ids[row]] = Generated(by_id.ids[row], tuple(scored[i][:most]), miss)
            on_batch(len(rows))
    policy.eval()
    return [results[problem_id] for problem_id in problems.ids]


def encoder_states(warm: Warm, problems: ProblemSet) -> Floats:
    """h^d_0 of each problem [N, H]: near for problems that read alike."""
    policy = warm.policy.eval()
    device = next(policy.parameters()).device
    data = to_tensors(problems.with_constants(policy.layout.constants), warm.vocabulary)
    states = torch.zeros(len(problems), warm.config.model.hidden)
    with torch.no_grad():
        for batch in data.in_order_of_size(BATCH):
            states[batch.rows] = policy.encode(batch.to(device)).hidden.cpu()
    return states.double().numpy()


def _paths(
    warm: Warm, explored: Explored, batch: Batch, candidates: Sequence[Sequence[Candidate]]
) -> list[dict[Path, str]]:
    """For each problem of the batch its different paths in codes, each with its origin."""
    model = warm.policy
    paths: list[dict[Path, str]] = [{} for _ in candidates]
    found = in_codes(model, explored.found, batch.n)
    for problem, steps in zip(found.problem.tolist(), found.paths.tolist(), strict=True):
        paths[problem][tuple(map(tuple, steps))] = warm.name
    for problem, (count, from_search) in enumerate(zip(batch.counts.tolist(), candidates, strict=True)):
        for candidate in from_search:
            steps = model.layout.path(candidate.template, count, model.config.max_steps)
            if steps is not None:
                paths[problem].setdefault(tuple(map(tuple, steps)), "search")
    return paths


def _score(
    model: Policy, encoded: Encoded, batch: Batch, paths: Sequence[dict[Path, str]]
) -> list[list[Scored]]:
    """The paths of each problem with their log-probabilities, most probable first."""
    flat = [(problem, path, origin) for problem, found in enumerate(paths) for path, origin in found.items()]
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
    for candidates in scored:
        candidates.sort(key=lambda path: (-path.log_prob, show(path.template)))
    return scored


def near_miss(templates: Sequence[Expr], numbers: Sequence[Fraction], answer: float, pi: float) -> str | None:
    """Of the steps of a beam that failed, the one whose value is nearest to the answer: "N0 + N1 = 12".

    A beam that goes on in vain becomes an equation of dozens of operators; only what a person reads at a
    glance is shown.
    """
    misses: list[tuple[float, str]] = []
    for template in templates:
        if count_operators(template) <= READABLE:
            with suppress(EquationError):
                value = float(evaluate(template, numbers, pi))
                misses.append((abs(value - answer), f"{show(template)} = {value:.6g}"))
    return min(misses)[1] if misses else None
