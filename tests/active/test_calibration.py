import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.active.calibration import (
    CURVE_POINTS,
    area_under_risk_coverage,
    auroc,
    brier_score,
    calibration_error,
    chance_error,
    reliability,
    risk_coverage,
)

# Confidence in twentieths: many ties, and values on the edges of bins.
predictions = st.lists(
    st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.booleans()), min_size=1, max_size=40
).map(lambda pairs: tuple(map(list, zip(*pairs, strict=True))))


@settings(deadline=None)
@given(predictions, st.integers(1, 15))
def test_calibration_error_and_brier_score_are_shares(case, bins):
    assert 0 <= calibration_error(*case, bins) <= 1
    assert 0 <= brier_score(*case) <= 1


@settings(deadline=None)
@given(predictions)
def test_with_one_bin_the_calibration_error_is_the_gap_of_the_means(case):
    sure, right = case
    assert calibration_error(sure, right, bins=1) == pytest.approx(abs(np.mean(sure) - np.mean(right)))


def test_the_calibration_error_of_a_hand_example():
    sure, right = [0.95, 0.85, 0.85, 0.15], [True, True, False, False]
    assert calibration_error(sure, right) == pytest.approx(0.05 / 4 + 0.35 * 2 / 4 + 0.15 / 4)


def test_confidence_that_is_the_share_right_has_no_calibration_error():
    assert calibration_error([0.75] * 4, [True, True, True, False]) == pytest.approx(0)


def test_by_chance_few_exact_predictions_are_further_off_than_many():
    few, many = (chance_error([0.5] * count, np.random.default_rng(0)) for count in (10, 1000))
    assert few == pytest.approx(0.123, abs=0.02)  # of ten coins, five are heads but for 1.23 on average
    assert many == pytest.approx(0.0126, abs=0.002)
    assert chance_error([0.0, 1.0, 1.0], np.random.default_rng(0)) == 0


def test_the_brier_score_of_a_hand_example():
    assert brier_score([1.0, 0.5, 0.0], [True, False, True]) == pytest.approx((0 + 0.25 + 1) / 3)


@settings(deadline=None)
@given(predictions)
def test_auroc_is_the_share_of_pairs_in_order(case):
    pairs = list(zip(*case, strict=True))
    rights, wrongs = [s for s, right in pairs if right], [s for s, right in pairs if not right]
    if not rights or not wrongs:
        assert auroc(*case) is None
    else:
        won = sum((a > b) + (a == b) / 2 for a in rights for b in wrongs)
        assert auroc(*case) == pytest.approx(won / (len(rights) * len(wrongs)))


def test_keeping_the_surest_first_the_errors_come_last():
    curve = risk_coverage([0.2, 0.9, 0.6, 0.4], [False, True, True, False])
    assert curve == pytest.approx(np.array([[0.25, 0], [0.5, 0], [0.75, 1 / 3], [1, 0.5]]))
    assert area_under_risk_coverage([0.2, 0.9, 0.6, 0.4], [False, True, True, False]) == pytest.approx(5 / 24)


@settings(deadline=None)
@given(predictions, st.randoms(use_true_random=False))
def test_the_curve_ends_at_the_error_of_all_and_does_not_depend_on_order(case, draw):
    curve = risk_coverage(*case)
    assert curve[-1] == pytest.approx([1, 1 - np.mean(case[1])])
    pairs = list(zip(*case, strict=True))
    draw.shuffle(pairs)
    assert risk_coverage(*zip(*pairs, strict=True)) == pytest.approx(curve)


@settings(deadline=None)
@given(predictions, st.integers(1, 15))
def test_the_bins_of_a_reliability_hold_every_prediction_once(case, bins):
    figures = reliability(*case, bins)
    assert sum(figures.count) == len(case[0])
    assert min(figures.count) > 0
    assert np.dot(figures.count, figures.confidence) == pytest.approx(sum(case[0]))
    assert np.dot(figures.count, figures.right) == pytest.approx(sum(case[1]))
    assert figures.ece == calibration_error(*case, bins)
    assert figures.brier == brier_score(*case)
    assert figures.auroc == auroc(*case)


def test_the_curve_of_a_report_is_thinned_but_keeps_both_ends():
    draw = np.random.default_rng(0)
    sure, right = draw.random(5000), draw.random(5000) < 0.5
    shown = reliability(sure, right).risk_coverage
    whole = risk_coverage(sure, right)
    assert len(shown) == CURVE_POINTS
    assert (shown[0], shown[-1]) == (tuple(whole[0]), tuple(whole[-1]))


def test_a_confidence_a_hair_over_one_is_one():
    assert brier_score([1 + 1e-15], [True]) == 0


@pytest.mark.parametrize(
    ("sure", "right"), [([], []), ([0.5], [True, False]), ([1.2], [True]), ([float("nan")], [True])]
)
def test_what_is_no_confidence_is_refused(sure, right):
    with pytest.raises(ValueError, match="confidence"):
        brier_score(sure, right)
