"""The annotators of a run, from its ledger: nothing here loads torch."""

from collections.abc import Collection, Mapping

from toolkit.annotators.questions import Response
from toolkit.annotators.resolve import Resolver
from toolkit.annotators.team import Team
from toolkit.loop.gold import gold_questions
from toolkit.loop.ledger import GOLD, Ledger
from toolkit.loop.run import Run


def team_of(run: Run, resolver: Resolver | None = None) -> Team:
    """All annotators of a run."""
    resolver = resolver or Resolver(run.problems, more_constants=not run.config.fixed_constants)
    batch = run.ledger.batch()
    right: Mapping[str, frozenset[int]] = {
        item.problem_id: run.problems.gold_classes[run.problems.row[item.problem_id]]
        for item in batch
        if item.kind == GOLD
    }
    shown = {(item.round, item.problem_id): item.candidates for item in batch}
    judged = [
        (response, resolver.judgement(response))
        for response in run.ledger.responses()
        if response.problem_id in run.problems.row and response.kind != "withdrawn"
    ]
    return Team(judged, right, shown)


def last_opened(ledger: Ledger) -> int:
    """The last round that was opened; 0 if there is none."""
    return max((round_ for round_, stage, _ in ledger.stages() if stage == "open"), default=0)


def counted_responses(ledger: Ledger, aside: Collection[str]) -> list[Response]:
    """The responses that D_s is made of: not to gold questions, nor of annotators who are set aside."""
    gold = gold_questions(ledger)
    return [
        response
        for response in ledger.responses()
        if response.annotator not in aside and response.problem_id not in gold
    ]
