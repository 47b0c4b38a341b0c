"""How far the likeliest class can be trusted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.active.calibration import reliability
from toolkit.active.trust import Trust, fit_trust, no_belief, trusted

BELIEF = Trust(means=(1.0, 0.0), scales=(1.0, 1.0), weights=(1.0, 0.0, 2.0))  # in the first fact alone


def sample(count, rng):
    """Problems whose first fact says a little, and whose second fact says much."""
    first, hidden = rng.normal(size=count), rng.normal(size=count)
    right = rng.random(count) < 1 / (1 + np.exp(-0.5 * first - 2 * hidden))
    return np.column_stack([first, hidden]), right


def test_without_evidence_it_is_what_was_believed_before():
    facts, _ = sample(200, np.random.default_rng(0))
    assert fit_trust(BELIEF, facts[:0], []) == BELIEF
    odds = facts[:, 0] - 1 + 2
    np.testing.assert_allclose(BELIEF.confidence(facts), 1 / (1 + np.exp(-odds)))


@pytest.mark.parametrize("answers", [20, 100, 400])
def test_what_annotators_say_makes_it_better_calibrated_and_better_ordered(answers):
    rng = np.random.default_rng(1)
    facts, right = sample(answers + 2_000, rng)
    trust = fit_trust(BELIEF, facts[:answers], right[:answers].tolist())
    before = reliability(BELIEF.confidence(facts[answers:]), right[answers:])
    after = reliability(trust.confidence(facts[answers:]), right[answers:])
    assert after.ece < before.ece and after.auroc > before.auroc


def test_a_few_answers_change_less_than_many():
    facts, right = sample(400, np.random.default_rng(2))
    learnt = [
        fit_trust(BELIEF, facts[:answers], right[:answers].tolist()).weights[1] for answers in (2, 20, 400)
    ]
    assert BELIEF.weights[1] < learnt[0] < learnt[1] < learnt[2]


def test_all_right_or_all_wrong_is_no_trouble():
    facts, _ = sample(30, np.random.default_rng(2))
    high = fit_trust(BELIEF, facts, [True] * 30).confidence(facts)
    low = fit_trust(BELIEF, facts, [False] * 30).confidence(facts)
    assert np.isfinite(high).all() and (low < high).all() and low.mean() < 0.3 < 0.9 < high.mean()


def test_a_column_that_never_changes_is_no_trouble():
    facts, right = sample(50, np.random.default_rng(3))
    facts = np.column_stack([facts, np.full(50, 7.0)])
    assert np.isfinite(fit_trust(no_belief(facts), facts, right.tolist()).confidence(facts)).all()


problems = st.lists(
    st.tuples(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=8), st.floats(1e-6, 1 - 1e-6)),
    min_size=1,
    max_size=4,
)


@given(problems)
def test_the_top_class_gets_the_confidence_and_the_order_stays(drawn):
    posteriors = [np.sort(np.array(weights) / sum(weights))[::-1] for weights, _ in drawn]
    problem = np.repeat(np.arange(len(drawn)), [len(shares) for shares in posteriors])
    confidence = np.array([sure for _, sure in drawn])
    found = trusted(np.concatenate(posteriors), problem, confidence)
    for row, sure in enumerate(confidence):
        of_problem = found[problem == row]
        assert of_problem[0] == pytest.approx(sure)
        assert of_problem.sum() <= 1 + 1e-9 and (of_problem >= 0).all()
        assert (np.diff(of_problem) <= 1e-12).all()


def test_a_single_class_need_not_be_certain():
    assert trusted(np.array([1.0]), np.array([0]), np.array([0.4])).tolist() == [0.4]
