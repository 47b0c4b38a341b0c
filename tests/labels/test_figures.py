"""Labels to a goal, ratios, and their intervals."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.labels.figures import Interval, Ratio, cost_to, mean_of, ratio_of
from toolkit.labels.markdown import points_text, ratio_text
from toolkit.labels.pieces import Curve, Point


def curve(*pool, batch=10):
    points = (Point(batch * i, 0.0, share, 0.0, (), (), (), ()) for i, share in enumerate(pool))
    return Curve(tuple(points))


def labels(point):
    return point.labels


@pytest.mark.parametrize(
    ("pool", "goal", "cost", "reached"),
    [
        ((0.5, 0.7, 0.9), 0.8, 15, True),
        ((0.5, 0.7, 0.9), 0.7, 10, True),
        ((0.5, 0.7, 0.9), 0.4, 0, True),
        ((0.5, 0.9, 0.6, 1.0), 0.8, 7.5, True),  # the first time
        ((0.5, 0.7, 0.75), 0.8, 20, False),
    ],
)
def test_labels_to_a_goal_lie_on_the_line_between_rounds(pool, goal, cost, reached):
    assert cost_to(curve(*pool), goal, labels) == (pytest.approx(cost), reached)


def test_the_ratio_is_that_of_the_sums_over_paired_seeds():
    pairs = [
        (curve(0.0, 0.5, 1.0), curve(0.0, 1.0)),  # to 0.5: 10 and 5
        (curve(0.2, 0.2, 0.8, 1.0), curve(0.2, 0.8)),  # to 0.5: 15 and 5
    ]
    found = ratio_of(pairs, 0.5, labels)
    assert (found.random, found.strategy) == (pytest.approx(12.5), pytest.approx(5))
    assert found.ratio.value == pytest.approx(2.5)
    assert found.ratio.low == pytest.approx(2) and found.ratio.high == pytest.approx(3)
    assert ratio_text(found) == "12 / 5 = 2.5 (2.0 to 3.0)"
    assert ratio_of(pairs, 0.5, labels) == found


def test_the_goal_is_a_share_of_what_random_comes_to_with_everything_annotated():
    pairs = [(curve(0.0, 0.4, 0.8), curve(0.0, 0.8))]
    assert ratio_of(pairs, 0.5, labels).random == pytest.approx(10)


def test_seeds_that_are_there_at_the_start_say_nothing():
    there, not_there = (curve(0.9, 1.0), curve(0.9, 1.0)), (curve(0.0, 0.9, 1.0), curve(0.0, 1.0))
    found = ratio_of([there, not_there], 0.9, labels)
    assert found.at_start == 1 and found.ratio.value == pytest.approx(10 / 9)
    assert "1 at the start" in ratio_text(found)
    none = ratio_of([there], 0.9, labels)
    assert not none.is_known and none.halves is None and ratio_text(none) == "at the start"


def test_a_strategy_that_never_comes_to_the_goal_is_told_as_censored():
    found = ratio_of([(curve(0.0, 0.5, 1.0), curve(0.0, 0.1, 0.2, 0.3))], 0.9, labels)
    assert found.censored == 1 and found.strategy == 30
    assert ratio_text(found) == "18 / 30 ≤ 0.6 (one seed); 1 never came there"


@pytest.mark.parametrize(
    ("low", "high", "halves"),
    [(2.0, 3.0, True), (1.2, 1.9, False), (1.5, 2.5, None), (-math.inf, math.inf, None)],
)
def test_the_claim_holds_if_the_whole_interval_says_so(low, high, halves):
    assert Ratio(0.95, 40, 20, Interval(2.0, low, high), 10, 0, 0).halves is halves


@pytest.mark.parametrize(("at_start", "censored", "halves"), [(5, 0, True), (6, 0, None), (0, 1, None)])
def test_the_claim_is_open_with_few_seeds_or_if_the_ratio_is_an_upper_bound(at_start, censored, halves):
    assert Ratio(0.95, 40, 10, Interval(4.0, 3.0, 5.0), 10, at_start, censored).halves is halves


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12))
def test_a_mean_lies_in_its_interval(values):
    found = mean_of(values)
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9
    assert points_text(found)
