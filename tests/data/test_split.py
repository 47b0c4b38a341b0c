from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.data import ProblemSet
from toolkit.data.duplicates import across_splits, near_duplicates
from toolkit.data.schema import PROBLEMS
from toolkit.data.split import folds, split
from toolkit.errors import WarmkitError


def problems(*texts: str, ids: list[str] | None = None) -> pl.DataFrame:
    rows = [
        {"id": ids[i] if ids else str(i), "text": text, "answer": 1.0, "lang": "en"}
        for i, text in enumerate(texts)
    ]
    return pl.DataFrame(rows, schema=PROBLEMS)


def parts_of(frame: pl.DataFrame) -> dict[str, str]:
    return dict(frame.select("id", "split").iter_rows())


MANY = problems(*[f"story {i}" for i in range(200)])


def test_the_same_seed_gives_the_same_split_and_another_seed_another():
    parts = {"train": 0.8, "test": 0.2}
    assert parts_of(split(MANY, parts, 1)) == parts_of(split(MANY, parts, 1))
    assert parts_of(split(MANY, parts, 1)) != parts_of(split(MANY, parts, 2))


def test_the_order_of_the_rows_does_not_matter():
    parts = {"train": 0.8, "test": 0.2}
    shuffled = MANY.sample(fraction=1.0, shuffle=True, seed=3)
    assert parts_of(split(MANY, parts, 1)) == parts_of(split(shuffled, parts, 1))


@given(st.integers(2, 120), st.integers(0, 5), st.lists(st.floats(0.05, 1), min_size=1, max_size=4))
def test_parts_have_their_shares_to_within_one_problem(count, seed, shares):
    frame = problems(*["x"] * count)
    parts = {f"p{i}": share for i, share in enumerate(shares)}
    sizes = dict(split(frame, parts, seed).group_by("split").len().iter_rows())
    for name, share in parts.items():
        assert abs(sizes.get(name, 0) - count * share / sum(shares)) <= len(parts) / 2 + 0.5


def test_folds_are_of_equal_size():
    sizes = folds(MANY, 3, seed=0).group_by("split").len().sort("split")
    assert sizes.rows() == [("fold0", 67), ("fold1", 67), ("fold2", 66)]


def test_too_many_folds_are_refused():
    with pytest.raises(WarmkitError, match="2 to 3 folds"):
        folds(problems("a", "b", "c"), 4, seed=0)


def test_near_duplicates_tell_the_same_story_with_other_numbers():
    frame = problems(
        "Sue had 5 apples and ate 2 of them. How many apples are left?",
        "Sue had 17 apples and ate 9 of them. How many apples are left?",
        "Sue had 17 pears and ate 9 of them. How many pears are left over now?",
        "A train runs 60 miles an hour for 3 hours. How far does it go?",
    )
    assert near_duplicates(ProblemSet(frame)).rows() == [("0", "1", 1.0)]
    assert {row[:2] for row in near_duplicates(ProblemSet(frame), 0.5).rows()} == {
        ("0", "1"),
        ("0", "2"),
        ("1", "2"),
    }


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=9), min_size=2, max_size=12),
    st.sampled_from([0.5, 0.8, 0.9, 1.0]),
)
def test_the_join_finds_exactly_the_pairs_that_comparing_all_finds(texts, threshold):
    frame = problems(*[" ".join(words) for words in texts])
    grams = [set(words) | set(pairwise(words)) for words in texts]
    expected = {
        (str(i), str(j))
        for i in range(len(texts))
        for j in range(i + 1, len(texts))
        if len(grams[i] & grams[j]) / len(grams[i] | grams[j]) >= threshold
    }
    assert {
        (first, second) for first, second, _ in near_duplicates(ProblemSet(frame), threshold).iter_rows()
    } == expected


def test_near_duplicates_stay_together_and_are_told_where_they_do_not():
    texts = [f"Person {name} had 5 apples and ate 2 of them" for name in "abcdefghij"] * 2
    texts += [f"story {i} about thing {i * 7}" for i in range(20)]
    frame = problems(*texts)
    pairs = near_duplicates(ProblemSet(frame))
    together = split(frame, {"train": 1, "test": 1}, 0, pairs.select("first", "second").rows())
    assert len(across_splits(together, pairs)) == 0
    parted = across_splits(split(frame, {"train": 1, "test": 1}, 0), pairs)
    assert len(parted) > 0
    assert parted.columns == ["first", "second", "similarity", "split", "split_second"]
