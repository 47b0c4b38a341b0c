"""The annotators of a run, from its ledger: nothing here loads torch."""

from collections.abc import Mapping

from toolkit.annotators.resolve import Resolver
from toolkit.annotators.team import Team
from toolkit.loop.ledger import GOLD
from toolkit.loop.run import Run


def team_of(run: Run, resolver: Resolver | None = None) -> Team:
    """All annotators of a run."""
    resolver = resolver or Resolver(run.problems, not run.config.fixed_constants)
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
