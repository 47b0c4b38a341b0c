"""The problems that a run learns from, and those that it measures on: in memory, or part by part."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from toolkit.data import ProblemSet, read_problems
from toolkit.data.constants import MOST_PROBLEMS
from toolkit.data.growing import growing_table
from toolkit.data.read import part_files, read_parts
from toolkit.data.split import assign, drawn, order_keys, split
from toolkit.data.stored import StoredProblems
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.gold import given_equations, gold_file_problems
from toolkit.loop.ledger import GOLD

PIECE = 8_192  # problems that are held at a time
LEARN, TEST, LEFT = range(3)  # what a problem is for
USE = "use"  # the column that says so, while the files are made


def problem_count(config: LoopConfig) -> int:
    """How many problems the data of a configuration has, bad rows included."""
    return sum(part.count() for part in part_files(config.data))


def read_sets(config: LoopConfig) -> tuple[ProblemSet, ProblemSet]:
    """The problems to learn from and those to measure on, as the configuration names them."""
    given = read_problems(config.data, constants=config.v_const)
    test = None if config.test is None else read_problems(config.test, constants=config.v_const)
    return divide(given, test, config)


def divide(
    problems: ProblemSet, test: ProblemSet | None, config: LoopConfig
) -> tuple[ProblemSet, ProblemSet]:
    """The problems to learn from and those to measure on: the test set, the split test, or a share."""
    if test is None:
        splits = problems.table["split"]
        if "test" not in splits:
            share = config.test_share
            parts = {"train": 1 - share, "test": share}
            problems = problems.with_table(split(problems.table, parts, config.seed))
            splits = problems.table["split"]
        is_test = [name == "test" for name in splits]
        test = problems.take([row for row, tested in enumerate(is_test) if tested])
        problems = problems.take([row for row, tested in enumerate(is_test) if not tested])
    elif common := set(problems.ids) & set(test.ids):
        raise WarmkitError(
            f"Problem {min(common)} is in the test set and in {config.data}: the two must not overlap."
        )
    if config.limit is not None and len(problems) > config.limit:
        shares = {"kept": config.limit / len(problems), "left": 1 - config.limit / len(problems)}
        kept = split(problems.table, shares, config.seed)["split"] == "kept"
        problems = problems.take([row for row, chosen in enumerate(kept) if chosen][: config.limit])
    if not len(problems) or not len(test):
        raise nothing_to_learn(config)
    return problems, test


def nothing_to_learn(config: LoopConfig) -> WarmkitError:
    return WarmkitError(f"{config.data}: a run needs problems to learn from and problems to test on.")


def write_sets(
    config: LoopConfig, folder: Path, advance: Callable[[int], object] = lambda count: None
) -> StoredProblems:
    """`read_sets`, for a set of any size: problems.parquet and test.parquet in a folder.

    Problems of the file of gold questions are among those to learn from. Problems are held a piece at a time,
    and of all of them some bytes each, by which they are divided.
    """
    test = None if config.test is None else read_problems(config.test, constants=config.v_const)
    gold = gold_file_problems(config)
    elsewhere = {*(test.ids if test is not None else ()), *(gold.ids if gold is not None else ())}
    paths = [folder / name for name in ("problems.parquet", "test.parquet")]
    keys, are_test = [], []
    with growing_table(paths[0]) as growing:
        for part in read_parts(config.data, PIECE)[1]:
            if common := elsewhere.intersection(part.ids):
                raise WarmkitError(
                    f"Problem {min(common)} is in {config.data}, and in the test set or the file of gold "
                    "questions too: they must not overlap."
                )
            growing.add(part.table)
            keys.append(order_keys(part.ids, config.seed))
            are_test.append(part.table["split"] == "test")
            advance(len(part))
        order = np.concatenate(keys)
        is_test = pl.concat(are_test).fill_null(False).to_numpy()
        if test is not None:
            is_test = np.zeros(len(order), dtype=bool)
        elif not is_test.any():
            shares = {"train": 1 - config.test_share, "test": config.test_share}
            is_test = assign(order, np.arange(len(order)), shares) == 1
            names = pl.Series(["train", "test"]).gather(is_test.astype(np.int64))
            growing.set_column("split", names)
        use = np.where(is_test, TEST, LEARN)
        to_learn = np.flatnonzero(use == LEARN)
        if config.limit is not None and len(to_learn) > config.limit:
            shares = {"kept": config.limit / len(to_learn), "left": 1 - config.limit / len(to_learn)}
            kept = assign(order[to_learn], np.arange(len(to_learn)), shares) == 0
            use[to_learn] = LEFT
            use[to_learn[kept][: config.limit]] = LEARN
        if gold is not None:
            growing.add(gold.table.with_columns(split=pl.lit(GOLD)))
            use = np.append(use, np.full(len(gold), LEARN))
        if test is not None:
            growing.add(test.table)
            use = np.append(use, np.full(len(test), TEST))
        if not (use == LEARN).any() or not (use == TEST).any():
            raise nothing_to_learn(config)
        growing.set_column(USE, pl.Series(use))
        kinds = {path: pl.col(USE) == kind for kind, path in enumerate(paths)}
        growing.write(kinds, without=USE)
    return StoredProblems(paths[0], config.v_const)


def constants_sample(stored: StoredProblems, seed: int) -> ProblemSet:
    """The problems by which constants are chosen."""
    return stored.chosen(set(drawn(stored.ids, MOST_PROBLEMS, seed)))


def refuse_known(stored: StoredProblems, config: LoopConfig) -> None:
    """Raise an error if people would be asked nothing, which they would only learn after the training."""
    if not config.annotator.asks_people or stored.columns("equation")["equation"].has_nulls():
        return
    if len(given_equations(stored, config)) == len(stored):
        raise WarmkitError(
            f"{config.data}: all of its {len(stored):,} problems have equations, so there is nothing to ask.",
            "nothing-to-ask",
        )
