import math
import random

import pytest

from toolkit.active.confidence import class_scores, fit_temperature, posterior


def test_members_of_a_class_add_up():
    scores = class_scores(["a", "b", "a"], [math.log(0.2), math.log(0.3), math.log(0.2)])
    assert scores["a"] == pytest.approx(math.log(0.4))
    assert posterior(scores) == pytest.approx({"a": 0.4 / 0.7, "b": 0.3 / 0.7})


def test_a_problem_without_candidates_has_no_posterior():
    assert posterior(class_scores([], [])) == {}


def test_very_small_probabilities_keep_their_ratio():
    assert posterior({"a": -2000.0, "b": -2000.0 - math.log(3)}) == pytest.approx({"a": 0.75, "b": 0.25})


def test_the_temperature_that_drew_the_classes_is_found():
    draw = random.Random(3)
    scores, known = [], []
    for _ in range(3000):
        of_problem = {k: draw.uniform(-6, 0) for k in range(3)}
        shares = posterior(of_problem, 2.5)
        scores.append(of_problem)
        known.append(draw.choices(list(shares), list(shares.values()))[0])
    assert fit_temperature(scores, known) == pytest.approx(2.5, rel=0.15)


def test_where_nothing_is_known_the_temperature_is_one():
    assert fit_temperature([{"a": -1.0, "b": -2.0}], [None]) == 1.0
    assert fit_temperature([{"a": -1.0}], ["a"]) == 1.0
