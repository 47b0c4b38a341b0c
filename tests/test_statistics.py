"""Intervals of shares and of paired differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.statistics import paired, share_of, wilson


def test_a_share_has_the_interval_of_wilson():
    found = share_of([True] * 2 + [False] * 8)
    assert (found.share, found.count) == (0.2, 10)
    assert found.interval == pytest.approx((0.0567, 0.5098), abs=1e-4)


def test_of_no_cases_nothing_is_known():
    assert share_of([]).interval == (0.0, 1.0)
    assert paired([], []).is_chance


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_the_interval_holds_the_share(right):
    found = share_of(right)
    assert 0 <= found.low <= found.share <= found.high <= 1
    assert found.low < found.high


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=200))
def test_the_interval_holds_the_difference_and_turns_with_the_order(pairs):
    first, second = zip(*pairs, strict=True)
    gain, loss = paired(first, second), paired(second, first)
    assert -1 <= gain.low <= gain.difference <= gain.high <= 1
    assert gain.low < gain.high
    assert (loss.low, loss.high) == pytest.approx((-gain.high, -gain.low))


def test_pairs_tell_more_than_two_intervals():
    """Of 200 problems the second gets the same 100 right and 12 more: its interval alone overlaps widely."""
    first = [True] * 100 + [False] * 100
    second = [True] * 112 + [False] * 88
    assert wilson(0.50, 200).high > wilson(0.56, 200).low
    assert not paired(first, second).is_chance


def test_a_few_changes_both_ways_are_chance():
    assert paired([True] * 5 + [False] * 6 + [True] * 89, [False] * 5 + [True] * 6 + [True] * 89).is_chance


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(0)
    held = shares = 0
    for _ in range(2_000):
        first = rng.random(100) < 0.4
        second = np.where(rng.random(100) < 0.3, rng.random(100) < 0.7, first)  # 0.4 + 0.3 · 0.3 = 0.49
        found = paired(first.astype(float), second.astype(float))
        held += found.low <= 0.09 <= found.high
        shares += share_of(first).low <= 0.4 <= share_of(first).high
    assert 0.93 <= held / 2_000 <= 0.975
    assert 0.93 <= shares / 2_000 <= 0.975
