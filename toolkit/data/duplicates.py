"""Near-duplicates: problems that tell the same story with other numbers.

Two problems are near-duplicates if the sets of unigrams and bigrams of their masked texts have a Jaccard
similarity of at least `threshold`: the measure by which AllArith was filtered (paper, section 5.1), made
symmetric. The join is exact: with its rarest grams first, a set can only reach threshold t together with
another if they share one of the first |set| - ⌈t |set|⌉ + 1 (prefix filtering; Bayardo et al. 2007).
"""

import math
from collections import Counter
from itertools import pairwise

import polars as pl

from toolkit.data.tokens import mask

THRESHOLD = 0.8


def near_duplicates(problems: pl.DataFrame, threshold: float = THRESHOLD) -> pl.DataFrame:
    """Pairs (one, other, similarity), most similar first; `one` stands before `other` in the table."""
    grams = [_grams(text, lang) for text, lang in problems.select("text", "lang").iter_rows()]
    counts = Counter(gram for of_text in grams for gram in of_text)
    prefixes = [
        (i, len(of_text), gram)
        for i, of_text in enumerate(grams)
        for gram in sorted(of_text, key=lambda gram: (counts[gram], gram))[: _prefix(len(of_text), threshold)]
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
    ids = problems["id"].to_list()
    found = []
    for one, other in pairs.iter_rows():
        shared = len(grams[one] & grams[other])
        similarity = shared / (len(grams[one]) + len(grams[other]) - shared)
        if similarity >= threshold:
            found.append((ids[one], ids[other], similarity))
    found.sort(key=lambda pair: -pair[2])
    schema = {"one": pl.String, "other": pl.String, "similarity": pl.Float64}
    return pl.DataFrame(found, schema=schema, orient="row")


def across_splits(problems: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs that stand in two different splits: what a test part should not have seen in training."""
    where = problems.select("id", "split")
    return (
        pairs.join(where, left_on="one", right_on="id", maintain_order="left")
        .join(where, left_on="other", right_on="id", suffix="_other", maintain_order="left")
        .filter(pl.col("split") != pl.col("split_other"))
    )


def _grams(text: str, lang: str) -> frozenset[str]:
    """Unigrams and bigrams, each number being the same token."""
    masked = mask(text, lang)
    tokens = [
        "<num>" if number else word for word, number in zip(masked.tokens, masked.is_number, strict=True)
    ]
    return frozenset(tokens) | {f"{a} {b}" for a, b in pairwise(tokens)}


def _prefix(size: int, threshold: float) -> int:
    return size - math.ceil(threshold * size - 1e-9) + 1
