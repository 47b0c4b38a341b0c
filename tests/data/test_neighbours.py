"""The solver without training: problems that read alike agree on a class."""

import numpy as np
import polars as pl
import pytest

from toolkit.data import PROBLEMS, ProblemSet
from toolkit.data.neighbours import NO_CLASS, Hits, Neighbours, cost, neighbours, predict
from toolkit.equations import parse, search


def hits(*entries: tuple[int, int, float]) -> Hits:
    rows, classes, scores = zip(*entries, strict=True) if entries else ((), (), ())
    return Hits(np.array(rows, np.int64), np.array(classes, np.int64), np.array(scores, np.float64))


def all_near(size: int) -> Neighbours:
    rows = np.array([[other for other in range(size) if other != row] for row in range(size)])
    return Neighbours(rows, np.ones(rows.shape))


def test_the_class_that_neighbours_share_is_predicted():
    found = hits((0, 5, 0.0), (0, 7, 0.0), (1, 6, 0.0), (1, 7, 0.0), (2, 7, 0.0), (2, 8, 0.0))
    predicted = predict(found, all_near(3))
    assert predicted.tolist() == [7, 7, 7]
    assert found.include(predicted).all()
    assert not found.include(np.array([6, 5, 5])).any()


def test_no_problem_takes_part_in_its_own_prediction():
    rng = np.random.default_rng(0)
    for _ in range(20):
        pairs = sorted({(int(row), int(klass)) for row, klass in rng.integers(0, 6, (20, 2))})
        found = [(row, klass, -float(rng.random())) for row, klass in pairs]
        without = [entry for entry in found if entry[0] != 3]
        assert predict(hits(*found), all_near(6))[3] == predict(hits(*without), all_near(6))[3]


def test_without_hits_nothing_is_predicted():
    assert predict(hits(), all_near(3)).tolist() == [NO_CLASS] * 3
    assert predict(hits((1, 9, 0.0)), all_near(3)).tolist() == [9, NO_CLASS, 9]


def test_a_union_has_every_hit_once_with_its_better_score():
    both = hits((2, 5, -1.0), (0, 6, -2.0)) | hits((2, 5, -0.5), (2, 4, -3.0))
    assert both.rows.tolist() == [0, 2, 2]
    assert both.classes.tolist() == [6, 4, 5]
    assert both.scores.tolist() == [-2.0, -3.0, -0.5]
    assert len((hits() | hits()).rows) == 0


def test_longer_templates_that_leave_out_numbers_or_use_constants_cost_more():
    order = ["N0 + N1", "N0 + N0 + N1", "N0", "N0 + N1 + 1 + 1"]
    costs = [cost(parse(text), 2) for text in order]
    assert costs[0] == min(costs) and costs[3] == max(costs)
    assert cost(parse("N0 + N1"), 3) > cost(parse("N0 + N1"), 2)


@pytest.fixture
def problems() -> ProblemSet:
    texts = {
        "Ann had 9 plums and ate 2. How many plums are left?": 7,
        "Tom had 8 plums and ate 3. How many plums are left?": 5,
        "A bus costs 30 rupees and a train 70. What do both cost together?": 100,
        "A tram costs 20 rupees and a train 60. What do both cost together?": 80,
        "What is 5 and 6 and 7 together?": 18,
    }
    rows = [(str(i), text, float(texts[text]), None, "en", None) for i, text in enumerate(texts)]
    return ProblemSet(pl.DataFrame(rows, schema=PROBLEMS, orient="row"))


def test_problems_that_read_alike_are_near_if_they_have_equally_many_numbers(problems):
    near = neighbours(problems, 3)
    best = near.rows[np.arange(5), near.weights.argmax(axis=1)]
    assert best[:4].tolist() == [1, 0, 3, 2]
    assert near.weights[4].tolist() == [0, 0, 0]  # the only one with three numbers


def test_a_held_out_answer_is_right_if_its_neighbours_have_the_class(problems):
    found = Hits.of(search(problems.numbers, problems.answers, 1), problems)
    right = found.include(predict(found, neighbours(problems)))
    assert right.tolist() == [True, True, True, True, False]
    kept = Hits.of(search(problems.numbers, problems.answers, 1), problems, lambda template: False)
    assert len(kept.rows) == 0
