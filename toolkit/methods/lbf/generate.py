"""Candidates of LBF: what training remembers of a problem, and what 1-FIX makes of beams."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from toolkit.data import ProblemSet
from toolkit.equations import klasses, search, show
from toolkit.methods.base import GenerateConfig, Generated, Scored, nothing
from toolkit.methods.lbf import Lbf
from toolkit.methods.lbf.buffer import digests
from toolkit.methods.lbf.decode import NONE, node_scores
from toolkit.methods.lbf.one_fix import Case, Prefix, one_fix
from toolkit.nn.batches import to_tensors
from toolkit.nn.network import Beam
from toolkit.nn.tree.beam import beam_search
from toolkit.nn.tree.decoder import Source
from toolkit.nn.tree.forest import Forest
from toolkit.nn.tree.gts import GtsNetwork

BATCH = 32

Origins = dict[Prefix, str]  # of the trees of a problem


def generate(
    lbf: Lbf,
    problems: ProblemSet,
    settings: GenerateConfig,
    *,
    device: torch.device | None = None,
    on_batch: Callable[[int], object] = nothing,
) -> list[Generated]:
    """Candidates for each problem of the set; the order of its rows changes nothing."""
    if not len(problems):
        return []
    device = device or next(lbf.network.parameters()).device
    network, tokens, longest = lbf.network.to(device).eval(), lbf.network.tokens, lbf.config.max_tokens
    by_id = problems.with_constants(lbf.constants).sorted_by_id()  # so that batches are the same
    found = remembered(lbf, by_id, settings.search or 0)
    cases = [
        Case(tokens, numbers, answer) for numbers, answer in zip(by_id.numbers, by_id.answers, strict=True)
    ]
    results: dict[str, Generated] = {}
    for batch in to_tensors(by_id, lbf.vocabulary).in_order_of_size(BATCH):
        batch = batch.to(device)
        rows = batch.rows.tolist()
        with torch.no_grad():
            source = network.source(batch)
            beams = beam_search(network.decoder, source, settings.width, longest)
            fixes = fixed_beams(network, source, beams, [cases[row] for row in rows], longest)
            for row, prefixes in zip(rows, fixes, strict=True):
                found[row] |= dict.fromkeys(prefixes, lbf.name)
            reached = [
                {prefix: origin for prefix, origin in found[row].items() if cases[row].reached_by(prefix)}
                for row in rows
            ]
            scored = score(network, source, reached, longest)
        for row, candidates in zip(rows, scored, strict=True):
            results[by_id.ids[row]] = Generated(by_id.ids[row], tuple(candidates))
        on_batch(len(rows))
    return [results[problem_id] for problem_id in problems.ids]


def remembered(lbf: Lbf, problems: ProblemSet, searched: int) -> list[Origins]:
    """What is in the buffer for each problem, and what exhaustive search finds with so many operators."""
    found: list[Origins] = [{} for _ in problems.ids]
    tokens, longest = lbf.network.tokens, lbf.config.max_tokens
    if searched:
        candidates = search(problems.numbers, problems.answers, searched, tokens.constants)
        for origins, of_problem in zip(found, candidates, strict=True):
            for candidate in of_problem:
                prefix = tokens.encode(candidate.template)
                if prefix is not None and len(prefix) <= longest:
                    origins[tuple(prefix)] = "search"
    for origins, digest in zip(found, digests(problems), strict=True):
        origins |= dict.fromkeys(lbf.buffer.of(digest), lbf.name)
    return found


def fixed_beams(
    network: GtsNetwork,
    source: Source,
    beams: Sequence[Sequence[Beam]],
    cases: Sequence[Case],
    longest: int,
) -> list[list[Prefix]]:
    """The beams of each problem that reach its answer, as they are or with one other token."""
    scores = node_scores(network.decoder, source, _padded(beams, source.root.device), longest).cpu()
    fixes: list[list[Prefix]] = []
    for case, of_problem, here in zip(cases, beams, scores, strict=True):
        fixed = [
            one_fix(case, beam.prefix, of_beam[: len(beam.prefix)].tolist())
            for beam, of_beam in zip(of_problem, here, strict=False)
        ]
        fixes.append([prefix for prefix in fixed if prefix is not None])
    return fixes


def _padded(beams: Sequence[Sequence[Beam]], device: torch.device) -> Tensor:
    """The prefixes of all beams [B, K, T]."""
    every = [beam.prefix for of_problem in beams for beam in of_problem]
    width, length = max(map(len, beams)), max(map(len, every), default=0)
    prefixes = torch.full((len(beams), width, length), NONE)
    for i, of_problem in enumerate(beams):
        for k, beam in enumerate(of_problem):
            prefixes[i, k, : len(beam.prefix)] = torch.tensor(beam.prefix)
    return prefixes.to(device)


def score(network: GtsNetwork, source: Source, found: Sequence[Origins], longest: int) -> list[list[Scored]]:
    """The trees of each problem with their log-probabilities, most probable first."""
    flat = [(i, prefix, origin) for i, origins in enumerate(found) for prefix, origin in origins.items()]
    scored: list[list[Scored]] = [[] for _ in found]
    if not flat:
        return scored
    owner, prefixes = [i for i, _, _ in flat], [prefix for _, prefix, _ in flat]
    operators = len(network.tokens.operators)
    forest = Forest.of(prefixes, owner, operators, longest, source.root.device)
    log_prob = network.decoder.log_prob(source, forest).tolist()
    templates = [network.tokens.decode(prefix) for prefix in prefixes]
    for (i, _, origin), template, klass, likely in zip(
        flat, templates, klasses(templates), log_prob, strict=True
    ):
        scored[i].append(Scored(template, klass, likely, origin))
    for candidates in scored:
        candidates.sort(key=lambda candidate: (-candidate.log_prob, show(candidate.template)))
    return scored
