"""How readings are ranked, and what held-out problems teach."""

import math
from fractions import Fraction

import numpy as np
import pytest

from toolkit.equations import parse_template
from toolkit.solvers.coherence import Coherence
from toolkit.solvers.plausibility import Plausibility, TextNumbers
from toolkit.solvers.ranking import DEFAULT, FEATURES, Ranker, Reading

NUMBERS = [Fraction(8), Fraction(2), Fraction(50)]
IGNORANT = Ranker(Plausibility({}), Coherence({}))


def reading(template: str, value: object, *masses: float) -> Reading:
    return Reading(parse_template(template), value, masses)  # type: ignore[arg-type]


def feature(name: str, *readings: Reading) -> list[float]:
    """Its values, as the scores of a ranker that knows nothing else."""
    return IGNORANT.weighted({name: 1.0}).scores(readings, NUMBERS).tolist()


def test_by_default_probability_plausibility_and_coherence_count():
    plausibility = Plausibility({"whole: whole": 90, "whole: negative": 10})
    coherence = Coherence({"- value whole": 0.7, "- value negative": -3.0})
    ranker = Ranker(plausibility, coherence)
    right, wrong = reading("N0 - N1", Fraction(6), 0.4), reading("N1 - N0", Fraction(-6), 0.6)
    scores = ranker.scores([right, wrong], NUMBERS)
    for score, one, ratio in zip(scores, (right, wrong), (0.7, -3.0), strict=True):
        prior = plausibility.log_prior(float(one.value), TextNumbers(NUMBERS))
        parts = {"probability": math.log(one.masses[0]), "plausibility": prior, "coherence": ratio}
        assert score == pytest.approx(sum(DEFAULT[name] * part for name, part in parts.items()))
    assert scores[0] > scores[1]
    assert {name: weight for name, weight in ranker.weights.items() if weight} == DEFAULT


@pytest.mark.parametrize(
    ("name", "template", "value", "expected"),
    [
        ("unused", "N0 + N1", Fraction(10), 1),
        ("unused", "N0 + N1 + N2", Fraction(60), 0),
        ("reused", "N0 * N0 + N0", Fraction(72), 2),
        ("constants", "N0 + 1 + π", 12.14, 2),
        ("operators", "N0 + N1 + N2", Fraction(60), 2),
        ("above", "N2 * N2 * N1", Fraction(5000), 2),
        ("above", "N0", Fraction(8), 0),
        ("above", "N2 ^ N0", Fraction(50) ** 8, 4),
        ("below", "N1 / N2", Fraction(1, 50), 2),
        ("below", "N0 - N0", Fraction(0), 0),
        ("digits", "N2 / (N0 + N1 + 1 + 1)", Fraction(50, 12), 2.5),
        ("digits", "N0 * N1", Fraction(1600), 0.5),
        ("digits", "1 / (N0 - N0)", None, 0),
    ],
)
def test_what_is_known_of_a_reading(name, template, value, expected):
    assert feature(name, reading(template, value, 0.5)) == [pytest.approx(expected)]


def test_networks_that_agree_count_more_than_one_that_is_sure():
    both, one = reading("N0 + N1", Fraction(10), 0.3, 0.3), reading("N0 - N1", Fraction(6), 0.6, 0.0)
    agree, alone = feature("agreement", both, one)
    assert agree == pytest.approx(0, abs=1e-3)
    assert alone < -3
    assert feature("agreement", reading("N0", Fraction(8), 0.2)) == [0]


def test_held_out_problems_teach_what_tells_right_from_wrong():
    """The likelier reading leaves a number unused, and is wrong in four of five problems."""
    rng = np.random.default_rng(0)
    lazy, whole = reading("N0 + N1", Fraction(10), 0.6), reading("N0 + N1 + N2", Fraction(60), 0.4)
    found = [([lazy, whole], NUMBERS, np.array([is_lazy, not is_lazy])) for is_lazy in rng.random(300) < 0.2]
    before, after = IGNORANT, IGNORANT.fitted(found)
    assert before.scores([lazy, whole], NUMBERS).argmax() == 0
    assert after.scores([lazy, whole], NUMBERS).argmax() == 1
    assert after.weights["unused"] < 0
    assert after.fitted(found).weights == pytest.approx(after.weights, abs=1e-3)


def test_problems_without_a_choice_teach_nothing():
    ranker, only = IGNORANT, reading("N0", Fraction(8), 0.5)
    found = [
        ([only], NUMBERS, np.array([True])),
        ([only], NUMBERS, np.array([False])),
        ([], NUMBERS, np.array([])),
    ]
    assert ranker.fitted(found) is ranker
    assert set(ranker.weights) == set(FEATURES)


def test_few_problems_hardly_move_the_default():
    lazy, whole = reading("N0 + N1", Fraction(10), 0.5), reading("N0 + N1 + N2", Fraction(60), 0.5)
    fitted = IGNORANT.fitted([([lazy, whole], NUMBERS, np.array([False, True]))])
    assert all(abs(weight - DEFAULT.get(name, 0.0)) < 0.2 for name, weight in fitted.weights.items())
