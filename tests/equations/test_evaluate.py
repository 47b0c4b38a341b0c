import math
from fractions import Fraction

import pytest
from hypothesis import given
from trees import references, trees, whole_numbers

from toolkit.equations import EquationError, Op, evaluate, matches, parse, reaches
from toolkit.equations.symbolic import to_sympy
from toolkit.equations.tree import postorder


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("5 / 0", "divides by zero"),
        ("5 / (3 - 3)", "divides by zero"),
        ("0 ^ (0-1)", "divides by zero"),
        ("9^9^9^9", "exponent is larger than 100"),
        ("(9^99)^99", "too large"),
        ("(0-4) ^ 0.5", "root of a negative number"),
        ("N3 + 1", "no number N3"),
    ],
)
def test_what_has_no_value_says_why(text, words):
    with pytest.raises(EquationError, match=words):
        evaluate(parse(text), [Fraction(1)])


def test_values_are_exact_fractions():
    assert evaluate(parse("N0 / 3 + N0 / 3 + N0 / 3"), [Fraction("0.1")]) == Fraction("0.1")


@given(trees(whole_numbers))
def test_values_agree_with_sympy(tree):
    divisors = [to_sympy(node.right) for node in postorder(tree) if isinstance(node, Op) and node.op == "/"]
    try:
        value = evaluate(tree)
    except EquationError:
        assert 0 in divisors
    else:
        oracle = to_sympy(tree)
        assert (value.numerator, value.denominator) == (oracle.p, oracle.q)


@given(trees(references))
def test_a_division_by_zero_is_never_an_exception_of_python(tree):
    try:
        evaluate(tree, [Fraction(0)] * 5)
    except EquationError as error:
        assert "divides by zero" in str(error)


@pytest.mark.parametrize(
    ("value", "answer", "same"),
    [
        (Fraction(1, 3), 0.3333333333333333, True),
        (Fraction(10, 3), 3.33333, True),
        (Fraction(1, 3), 0.33, False),
        (Fraction(47861), 47861.01, False),
        (Fraction(1_000_001), 1e6, False),
        (0.1 + 0.2, 0.3, True),
        (Fraction(0), 0.0, True),
        (Fraction(-5), 5.0, False),
        (Fraction(10) ** 400, 1e300, False),
    ],
)
def test_an_answer_is_matched_up_to_the_rounding_it_shows(value, answer, same):
    assert matches(value, answer) is same


@pytest.mark.parametrize("pi", [math.pi, 3.14, 22 / 7])
def test_an_equation_with_pi_reaches_the_answer_for_each_school_value_of_pi(pi):
    assert reaches(parse("π * N0 * N0"), [Fraction(5)], pi * 25)
    assert not reaches(parse("π * N0 * N0"), [Fraction(5)], 3.2 * 25)
