"""What a reply proposes, and whether it holds: parsed, over the numbers of the text, giving the answer."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from annotation.llm.prompt import Asked
from annotation.llm.reply import equation_in
from toolkit.annotators.judge import judge
from toolkit.annotators.questions import Response
from toolkit.equations import Constant, EquationError, Expr, evaluate, parse, reaches, show
from toolkit.equations.tree import references

Reason = Literal["verified", "no JSON", "no equation", "other numbers", "another answer"]


@dataclass(frozen=True)
class Proposal:
    """`reason` says how far it came; templates and classes are those of a verified one."""

    reason: Reason
    equation: str | None = None
    template: str | None = None  # if it was written with the names of numbers
    templates: tuple[Expr, ...] = ()
    klasses: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Checker:
    """Checks replies with the constants of a run; `more_constants` as for people."""

    constants: tuple[Constant, ...]
    more_constants: bool = True

    def __call__(self, problem: Asked, text: str) -> Proposal:
        equation = equation_in(text)
        if equation is None:
            return Proposal("no JSON")
        try:
            tree = parse(equation)
            evaluate(tree, problem.numbers)
        except (EquationError, ArithmeticError, ValueError):
            return Proposal("no equation", equation)
        template = show(tree) if references(tree) else None
        judged = judge(
            Response(problem.problem_id, 0, "equation", equation, None, "llm", "", "", None, template),
            problem.numbers,
            problem.answer,
            self.constants,
            self.more_constants,
        )
        if judged.verdict == "accepted":
            return Proposal("verified", equation, template, judged.templates, judged.klasses)
        return Proposal(self._why_not(problem, tree), equation)

    def _why_not(self, problem: Asked, tree: Expr) -> Reason:
        """Numbers come first: an equation over others that happens to give the answer proves nothing."""
        return "other numbers" if reaches(tree, problem.numbers, problem.answer) else "another answer"


@dataclass(frozen=True)
class Settled:
    """What the replies to a problem come to: an equation that enough of them mean, or None."""

    proposal: Proposal | None
    votes: int
    is_open: bool  # whether further replies could still settle it


def settle(proposals: Sequence[Proposal], agree: int, samples: int) -> Settled:
    """The class that `agree` of the proposals mean; a tie settles nothing."""
    votes = Counter(meaning for proposal in proposals for meaning in proposal.klasses)
    ranked = votes.most_common(2)
    top = ranked[0][1] if ranked else 0
    is_tie = len(ranked) > 1 and ranked[1][1] == top and not _mean_both(proposals, ranked[0][0], ranked[1][0])
    if top >= agree and not is_tie:
        best = next(proposal for proposal in proposals if ranked[0][0] in proposal.klasses)
        return Settled(best, top, False)
    return Settled(None, top, top + samples - len(proposals) >= agree and len(proposals) < samples)


def _mean_both(proposals: Iterable[Proposal], first: int, second: int) -> bool:
    """Whether all who mean one of two classes may mean the other too: then it is one vote, not two."""
    return all((first in proposal.klasses) == (second in proposal.klasses) for proposal in proposals)
