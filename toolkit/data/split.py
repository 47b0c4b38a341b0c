"""Seeded splits and folds that depend on the seed and the ids alone, not on the order of the rows."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import polars as pl

from toolkit.data.problems import ProblemSet
from toolkit.equations import Expr
from toolkit.errors import WarmkitError


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
    if not parts or min(parts.values()) <= 0:
        raise WarmkitError("Each part of a split needs a share above 0.")
    sizes = dict.fromkeys(parts, 0)
    assigned: dict[str, str] = {}
    for group in _groups(shuffled(problems["id"].to_list(), seed), together):
        name = min(parts, key=lambda part: (sizes[part] + len(group) / 2) / parts[part])
        sizes[name] += len(group)
        assigned |= dict.fromkeys(group, name)
    return problems.with_columns(split=pl.col("id").replace_strict(assigned, return_dtype=pl.String))


def folds(
    problems: pl.DataFrame, count: int, seed: int, together: Sequence[tuple[str, str]] = ()
) -> pl.DataFrame:
    """The problems with `split` set to fold0, fold1, … of equal size."""
    if not 2 <= count <= len(problems):
        raise WarmkitError(f"There must be 2 to {len(problems)} folds (the number of problems), not {count}.")
    return split(problems, {f"fold{i}": 1.0 for i in range(count)}, seed, together)


def gold_ids(problems: ProblemSet, share: float, seed: int) -> frozenset[str]:
    """The problems whose equations are used, if a share of them is. A larger share includes every smaller."""
    with_equation = problems.table.filter(pl.col("equation").is_not_null())["id"].to_list()
    return frozenset(shuffled(with_equation, seed)[: round(share * len(with_equation))])


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
    return sorted(ids, key=lambda name: blake2b(f"{seed}/{name}".encode(), digest_size=16).digest())


def _groups(ids: Sequence[str], together: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The ids in groups that pairs connect (union-find), the largest first, then in the order given.

    Large groups go first, because the parts could not be balanced after them.
    """
    parent = {name: name for name in ids}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for first, second in together:
        parent[root(first)] = root(second)
    groups: dict[str, list[str]] = {}
    for name in ids:
        groups.setdefault(root(name), []).append(name)
    return sorted(groups.values(), key=len, reverse=True)
