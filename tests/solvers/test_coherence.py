"""Which numbers belong together."""

from fractions import Fraction

import pytest

from toolkit.equations import parse_template
from toolkit.solvers.coherence import Coherence, steps_of, traits


def learnt(template: str, *numbers: int) -> tuple[list[Fraction], list]:
    return [Fraction(number) for number in numbers], [(parse_template(template), 1.0)]


def log_ratio(coherence: Coherence, template: str, numbers: list[float]) -> float:
    (ratio,) = coherence.log_ratios([parse_template(template)], numbers)
    return ratio


def dividing() -> Coherence:
    """Of problems where everything that comes out even is divided, and all else is added."""
    shared = [learnt("N0 / N1", a * b, b) for a in range(2, 12) for b in range(2, 12)]
    added = [learnt("N0 + N1", a * b + 1, b) for a in range(2, 12) for b in range(2, 12)]
    return Coherence.fit([*shared, *added])


@pytest.mark.parametrize(
    ("template", "steps"),
    [
        ("N0 / N1", [("/", 36.0, 12.0)]),
        ("N0 + N1", [("+", 12.0, 36.0)]),  # in order: the same step as N1 + N0
        ("(N0 - N1) * N2", [("-", 36.0, 12.0), ("*", 0.5, 24.0)]),
        ("N0 * (1 - N2)", [("*", 0.5, 36.0)]),  # what constants do is not judged
        ("N0 / (N1 - N1)", [("-", 12.0, 12.0), ("/", 36.0, 0.0)]),
        ("N0 ^ N1", []),
        ("N0", []),
    ],
)
def test_the_steps_of_an_equation(template, steps):
    assert steps_of(parse_template(template), [36.0, 12.0, 0.5]) == steps


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (("/", 36.0, 12.0), ["/ value whole", "/ given False", "/ smaller 2", "/ ratio 0"]),
        (("*", 0.5, 24.0), ["* value whole-of-broken", "* given True", "* smaller -1", "* ratio 3"]),
        (("-", 12.0, 12.0), ["- value zero", "- given False", "- smaller 2", "- ratio 0"]),
        (("+", 0.0, 5.0), ["+ value whole", "+ given False", "+ smaller -1", "+ ratio zero"]),
        (("/", 1e5, 7.0), ["/ value fraction", "/ given False", "/ smaller 1", "/ ratio 5"]),
        (("/", 36.0, 0.0), []),
        (("*", 1e200, 1e200), []),
    ],
)
def test_the_traits_of_a_step(step, expected):
    assert list(traits(step, [36.0, 12.0])) == expected


def test_a_division_that_comes_out_even_is_no_chance():
    coherence = dividing()
    even, odd = (log_ratio(coherence, "N0 / N1", [a, 12.0]) for a in (36.0, 37.0))
    assert even > 1 > -1 > odd
    assert coherence.ratios["/ value whole"] > 1
    added = log_ratio(coherence, "N0 + N1", [36.0, 12.0])
    assert even > added


def test_what_was_never_counted_says_nothing():
    assert log_ratio(Coherence({}), "N0 / N1", [36.0, 12.0]) == 0
    assert Coherence.fit([]).ratios == {}
    assert log_ratio(dividing(), "N0 ^ N1", [36.0, 12.0]) == 0


def test_equations_of_a_problem_are_compared_at_once():
    templates = [parse_template(text) for text in ("N0 / N1", "N0 + N1", "N0 / N1 + N0 / N1", "N0")]
    first, second, twice, none = dividing().log_ratios(templates, [36.0, 12.0])
    assert first > second and none == 0
    assert twice == 2 * first + log_ratio(dividing(), "N0 + N0", [3.0])


def test_few_equations_are_hardly_believed():
    one = Coherence.fit([learnt("N0 / N1", 36, 12)])
    assert all(abs(ratio) < 1 for ratio in one.ratios.values())


def test_an_equation_that_is_half_believed_teaches_less():
    numbers, [(template, _)] = learnt("N0 / N1", 36, 12)
    doubtful, certain = (Coherence.fit([(numbers, [(template, weight)])] * 20) for weight in (0.5, 1.0))
    assert 0 < doubtful.ratios["/ value whole"] < certain.ratios["/ value whole"]


def test_many_numbers_and_many_problems_end():
    numbers = [Fraction(i) for i in range(1, 3_000)]
    assert Coherence.fit([(numbers, [(parse_template("N0 + N99"), 1.0)])] * 3).ratios
