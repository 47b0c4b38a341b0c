"""Seeded splits and folds that depend on the seed and the ids alone, not on the order of the rows."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from heapq import nsmallest
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from toolkit.data.problems import ProblemSet
from toolkit.equations import Expr
from toolkit.errors import WarmkitError

Ints: TypeAlias = npt.NDArray[np.int64]
Keys: TypeAlias = npt.NDArray[np.uint64]


def split(
    problems: pl.DataFrame,
    parts: Mapping[str, float],
    seed: int,
    together: Sequence[tuple[str, str]] = (),
) -> pl.DataFrame:
    """The problems with `split` set to a name of `parts`, in these shares (scaled to 1).

    `together` are pairs of ids that must not be separated (near-duplicates): each group of them goes to the
    least full part.
    """
    ids = problems["id"].to_list()
    return with_split(problems, parts, assign(order_keys(ids, seed), connected(ids, together), parts))


def folds(
    problems: pl.DataFrame, count: int, seed: int, together: Sequence[tuple[str, str]] = ()
) -> pl.DataFrame:
    """The problems with `split` set to fold0, fold1, … of equal size."""
    return split(problems, fold_parts(count, len(problems)), seed, together)


def fold_parts(count: int, problems: int) -> dict[str, float]:
    """The parts fold0, fold1, … of equal shares."""
    if not 2 <= count <= problems:
        raise WarmkitError(f"There must be 2 to {problems} folds (the number of problems), not {count}.")
    return {f"fold{i}": 1.0 for i in range(count)}


def assign(keys: Keys, groups: Ints, parts: Mapping[str, float]) -> Ints:
    """The part of each problem, as a number: its position in `parts`. Each group goes to the least full part.

    The order of the groups is by size, since the parts could not be balanced after large ones, then by their
    keys.
    """
    if not parts or min(parts.values()) <= 0:
        raise WarmkitError("Each part of a split needs a share above 0.")
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    _, first, inverse, sizes = np.unique(
        groups[order], return_index=True, return_inverse=True, return_counts=True
    )
    shares, filled = list(parts.values()), [0] * len(parts)
    chosen = np.zeros(len(sizes), dtype=np.int64)
    for group in np.lexsort((first, -sizes)).tolist():
        size = int(sizes[group])
        least = min(range(len(shares)), key=lambda part: (filled[part] + size / 2) / shares[part])
        filled[least] += size
        chosen[group] = least
    assigned = np.zeros(len(groups), dtype=np.int64)
    assigned[order] = chosen[inverse]
    return assigned


def with_split(problems: pl.DataFrame, parts: Mapping[str, float], assigned: Ints) -> pl.DataFrame:
    """The problems with the names of the parts that they are assigned to."""
    return problems.with_columns(split=pl.Series(list(parts), dtype=pl.String).gather(assigned))


def order_keys(ids: Iterable[str], seed: int) -> Keys:
    """A key [N, 2] of each id, by which ids come into an order that depends on the seed and the ids alone."""
    digests = b"".join(shuffle_key(name, seed) for name in ids)
    return np.frombuffer(digests, dtype=">u8").reshape(-1, 2)


def connected(ids: Sequence[str], together: Sequence[tuple[str, str]]) -> Ints:
    """A number for each id, the same for ids that pairs connect (union-find)."""
    row = {name: i for i, name in enumerate(ids)}
    parent = list(range(len(ids)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for first, second in together:
        parent[root(row[first])] = root(row[second])
    return np.array([root(i) for i in range(len(ids))], dtype=np.int64)


def gold_ids(problems: ProblemSet, share: float, seed: int) -> frozenset[str]:
    """The problems whose equations are used, if a share of them is. A larger share includes every smaller."""
    with_equation = problems.table.filter(pl.col("equation").is_not_null())["id"].to_list()
    return share_of(with_equation, share, seed)


def share_of(ids: Sequence[str], share: float, seed: int) -> frozenset[str]:
    """A share of the ids: those that `drawn` has first."""
    return frozenset(drawn(ids, round(share * len(ids)), seed) if share else ())


def chosen_gold(problems: ProblemSet, share: float, seed: int) -> dict[str, Expr]:
    """D_s, problem → template, with a share of the equations. Those that do not hold are left out."""
    chosen = gold_ids(problems, share, seed)
    if not chosen:
        return {}
    return {
        problem_id: template
        for problem_id, template in problems.gold_templates.items()
        if problem_id in chosen
    }


def shuffled(ids: Sequence[str], seed: int) -> list[str]:
    """The ids in an order that depends on the seed and the ids alone."""
    return sorted(ids, key=lambda name: shuffle_key(name, seed))


def drawn(ids: Iterable[str], count: int, seed: int) -> list[str]:
    """The first ids in the order of `shuffled`, or all if there are fewer."""
    return nsmallest(count, ids, key=lambda name: shuffle_key(name, seed))


def shuffle_key(name: str, seed: int) -> bytes:
    """The place of an id in the order of `shuffled`."""
    return blake2b(f"{seed}/{name}".encode(), digest_size=16).digest()
