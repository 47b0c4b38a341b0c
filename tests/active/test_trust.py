"""How far the likeliest class can be trusted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.active.calibration import reliability
from toolkit.active.trust import fit_trust, log_odds, trusted


def sample(count, rng):
    """Problems whose confidence says little and whose second fact says much; four of ten have one class."""
    hidden = rng.normal(size=count)
    confidence = np.where(rng.random(count) < 0.4, 1.0, rng.uniform(0.4, 1.0, count))
    right = rng.random(count) < 1 / (1 + np.exp(-2 * hidden))
    return np.column_stack([log_odds(confidence), hidden]), right, confidence


def test_without_evidence_it_is_the_confidence():
    facts, right, confidence = sample(200, np.random.default_rng(0))
    trust = fit_trust(facts[:0], right[:0].tolist(), facts)
    inside = confidence < 0.999  # beyond that it is cut
    np.testing.assert_allclose(trust.confidence(facts)[inside], confidence[inside], atol=1e-6)


@pytest.mark.parametrize("answers", [20, 100, 400])
def test_what_annotators_say_makes_it_better_calibrated_and_better_ordered(answers):
    rng = np.random.default_rng(1)
    facts, right, confidence = sample(answers + 2_000, rng)
    trust = fit_trust(facts[:answers], right[:answers].tolist(), facts)
    before = reliability(confidence[answers:], right[answers:])
    after = reliability(trust.confidence(facts[answers:]), right[answers:])
    assert after.ece < before.ece and after.auroc > before.auroc


def test_all_right_or_all_wrong_is_no_trouble():
    facts, _, _ = sample(30, np.random.default_rng(2))
    high = fit_trust(facts, [True] * 30, facts).confidence(facts)
    low = fit_trust(facts, [False] * 30, facts).confidence(facts)
    assert np.isfinite(high).all() and (low < high).all() and low.mean() < 0.3 < 0.9 < high.mean()


def test_a_column_that_never_changes_is_no_trouble():
    facts, right, _ = sample(50, np.random.default_rng(3))
    facts = np.column_stack([facts, np.full(50, 7.0)])
    assert np.isfinite(fit_trust(facts, right.tolist(), facts).confidence(facts)).all()


@given(
    st.lists(st.floats(0.01, 1.0), min_size=1, max_size=8),
    st.floats(1e-6, 1 - 1e-6),
)
def test_the_top_class_gets_the_confidence_and_the_order_stays(weights, confidence):
    posteriors = np.sort(np.array(weights) / sum(weights))[::-1]
    found = trusted(posteriors, confidence)
    assert found[0] == pytest.approx(confidence)
    assert found.sum() <= 1 + 1e-9 and (found >= 0).all()
    assert (np.diff(found) <= 1e-12).all()


def test_a_single_class_need_not_be_certain():
    assert trusted(np.array([1.0]), 0.4).tolist() == [0.4]
