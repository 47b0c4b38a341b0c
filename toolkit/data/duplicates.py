"""Near-duplicates: problems with the same story and other numbers.

Two problems are near-duplicates if the sets of unigrams and bigrams of their masked texts have a Jaccard
similarity of at least `threshold`: the measure by which AllArith was filtered (paper, section 5.1), made
symmetric. The join is exact: if the grams of each set are sorted with the rarest first, two sets can only
reach the threshold t if their first |set| - ⌈t |set|⌉ + 1 grams have one in common (prefix filtering; Bayardo
et al. 2007).
"""

import math
from collections import Counter
from itertools import pairwise

import polars as pl

from toolkit.data.problems import ProblemSet
from toolkit.data.tokens import Masked

THRESHOLD = 0.8


def near_duplicates(problems: ProblemSet, threshold: float = THRESHOLD) -> pl.DataFrame:
    """Pairs (first, second, similarity), most similar first; `first` comes before `second` in the table."""
    grams = [_grams(masked) for masked in problems.masked]
    counts = Counter(gram for text_grams in grams for gram in text_grams)
    prefixes = [
        (row, len(text_grams), gram)
        for row, text_grams in enumerate(grams)
        for gram in sorted(text_grams, key=lambda gram: (counts[gram], gram))[
            : _prefix(len(text_grams), threshold)
        ]
    ]
    table = pl.DataFrame(prefixes, schema=["row", "size", "gram"], orient="row")
    pairs = (
        table.join(table, on="gram", suffix="_other")
        .filter(
            pl.col("row") < pl.col("row_other"),
            pl.col("size") >= threshold * pl.col("size_other"),
            pl.col("size_other") >= threshold * pl.col("size"),
        )
        .select("row", "row_other")
        .unique(maintain_order=True)
    )
    found = []
    for first, second in pairs.iter_rows():
        shared = len(grams[first] & grams[second])
        similarity = shared / (len(grams[first]) + len(grams[second]) - shared)
        if similarity >= threshold:
            found.append((problems.ids[first], problems.ids[second], similarity))
    found.sort(key=lambda pair: -pair[2])
    schema = {"first": pl.String, "second": pl.String, "similarity": pl.Float64}
    return pl.DataFrame(found, schema=schema, orient="row")


def across_splits(problems: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs in two different splits: a test problem should have no near-duplicate in training."""
    splits = problems.select("id", "split")
    return (
        pairs.join(splits, left_on="first", right_on="id", maintain_order="left")
        .join(splits, left_on="second", right_on="id", suffix="_second", maintain_order="left")
        .filter(pl.col("split") != pl.col("split_second"))
    )


def _grams(masked: Masked) -> frozenset[str]:
    """Unigrams and bigrams. All numbers are the same token."""
    tokens = [
        "<num>" if number else word for word, number in zip(masked.tokens, masked.is_number, strict=True)
    ]
    return frozenset(tokens) | {f"{a} {b}" for a, b in pairwise(tokens)}


def _prefix(size: int, threshold: float) -> int:
    return size - math.ceil(threshold * size - 1e-9) + 1
