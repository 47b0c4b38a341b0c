"""Split a problem set of any size, which is read once, in flat memory."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from toolkit.data.duplicates import across_splits, near_duplicates
from toolkit.data.growing import growing_table
from toolkit.data.problems import ProblemSet
from toolkit.data.seen import text_hash
from toolkit.data.split import Ints, assign, connected, fold_parts, order_keys, with_split
from toolkit.data.tokens import Masked
from toolkit.errors import WarmkitError

PIECE = 8_192  # problems that are held at a time
MOST_COMPARED = 25_000  # problems; of more, pairs of near-duplicates may not fit in memory


@dataclass(frozen=True)
class SplitFile:
    """What was written."""

    sizes: dict[str, int]  # problems of each part
    separated: pl.DataFrame | None  # near-duplicates in different parts, None if there are too many problems


def split_file(
    problems: Iterable[ProblemSet],
    out: Path,
    parts: Mapping[str, float] | int,
    seed: int,
    *,
    part_duplicates: bool = False,
    advance: Callable[[int], object] = lambda count: None,
) -> SplitFile:
    """Split what `read_parts` reads into named parts, or so many folds.

    `out` is one table, or a folder with a table for each part. Near-duplicates stay together, unless they may
    be parted. In a set of more than `MOST_COMPARED` problems only those that differ in nothing but their
    numbers stay together.
    """
    compared: list[ProblemSet] | None = []
    keys, stories = [], []
    with growing_table(out) as growing:
        for part in problems:
            growing.add(part.table)
            keys.append(order_keys(part.ids, seed))
            stories.append(np.array([_story(masked) for masked in part.masked], dtype=np.uint64))
            if compared is not None:
                compared.append(part)
                if sum(map(len, compared)) > MOST_COMPARED:
                    compared = None
            advance(len(part))
        if not keys:
            raise WarmkitError("There are no problems to split.")
        whole = None if compared is None else ProblemSet.joined(compared)
        pairs = None if whole is None else near_duplicates(whole)
        groups = _groups(whole, pairs, np.concatenate(stories), part_duplicates)
        named = fold_parts(parts, len(groups)) if isinstance(parts, int) else parts
        assigned = assign(np.concatenate(keys), groups, named)
        growing.set_column("split", pl.Series(list(named), dtype=pl.String).gather(assigned))
        counts = np.bincount(assigned, minlength=len(named)).tolist()
        sizes = {name: size for name, size in sorted(zip(named, counts, strict=True)) if size}
        if out.suffix:
            growing.write({out: None})
        else:
            growing.write({out / f"{name}.parquet": pl.col("split") == name for name in sizes})
    if whole is None or pairs is None:
        return SplitFile(sizes, None)
    return SplitFile(sizes, across_splits(with_split(whole.table, named, assigned), pairs))


def _groups(
    whole: ProblemSet | None, pairs: pl.DataFrame | None, stories: Ints, part_duplicates: bool
) -> Ints:
    """A number for each problem, the same for those that stay together."""
    if part_duplicates:
        return np.arange(len(stories))
    if whole is not None and pairs is not None:
        return connected(whole.ids, pairs.select("first", "second").rows())
    return stories


def _story(masked: Masked) -> int:
    """The same for texts that differ in nothing but their numbers."""
    return text_hash(" ".join(masked.tokens))
