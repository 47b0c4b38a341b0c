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
        (Fraction(0), 0.0, True),
        (Fraction("5e-10"), 0.0, False),
        (Fraction(-5), 5.0, False),
        (Fraction(47861), 47861.01, False),
        (Fraction(1_000_001), 1e6, False),
        (Fraction(10**9 + 1), 1e9, False),
        (Fraction(10**12 + 999), 1e12, False),
        (Fraction(10**18 + 1), 1e18, False),
        (Fraction(1234567890123457), 1234567890123456.0, False),
        (Fraction(12345678901234567890), 12345678901234567890.0, True),
        (Fraction(10) ** 400, 1e300, False),
        (Fraction(5), math.inf, False),
        (Fraction(5), math.nan, False),
    ],
)
def test_an_answer_is_the_equal_value(value, answer, same):
    assert matches(value, answer) is same


@pytest.mark.parametrize(
    ("value", "answer", "same"),
    [
        (Fraction(10, 3), 3.33, True),
        (Fraction(10, 3), 3.33333, True),
        (Fraction(10, 3), 3.34, False),
        (Fraction(10, 3), 3.3, False),  # one decimal is too few to know that it was rounded
        (Fraction(10, 3), 3.0, False),
        (Fraction(11, 3), 3.67, True),
        (Fraction(11, 3), 3.66, False),  # cut off, not rounded
        (Fraction("3.333"), 3.33, False),  # a finite decimal is exact
        (Fraction(1, 8), 0.13, False),
        (math.sqrt(2), 1.41, True),
        (math.sqrt(2), 1.4, False),
    ],
)
def test_only_a_value_that_is_no_finite_decimal_is_rounded_and_to_two_decimals_or_more(value, answer, same):
    assert matches(value, answer) is same


@pytest.mark.parametrize(
    ("value", "answer", "same"),
    [
        (Fraction(1, 3), 0.3333333333333333, True),
        (Fraction(3, 10), 0.1 + 0.2, True),
        (0.1 + 0.2, 0.3, True),
        (Fraction(100, 3), 33.333333333333336, True),
        (Fraction("0.3000000000001"), 0.1 + 0.2, False),
        (Fraction(1, 3), 0.3333333333333433, False),
    ],
)
def test_an_answer_that_float_arithmetic_made_is_compared_as_a_float(value, answer, same):
    assert matches(value, answer) is same


def test_digits_that_a_float_has_lost_count_if_the_answer_is_a_fraction():
    assert matches(Fraction(2**60 + 1), float(2**60))
    assert not matches(Fraction(2**60 + 1), Fraction(2**60))


def test_a_number_that_float_arithmetic_made_is_no_finite_decimal():
    thirds = [Fraction("0.3333333333333333"), Fraction("0.08333333333333333")]
    assert reaches(parse("N0 + N0 + N1"), thirds, 0.75)
    assert reaches(parse("N0 + N0"), thirds, 0.6666666667)
    assert not reaches(parse("N0 + N0"), thirds, 0.6666666666)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16 ^ 0.5", 4),
        ("(4/9) ^ 1.5", Fraction(8, 27)),
        ("8 ^ (1/3)", 2),
        ("0 ^ 0.5", 0),
        ("2 ^ (0-2)", 0.25),
    ],
)
def test_a_root_that_is_a_fraction_is_exact(text, value):
    assert isinstance(evaluate(parse(text)), Fraction)
    assert evaluate(parse(text)) == value


@pytest.mark.parametrize("text", ["10^99 * 10^99 * 10^99 * 10^99", "π^60 * π^60 * π^60", "2^0.5 * 10^99^3"])
def test_every_value_is_a_finite_float(text):
    with pytest.raises(EquationError, match=r"too large|too many digits|exponent"):
        evaluate(parse(text))


@pytest.mark.parametrize("pi", [math.pi, 3.14, 22 / 7])
def test_an_equation_with_pi_reaches_the_answer_for_each_school_value_of_pi(pi):
    assert reaches(parse("π * N0 * N0"), [Fraction(5)], pi * 25)
    assert not reaches(parse("π * N0 * N0"), [Fraction(5)], 3.2 * 25)
