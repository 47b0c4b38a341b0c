from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import written

from toolkit.equations import EquationError, evaluate, parse, show
from toolkit.equations.parse import MAX_LENGTH


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("76 - 25", 51),
        ("76 − 25", 51),
        ("76 – 25", 51),
        ("6 × 7", 42),
        ("6 · 7", 42),
        ("84 ÷ 2", 42),
        ("84 : 2", 42),
        ("2 ** 5", 32),
        ("2 ^ 3 ^ 2", 512),
        ("-2 ^ 2", -4),
        ("5² + 2³", 33),
        ("100 - 20 - 5", 75),
        ("100 / 20 / 5", 1),
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("[2 + {3 * (1 + 1)}] * 4", 32),
        ("（2 + 3）×【4】", 20),
        ("x = 76 - 25", 51),
        ("X=(70.0-27.0)", 43),
        ("76 - 25 = x", 51),
        ("76 - 25 =", 51),
        ("76 - 25 = 51", 51),
        ("51 = 76 - 25", 51),
        ("x = 76 - 25 = 51", 51),
        ("25% * 80", 20),
        ("12.5 % * 80", 10),
        ("１２．５－［３＋４］", Fraction(11, 2)),
        ("१२ + ३", 15),
        ("1(5/6)", Fraction(11, 6)),
        ("1 5/6 + 1", Fraction(17, 6)),
        ("1((19)/(25))", Fraction(44, 25)),
        ("((4)/(7))", Fraction(4, 7)),
        ("½ + 1¼", Fraction(7, 4)),
        ("1,000 + 10,00,000.5", Fraction("1001000.5")),
        ("$5 + ₹ 3", 8),
        (".5 * 4", 2),
        ("1e3 + 2.5E-1", Fraction("1000.25")),
        ("3 - -2", 5),
        ("-(2 + 3)", -5),
        ("+5", 5),
    ],
)
def test_what_people_write_is_read_as_they_mean_it(text, value):
    assert evaluate(parse(text)) == value


@pytest.mark.parametrize(
    ("text", "words", "position"),
    [
        ("", "no equation", 0),
        ("x = ", "no equation", 0),
        ("5 +", "missing at the end", 3),
        ("5 + * 3", "missing before '*'", 4),
        ("2(3+4)", "write * to multiply", 1),
        ("10(12/5)", "write * to multiply", 2),
        ("(2)(3)", "write * to multiply", 3),
        ("3 4", "write * to multiply", 2),
        ("3 x 5", "x may only stand alone", 2),
        ("2 * x = 10", "x may only stand alone", 4),
        ("(3 + 4", "never closed", 0),
        ("3 + 4)", "closes no bracket", 5),
        ("(3 + 4]", "closes no bracket", 6),
        ("()", "missing before ')'", 1),
        ("1,2", "',' is not part", 1),
        ("(5)%", "percent sign may only follow a number", 3),
        ("76 - 25 = 50", "given as 50, but it is 51", 9),
        ("10 / 3 = 3.34", "given as 3.34, but it is 3.33333333333", 8),
        ("10 ^ 12 + 1 = 10 ^ 12", "one side of '='", 13),
        ("10 ^ 12 + 1 = 1000000000000", "given as 1000000000000, but it is 1000000000001", 13),
        (
            "10^18 + 1/7 = 1000000000000000000",
            "given as 1000000000000000000, but it is almost 1000000000000000000",
            13,
        ),
        ("1 + 1 = 2.00000000000000000001", "given as 2.00000000000000000001, but it is 2", 7),
        ("1 + 1 = " + "9" * 400, "this number is too large", 8),
        ("9" * 400 + "(1/2) + 1", "this number is too large", 0),
        ("1 + 2 = 3 + 0", "one side of '='", 7),
        ("twelve", "'twelve' is not part", 0),
        ("__import__('os')", "'__import__' is not part", 0),
        ("5; import os", "';' is not part", 1),
        ("N5000 + 1", "no number N5000", 0),
        ("(" * 5_000 + "1" + ")" * 5_000, "at most 1,000 are read", None),
        ("(" * 400 + "1" + ")" * 400, "nested more than", 241),
        ("1+" * 400 + "1", "nested more than", 239),
        ("-" * 900 + "(1+2)", "nested more than", None),
        ("1" * 10_000_000, "10,000,000 characters", None),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text, words, position):
    with pytest.raises(EquationError) as caught:
        parse(text)
    assert words in str(caught.value)
    if position is not None:
        assert caught.value.position == position


@pytest.mark.parametrize(
    "text",
    ["10 / 3 = 3.33", "3.3333333333333335 = 10 / 3", "π * 5 = 15.7", "0.1 + 0.2 = 0.30000000000000004"],
)
def test_a_claimed_result_may_be_rounded_as_an_answer_may(text):
    assert parse(text) in {parse(side) for side in text.split("=")}


@given(written)
def test_a_printed_tree_parses_to_the_same_tree(tree):
    assert parse(show(tree)) == tree


@given(st.text(alphabet="0123456789.,+-*/^()[]{}%xXN=π½² eE:$", max_size=60) | st.text(max_size=40))
def test_any_text_is_a_tree_or_a_typed_error(text):
    try:
        tree = parse(text)
    except EquationError as error:
        assert error.message
        assert error.position is None or 0 <= error.position <= len(text)
    else:
        assert parse(show(tree)) == tree


@pytest.mark.parametrize("text", ["(", "9^", "1(", "1 1/", "1,000", "-", "1 ", "((1)/"])
def test_the_longest_allowed_text_is_refused_without_a_search_for_other_readings(text):
    """A regular expression that backtracks would hang here."""
    with pytest.raises(EquationError):
        evaluate(parse((text * MAX_LENGTH)[: MAX_LENGTH - 1] + "("))
