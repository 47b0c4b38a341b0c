"""An equation with π reaches an answer that was reckoned with any of its readings, in every language."""

import math

import polars as pl
import pytest
import torch

from toolkit.config import load_config
from toolkit.data import PROBLEMS, ProblemSet, vocabulary_of
from toolkit.equations import DEFAULT_CONSTANTS, PI, klass, klasses, parse, reaches
from toolkit.methods.random_sampling.paths import sample_templates
from toolkit.methods.seq2seq.network import Drawn, rewarded, to_tokens
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.explore import explore, in_codes
from toolkit.nn.batches import pi_readings, to_tensors

AREA = parse("π * N0 * N0")
ANSWERS = {"3.14": 78.5, "π": round(25 * math.pi, 10), "22/7": 22 / 7 * 25}


@pytest.fixture(params=["en", "zh"])
def circles(request) -> ProblemSet:
    """The area of one circle, three times."""
    rows = [
        (name, "A circle of radius 5", answer, None, request.param, None) for name, answer in ANSWERS.items()
    ]
    return ProblemSet(pl.DataFrame(rows, schema=PROBLEMS, orient="row"))


def test_exploration_reaches_the_area_of_a_circle(circles):
    config = load_config(WarmConfig, None, ("model.hidden=8", "model.embedding=8", "model.max_steps=3"))
    vocabulary = vocabulary_of(circles)
    torch.manual_seed(0)
    policy = Warm.new_network(len(vocabulary), circles.constants, config).eval()
    batch = to_tensors(circles, vocabulary).batch(torch.arange(3))
    explored = explore(
        policy, policy.encode(batch), batch, width=36, lookahead=True, extra_steps=0, generator=None
    )
    found = in_codes(policy, explored.found, batch.n)
    reached = set()
    for row, path in zip(found.problem.tolist(), found.paths.tolist(), strict=True):
        template = policy.layout.template(path)
        assert reaches(template, circles.numbers[row], circles.answers[row])
        if klass(template) == klass(AREA):
            reached.add(circles.ids[row])
    assert reached == set(ANSWERS)


def test_random_sampling_reaches_the_area_of_a_circle(circles):
    for templates in sample_templates(circles, paths=2_000, length=8, seed=0):
        assert klass(AREA) in klasses(templates)


def test_a_prefix_is_rewarded_for_the_area_of_a_circle(circles):
    written = [to_tokens(parse(text), DEFAULT_CONSTANTS) for text in ("π * N0 * N0", "π * N0", "N0 * N0")]
    drawn = Drawn(torch.tensor([written] * 3), torch.zeros(3, 3))
    batch = to_tensors(circles, vocabulary_of(circles)).all
    assert rewarded(drawn, batch, DEFAULT_CONSTANTS).tolist() == [[True, False, False]] * 3


def test_an_answer_between_two_readings_is_not_reached():
    mixed = (math.pi - 3.14) * 5  # π is 3.14159… and 3.14 in one equation
    rows = [("a", "A circle of radius 5", mixed, None, "en", None)]
    problems = ProblemSet(pl.DataFrame(rows, schema=PROBLEMS, orient="row"))
    drawn = Drawn(torch.tensor([[to_tokens(parse("(π - π) * N0"), DEFAULT_CONSTANTS)]]), torch.zeros(1, 1))
    batch = to_tensors(problems, vocabulary_of(problems)).all
    assert rewarded(drawn, batch, DEFAULT_CONSTANTS).tolist() == [[False]]


def test_values_have_one_reading_where_there_is_no_pi():
    values = torch.tensor([[1.0, 5.0]], dtype=torch.float64)
    assert pi_readings(values, (parse("1"),)).tolist() == [[[1.0], [5.0]]]
    assert pi_readings(values, (PI,)).tolist() == [[[math.pi, 3.14, 22 / 7], [5.0] * 3]]
