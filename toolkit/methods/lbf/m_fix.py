"""m-FIX: where no single token fixes a tree, others nearby are tried, m in all.

A random walk: a few tokens are drawn anew from what the model believes at their positions, operators for
operators and operands for operands; the new tree is accepted by its probability against that of the old one
(Metropolis et al. 1953), and 1-FIX has a try at it. A tree that was tried is not tried again.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from toolkit.methods.lbf.one_fix import Case, Prefix, one_fix

PROPOSALS = 6  # that a step may refuse before the next step


def m_fix(
    case: Case, prefix: Prefix, scores: Tensor, fixes: int, generator: torch.Generator
) -> Prefix | None:
    """A tree that reaches the answer, of the shape of this prefix [T]; None if `fixes` tries find none.

    scores [T, V] are the log-probabilities of the tokens at each position.
    """
    known = scores.tolist()
    fixed = one_fix(case, prefix, known)
    if fixed is not None or fixes == 1:
        return fixed
    proposals = Proposals.draw(case, prefix, scores, PROPOSALS * (fixes - 1), generator)
    now, tried = prefix, {prefix}
    for step in range(fixes - 1):
        for proposal in range(step * PROPOSALS, (step + 1) * PROPOSALS):
            new = proposals.applied(proposal, now)
            gain = sum(known[i][token] - known[i][now[i]] for i, token in enumerate(new) if token != now[i])
            if new not in tried and proposals.chance[proposal] < math.exp(min(gain, 0.0)):
                now = new
                tried.add(new)
                fixed = one_fix(case, now, known)
                break
        if fixed is not None:
            return fixed
    return None


@dataclass(frozen=True)
class Proposals:
    """P changes of a tree, drawn at once, since they do not depend on which of them are accepted.

    At every position two tokens are drawn without replacement: the first that is not there already is one
    drawn from all others (Gumbel-max).
    """

    counts: list[int]  # [P] tokens to change
    positions: list[list[int]]  # [P, T] where, the first `counts` of them
    tokens: list[list[list[int]]]  # [P, T, 2], -1 if there is no such token
    chance: list[float]  # [P] what acceptance is compared with

    @staticmethod
    def draw(
        case: Case, prefix: Prefix, scores: Tensor, proposals: int, generator: torch.Generator
    ) -> "Proposals":
        kinds = torch.full(scores.shape, -torch.inf, dtype=torch.float64)
        for position, token in enumerate(prefix):
            same = case.alternatives(token)
            kinds[position, same.start : same.stop] = 0.0
        shape = (proposals, len(prefix))
        noise = torch.empty(*shape, scores.shape[1], dtype=torch.float64).exponential_(generator=generator)
        ranks, tokens = (scores.double() + kinds - noise.log()).topk(2, -1)
        counts = torch.empty(proposals).normal_(generator=generator).abs().long().clamp(1, len(prefix))
        return Proposals(
            counts.tolist(),
            torch.rand(shape, generator=generator).argsort(-1).tolist(),
            tokens.masked_fill(ranks.isinf(), -1).tolist(),
            torch.rand(proposals, generator=generator).tolist(),
        )

    def applied(self, proposal: int, prefix: Prefix) -> Prefix:
        """The prefix after a change."""
        new = list(prefix)
        for position in self.positions[proposal][: self.counts[proposal]]:
            new[position] = next(
                (token for token in self.tokens[proposal][position] if token not in (-1, prefix[position])),
                prefix[position],
            )
        return tuple(new)
