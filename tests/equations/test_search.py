from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import references, trees

from toolkit.equations import (
    Const,
    EquationError,
    count_operators,
    evaluate,
    klass,
    klasses,
    parse,
    reaches,
    search,
    show,
)
from toolkit.equations.search import depth_for, patterns


@pytest.mark.parametrize(("m", "count"), [(2, 6), (3, 68), (4, 1170), (5, 27142)])
def test_the_functions_of_m_numbers_are_counted_as_in_oeis_a140606(m, count):
    assert len(patterns(m).levels[-1]) == count


def test_the_patterns_are_pairwise_different():
    trees_of_four = patterns(4).trees
    assert len(set(klasses(trees_of_four))) == len(trees_of_four)


def found(numbers: list[str | int], answer: float, **options: object) -> list[str]:
    (candidates,) = search([[Fraction(n) for n in numbers]], [answer], **options)
    return [show(candidate.template) for candidate in candidates]


def test_all_candidates_are_found_shortest_first():
    assert found([7, 6, 3], 14, k=2, constants=(), reuse=1) == [
        "N0 + N0",
        "N0 * N2 - N0",
        "N0 / N2 * N1",
    ]


def test_an_answer_that_is_a_number_of_the_text_is_found():
    assert found([42, 7], 42, k=0) == ["N0"]


def test_constants_are_used_but_never_alone():
    assert found([5], 6, k=1) == ["N0 + 1"]
    assert found([5], 1, k=2) == []
    assert found([5], 1, k=2, reuse=1) == []  # N0 / N0 depends on no number


@pytest.mark.parametrize("pi", [3.141592653589793, 3.14, 22 / 7])
def test_pi_is_found_in_each_school_value(pi):
    circle = klass(parse("π * N0 * N0"))
    assert circle in {klass(parse(t)) for t in found([5], pi * 25, k=2, reuse=1)}


def test_the_rule_for_answers_is_that_of_exact_values():
    assert "N0 / N1" in found([10, 3], 3.33)
    assert "N0 / N1" not in found([10, 3], 3.3)
    assert found([10**9, 2], 1e9, constants=()) == ["N0"]
    assert found([10**12, 999], 1e12, constants=()) == ["N0"]


def test_a_number_beyond_all_floats_leads_nowhere_and_harms_nothing():
    assert found([10**400, 5, 6], 30, constants=()) == ["N1 * N2"]


def test_reuse_is_limited():
    assert found([3], 27, k=2, constants=(), reuse=1) == []
    assert [klass(parse(t)) for t in found([3], 27, k=2, constants=(), reuse=2)] == [klass(parse("N0 ^ 3"))]


def test_problems_are_searched_together_as_alone():
    numbers = [[Fraction(n) for n in group] for group in ([3, 4], [5, 6, 7], [8, 9], [2, 2, 3], [], [10])]
    answers = [7.0, 37.0, 72.0, 7.0, 1.0, 11.0]
    together = search(numbers, answers)
    assert together == [search([n], [a])[0] for n, a in zip(numbers, answers, strict=True)]
    assert [bool(candidates) for candidates in together] == [True, True, True, True, False, True]


@settings(max_examples=60, deadline=None)
@given(trees(references, size=4), st.lists(st.integers(2, 50).map(Fraction), min_size=5, max_size=5))
def test_whatever_gives_the_answer_with_few_operators_is_found(template, numbers):
    """Any tree of up to three operators that uses each number once must be among the candidates."""
    used = [node.index for node in _leaves(template)]
    if len(set(used)) < len(used):
        return
    try:
        answer = float(evaluate(template, numbers))
    except EquationError:
        return
    (candidates,) = search([numbers], [answer], k=3)
    assert klass(template) in {candidate.klass for candidate in candidates}
    for candidate in candidates:
        assert reaches(candidate.template, numbers, answer)
        assert count_operators(candidate.template) <= 3
        assert klass(candidate.template) == candidate.klass


def _leaves(tree):
    return [*_leaves(tree.left), *_leaves(tree.right)] if hasattr(tree, "op") else [tree]


def test_every_candidate_is_of_another_class():
    rng = np.random.default_rng(3)
    numbers = [[Fraction(int(n)) for n in rng.integers(1, 20, size=4)] for _ in range(30)]
    for candidates in search(numbers, [12.0] * 30, reuse=1):
        assert len({candidate.klass for candidate in candidates}) == len(candidates)


def test_a_problem_with_forty_numbers_is_searched_less_deep():
    assert depth_for(4, 3) == 3
    assert depth_for(40, 3) == 2
    numbers = [Fraction(10 * j + 1) for j in range(40)]
    (candidates,) = search([numbers], [float(numbers[3] * numbers[39])])
    assert klass(parse("N3 * N39")) in {candidate.klass for candidate in candidates}


def test_constants_of_your_own_are_searched():
    assert "N0 * 100" in found([3], 300, k=1, constants=(Const(Fraction(100)),))


@pytest.mark.parametrize("k", [-1, 5])
def test_a_depth_out_of_range_is_refused(k):
    with pytest.raises(ValueError, match="k must be between 0 and 4"):
        search([[Fraction(1)]], [1.0], k=k)
