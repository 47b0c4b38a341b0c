import math
from fractions import Fraction

import pytest

from toolkit.equations import draw, latex, parse, show, show_value
from toolkit.equations.symbolic import simplified


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("((N0)+(N1*N2))", "N0 + N1 * N2"),
        ("N0-(N1-N2)", "N0 - (N1 - N2)"),
        ("(N0-N1)-N2", "N0 - N1 - N2"),
        ("(N0*N1)/N2", "N0 * N1 / N2"),
        ("N0/(N1*N2)", "N0 / (N1 * N2)"),
        ("(2^3)^2", "(2 ^ 3) ^ 2"),
        ("2^(3^2)", "2 ^ 3 ^ 2"),
        ("(-5)^2", "(-5) ^ 2"),
        ("0.250 + 1(5/6)", "0.25 + 1(5/6)"),
        ("pi * 2", "π * 2"),
    ],
)
def test_brackets_stand_only_where_they_are_needed(text, printed):
    assert show(parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("N0 * (1 - N1 / 100)", r"N_{0} \times \left(1 - \frac{N_{1}}{100}\right)"),
        ("(N0 / N1) ^ 2", r"\left(\frac{N_{0}}{N_{1}}\right)^{2}"),
        ("3 - (-5)", r"3 - \left(-5\right)"),
        ("π * 1(5/6)", r"\pi \times \frac{11}{6}"),
        ("N0 / N1 * N2", r"\frac{N_{0}}{N_{1}} \times N_{2}"),
    ],
)
def test_latex_is_what_a_person_would_typeset(text, formula):
    assert latex(parse(text)) == formula


def test_a_drawn_tree_shows_its_shape_and_values():
    assert draw(parse("(N0 - N1) / 3"), ["47", "17"]).splitlines() == [
        "/",
        "├── -",
        "│   ├── N0  47",
        "│   └── N1  17",
        "└── 3",
    ]


def test_sympy_simplifies_for_people():
    assert simplified(parse("N0 + N0 + N1 - N1")) == "2*N0"
    assert simplified(parse("π * N0 ^ 2")) == "π*N0^2"


@pytest.mark.parametrize("text", ["9^9^9^9", "(9^99)^99", "N0^(9^9)", "N0^N1", "1+" * 40 + "1"])
def test_what_sympy_might_never_finish_is_not_simplified(text):
    assert simplified(parse(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "(N0 + N1 + N2 + N3) ^ 100",
        "*".join(["(N0 + N1)"] * 10),
        "+".join(f"1 / (N{j} + 1)" for j in range(10)),
        "*".join(["9999999999 ^ 99"] * 10) + "+ N0",
    ],
)
def test_what_has_very_many_terms_or_digits_is_not_simplified(text):
    assert simplified(parse(text)) is None


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("(N0 + N1) ^ 2 - (N0 - N1) ^ 2", "4*N0*N1"),
        ("(N0 + N1 + N2 + N3) ^ 5 / (N0 + N1 + N2 + N3) ^ 4", "N0 + N1 + N2 + N3"),
        ("((N0 + N1) * N2 + (N0 + N1) * N3) / (N2 + N3)", "N0 + N1"),
        ("N0 / N1 / (N2 / N3) - N0 * N3 / (N1 * N2)", "0"),
    ],
)
def test_what_people_write_is_simplified(text, simple):
    assert simplified(parse(text)) == simple


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction("0.25"), "0.25"),
        (Fraction(11, 6), "1(5/6)"),
        (Fraction(10**18 + 1), "1000000000000000001"),
        (Fraction(10) ** 300 + 1, "1e+300"),
        (Fraction(1, 7**40), "1.57064631395e-34"),
        (math.sqrt(2), "1.41421356237"),
    ],
)
def test_a_value_is_exact_if_that_is_short(value, shown):
    assert show_value(value) == shown
