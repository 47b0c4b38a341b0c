"""Gold questions: problems whose equation is known, mixed in to learn how good annotators are."""

import math
from collections.abc import Sequence

import polars as pl

from toolkit.annotators.reliability import FEWEST_GOLD
from toolkit.data import Candidates, ProblemSet, read_problems
from toolkit.data.split import chosen_gold, shuffled
from toolkit.equations import Expr
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.ledger import GOLD, BatchItem, Ledger


def with_gold_file(problems: ProblemSet, config: LoopConfig) -> ProblemSet:
    """The problems to learn from, with those of the file of gold questions, whose split is gold."""
    path = config.annotator.gold_file
    if path is None:
        return problems
    given = read_problems(path, constants=problems.constants)
    usable = given.take([row for row, template in enumerate(given.gold) if template is not None])
    if not len(usable):
        raise WarmkitError(f"{path}: none of its problems has an equation that gives its answer.")
    if common := set(problems.ids) & set(usable.ids):
        raise WarmkitError(
            f"{path}: problem {min(common)} is in {config.data} too. Gold questions need ids of their own."
        )
    table = pl.concat([problems.table, usable.table.with_columns(split=pl.lit(GOLD))])
    return ProblemSet(table, problems.constants, masked=(*problems.masked, *usable.masked))


def given_equations(problems: ProblemSet, config: LoopConfig) -> dict[str, Expr]:
    """D_s at the start: the share of equations that may be used, and those of the file of gold questions."""
    given = chosen_gold(problems, config.known_share, config.seed)
    if config.annotator.gold_file is None:
        return given
    return given | {name: problems.gold_templates[name] for name in _of_file(problems)}


def _of_file(problems: ProblemSet) -> list[str]:
    return problems.table.filter(pl.col("split") == GOLD)["id"].to_list()


def gold_questions(ledger: Ledger) -> frozenset[str]:
    """The problems that were asked as gold questions."""
    return frozenset(item.problem_id for item in ledger.batch() if item.kind == GOLD)


def choose_gold(
    problems: ProblemSet,
    config: LoopConfig,
    before: Sequence[BatchItem],
    questions: int,
    candidates: Candidates,
) -> list[str]:
    """The gold questions of a batch with so many questions, none of which was asked before.

    Their share of all questions is the one that is wanted; the first batch has a few more. Problems with
    several candidates come first: with a single one, nobody can pick a wrong one.
    """
    if config.annotator.names == ("oracle",):
        return []
    asked = {item.problem_id for item in before if item.kind == GOLD}
    total = len(before) - len(asked) + questions
    wanted = math.ceil(config.annotator.gold * total) - len(asked)
    if not asked and config.annotator.gold:  # enough of them to judge somebody after the first batch
        wanted = max(wanted, min(FEWEST_GOLD, questions // 5))
    pool = _of_file(problems) or list(given_equations(problems, config))
    free = [name for name in shuffled(pool, config.seed) if name not in asked]
    free.sort(key=lambda name: len(candidates.scores.get(name, ())) < 2)
    return free[: max(0, wanted)]
