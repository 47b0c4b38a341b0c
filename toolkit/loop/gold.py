"""Gold questions: problems whose equation is known, mixed in to learn how good annotators are."""

import math
from collections.abc import Collection, Sequence

import polars as pl

from toolkit.annotators.reliability import FEWEST_GOLD
from toolkit.data import ProblemSet, read_problems
from toolkit.data.split import share_of, shuffled
from toolkit.data.stored import PART, StoredProblems
from toolkit.equations import Expr
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.found import RoundCandidates
from toolkit.loop.ledger import GOLD, BatchItem, Ledger


def with_gold_file(problems: ProblemSet, config: LoopConfig) -> ProblemSet:
    """The problems to learn from, with those of the file of gold questions, whose split is gold."""
    usable, path = gold_file_problems(config), config.annotator.gold_file
    if usable is None:
        return problems
    if common := set(problems.ids) & set(usable.ids):
        raise WarmkitError(
            f"{path}: problem {min(common)} is in {config.data} too. Gold questions need ids of their own."
        )
    table = pl.concat([problems.table, usable.table.with_columns(split=pl.lit(GOLD))])
    return ProblemSet(table, problems.constants, masked=(*problems.masked, *usable.masked))


def gold_file_problems(config: LoopConfig) -> ProblemSet | None:
    """The problems of the file of gold questions whose equations hold; None if there is no file."""
    path = config.annotator.gold_file
    if path is None:
        return None
    given = read_problems(path, constants=config.v_const)
    usable = given.take([row for row, template in enumerate(given.gold) if template is not None])
    if not len(usable):
        raise WarmkitError(f"{path}: none of its problems has an equation that gives its answer.")
    return usable


def given_equations(stored: StoredProblems, config: LoopConfig) -> dict[str, Expr]:
    """D_s at the start: the share of equations that may be used, and those of the file of gold questions."""
    with_equation = stored.columns("id", "equation").drop_nulls("equation")["id"]
    chosen = share_of(with_equation.to_list(), config.known_share, config.seed) | set(
        _of_file(stored, config)
    )
    given: dict[str, Expr] = {}
    for part in stored.parts(PART) if chosen else ():
        rows = [row for row, problem_id in enumerate(part.ids) if problem_id in chosen]
        given |= part.take(rows).gold_templates if len(rows) < len(part) else part.gold_templates
    return given


def _of_file(stored: StoredProblems, config: LoopConfig) -> list[str]:
    if config.annotator.gold_file is None:
        return []
    return stored.columns("id", "split").filter(pl.col("split") == GOLD)["id"].to_list()


def gold_questions(ledger: Ledger) -> frozenset[str]:
    """The problems that were asked as gold questions."""
    return frozenset(item.problem_id for item in ledger.batch() if item.kind == GOLD)


def choose_gold(
    given: Collection[str],
    stored: StoredProblems,
    config: LoopConfig,
    before: Sequence[BatchItem],
    questions: int,
    found: RoundCandidates,
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
    pool = _of_file(stored, config) or list(given)
    free = [name for name in shuffled(pool, config.seed) if name not in asked]
    tops = found.tops("problem_id", "classes").filter(pl.col("classes") > 1) if free else None
    several = frozenset[str]() if tops is None else frozenset(tops["problem_id"]) & frozenset(free)
    free.sort(key=lambda name: name not in several)
    return free[: max(0, wanted)]
