import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import references, trees

from toolkit.equations import (
    PI,
    Const,
    EquationError,
    Expr,
    NotInProblem,
    Op,
    Ref,
    bind,
    evaluate,
    klass,
    parse,
    show,
    verify,
)


def bound(equation: str, *numbers: str | int) -> list[str]:
    return [show(template) for template in bind(parse(equation), [Fraction(n) for n in numbers])]


@pytest.mark.parametrize(
    ("equation", "numbers", "template"),
    [
        ("76 - 25", [76, 25], "N0 - N1"),
        ("25 + 76", [76, 25], "N1 + N0"),
        ("70.0 - 27.0", [70, 27], "N0 - N1"),
        ("76 + 1", [76], "N0 + 1"),
        ("24 * (1/6)", [24, "1/6", 6], "N0 * N1"),
        ("80 + 80 * (10/100)", [80, 8, "10/100"], "N0 + N0 * N2"),  # the product is not the 8
        ("6 / 3", [6, 3, 2], "N0 / N1"),
        ("12 / 8", [8, 12], "N1 / N0"),
        ("25 * 80 / 100", ["25/100", 80], "N0 * N1"),
        ("25 / 100 * 80", ["25/100", 80], "N0 * N1"),
        ("80 * 25 * 0.01", ["25/100", 80], "N1 * N0"),
        ("450 * (100 - 20) / 100", [450, "20/100"], "N0 * (1 - N1)"),
        ("25 * 80 / 100", [25, 80, 100], "N0 * N1 / N2"),
        ("3.14 * 5 ^ 2", [5], "π * (N0 * N0)"),
        ("3.14 * 5 ^ 2", [5, "3.14"], "N1 * (N0 * N0)"),
        ("2 ^ 3", [2], "N0 * N0 * N0"),
        ("5 + (-3)", [3, 5], "N1 - N0"),
        ("-3 + 5", [3, 5], "N1 - N0"),
        ("-(3 - 5)", [3, 5], "N1 - N0"),
        ("4 * (-3) + 20", [3, 4, 20], "N2 - N1 * N0"),
        ("-5 + 3", [-5, 3], "N0 + N1"),
        ("N1 - N0", [3, 5], "N1 - N0"),
    ],
)
def test_each_literal_becomes_the_number_of_the_text_that_it_is(equation, numbers, template):
    assert bound(equation, *numbers) == [template]


def test_a_repeated_value_keeps_every_binding_the_likeliest_first():
    assert bound("7 + 7 - 3", 7, 3, 7) == ["N0 + N2 - N1", "N0 + N0 - N1", "N2 + N2 - N1"]
    assert bound("5 - 1", 5, 1) == ["N0 - N1", "N0 - 1"]


def test_bindings_of_one_class_are_kept_once():
    assert bound("7 + 7", 7, 7) == ["N0 + N1", "N0 + N0", "N1 + N1"]


def test_many_repeated_values_stay_within_bounds():
    assert 0 < len(bound("+".join(["5"] * 60), *[5] * 10)) <= 64


@pytest.mark.parametrize(
    ("equation", "numbers", "missing"),
    [
        ("12 * 3", [3], "12"),
        ("27 / 90 * 100", [27, 90], "100"),
        ("-3 * 5", [3, 5], "-3"),
        ("1(5/6) + 3", [3], "1(5/6)"),
    ],
)
def test_a_number_that_the_problem_has_not_is_named(equation, numbers, missing):
    with pytest.raises(NotInProblem) as caught:
        bound(equation, *numbers)
    assert str(caught.value) == f"{missing} is not a number of the problem"


def test_a_reference_beyond_the_numbers_is_refused():
    with pytest.raises(EquationError, match="no number N2"):
        bound("N2 + 1", 5, 6)


def test_powers_are_not_written_out_without_end():
    with pytest.raises(EquationError, match="powers are too large"):
        bound("(" * 50 + "5" + "^3)" * 50, 5)


def test_constants_can_be_chosen():
    constants = [Const(Fraction(100))]
    assert bind(parse("N0 * 100"), [Fraction(3)], constants) == [parse("N0 * 100")]
    with pytest.raises(EquationError, match="π is not a constant"):
        bind(Op("*", Ref(0), PI), [Fraction(3)], constants)


def _over_values(template: Expr, numbers: list[Fraction]) -> Expr:
    if isinstance(template, Op):
        return Op(template.op, _over_values(template.left, numbers), _over_values(template.right, numbers))
    return Const(numbers[template.index]) if isinstance(template, Ref) else template


@given(
    trees(references, operators="+-*"),
    st.lists(st.integers(2, 400).map(Fraction), min_size=5, max_size=5, unique=True),
)
def test_binding_undoes_writing_the_numbers_in(template, numbers):
    templates = bind(_over_values(template, numbers), numbers)
    assert klass(template) == klass(templates[0])
    assert evaluate(templates[0], numbers) == evaluate(template, numbers)


@pytest.mark.parametrize(
    ("equation", "answer", "ok", "reason"),
    [
        ("76 - 25", 51, True, ""),
        ("76 + 25", 51, False, "it gives 101, but the answer is 51"),
        ("76 - 26", 51, False, "26 is not a number of the problem"),
        ("76 -", 51, False, "the equation can't be used: a number is missing at the end (at character 5)"),
        ("76 / (25 - 25)", 51, False, "the equation can't be used: it divides by zero"),
        ("76 - 25", None, True, ""),
    ],
)
def test_a_verdict_says_what_is_wrong_in_a_sentence(equation, answer, ok, reason):
    verdict = verify(equation, [Fraction(76), Fraction(25)], answer)
    assert (verdict.ok, verdict.reason) == (ok, reason)


def test_a_verdict_on_pi_takes_the_school_values():
    numbers = [Fraction(5)]
    assert verify("3.14 * 5 * 5", numbers, 78.5).ok
    assert verify("π * 5 * 5", numbers, 78.5).ok
    assert verify("π * 5 * 5", numbers, 78.53981633974483).ok
    assert not verify("π * 5 * 5", numbers, 79).ok


def test_binding_takes_steps_in_proportion_to_the_equation():
    """Of an equation as long as any that is read, over as many equal numbers as a text may have."""
    equation = "+".join(["(" + "*".join("5" * 19) + ")^3"] * 22)
    steps = 0

    def count(frame, event, argument):
        nonlocal steps
        steps += event == "call"

    numbers = [Fraction(5)] * 62 + [Fraction(1, 5), Fraction(100)]
    sys.setprofile(count)
    try:
        verdict = verify(equation, numbers, 1.0)
    finally:
        sys.setprofile(None)
    assert not verdict.ok
    assert steps < 2_000_000
