"""The annotators of a run, from its ledger: nothing here loads torch."""

from collections.abc import Collection, Mapping

from toolkit.annotators.questions import Response
from toolkit.annotators.resolve import Resolution, Resolver
from toolkit.annotators.team import Team
from toolkit.data import ProblemSet
from toolkit.data.stored import StoredProblems
from toolkit.loop.config import LoopConfig
from toolkit.loop.gold import gold_questions
from toolkit.loop.ledger import GOLD, Ledger


def team_of(ledger: Ledger, resolver: Resolver) -> Team:
    """All annotators of a run; the resolver has at least the problems that they answered."""
    problems, batch = resolver.problems, ledger.batch()
    right: Mapping[str, frozenset[int]] = {
        item.problem_id: problems.gold_classes[problems.row[item.problem_id]]
        for item in batch
        if item.kind == GOLD and item.problem_id in problems.row
    }
    shown = {(item.round, item.problem_id): item.candidates for item in batch}
    judged = [
        (response, resolver.judgement(response))
        for response in ledger.responses()
        if response.problem_id in problems.row and response.kind != "withdrawn"
    ]
    return Team(judged, right, shown)


def answered_problems(stored: StoredProblems, ledger: Ledger) -> ProblemSet:
    """A set with the problems that have responses, or were asked as gold questions."""
    return stored.few({response.problem_id for response in ledger.responses()} | gold_questions(ledger))


def resolver_of(problems: ProblemSet, config: LoopConfig) -> Resolver:
    return Resolver(problems, config.overlap, not config.fixed_constants)


def resolved(
    ledger: Ledger, resolver: Resolver, aside: Collection[str], weighing: Team | None
) -> dict[str, Resolution]:
    """The resolution of each problem that has responses that count; a team weighs the votes."""
    weights = None
    if weighing is not None:
        consensus = weighing.consensus
        weights = {name: consensus.weight(name) for name in consensus.accuracy}
    return resolver.resolve(counted_responses(ledger, aside), weights)


def counted_responses(ledger: Ledger, aside: Collection[str]) -> list[Response]:
    """The responses that D_s is made of: not to gold questions, nor of annotators who are set aside."""
    gold = gold_questions(ledger)
    return [
        response
        for response in ledger.responses()
        if response.annotator not in aside and response.problem_id not in gold
    ]
