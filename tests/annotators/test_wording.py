"""Numbers, equations and complaints in the words of the problem."""

import pytest

from toolkit.annotators.wording import complaint, equation_text, number_texts
from toolkit.data.numbers import find_numbers
from toolkit.equations import DEFAULT_CONSTANTS, evaluate, parse, parse_template


@pytest.mark.parametrize(
    ("lang", "text", "shown"),
    [
        ("en", "She ate 2/3 of 240 sweets at 4% off", ["2/3", "240", "4%"]),
        ("en", "1 1/2 cups and 0.25 litres for 1,000 people", ["1 1/2", "0.25", "1000"]),
        ("en", "twenty-five apples, half of them red", ["25", "0.5"]),
        ("zh", "三分之二的人，共２４０人，25%", ["2/3", "240", "25%"]),
        ("hi", "ढाई किलो और १० %", ["2.5", "10 %"]),
    ],
)
def test_numbers_are_shown_as_the_text_has_them(lang, text, shown):
    assert list(number_texts(text, find_numbers(text, lang))) == shown


def test_an_equation_is_shown_over_the_numbers_of_the_text_and_still_has_its_value():
    text = "2/3 of 240 at 4%"
    operands = find_numbers(text, "en")
    numbers = number_texts(text, operands)
    values = [operand.value for operand in operands]
    for template, shown in (
        ("N1 * N0", "240 * (2/3)"),
        ("N1 / N0", "240 / (2/3)"),
        ("N1 - N1 * N2", "240 - 240 * 4%"),
        ("N0", "2/3"),
    ):
        tree = parse_template(template)
        assert equation_text(tree, numbers) == shown
        assert evaluate(parse(shown), []) == evaluate(tree, values)


@pytest.mark.parametrize(
    ("lang", "equation", "words"),
    [
        ("en", "1 + 1", "«1 + 1»: The reason."),
        ("fr", "1 + 1", "«1 + 1»: The reason."),
        ("hi", "76 + 25", "«76 + 25»: इसका मान 101 है, पर उत्तर 51 है।"),
        ("zh", "76 + 25", "«76 + 25»: 它等于101，而答案是51。"),
        ("zh", "76 -", "«76 -»: 无法识别"),
        ("zh", "76 / 0", "«76 / 0»: 无法识别"),
        ("hi", "60 - 9", "«60 - 9»: इसमें ऐसी संख्या है"),
        ("zh", "", "没有写算式。"),
    ],
)
def test_a_complaint_quotes_the_equation_in_the_language_of_the_problem(lang, equation, words):
    numbers = [parse("76").value, parse("25").value]
    assert complaint(lang, equation, "The reason.", numbers, 51.0, DEFAULT_CONSTANTS).startswith(words)


def test_a_long_equation_is_cut_in_a_complaint():
    assert len(complaint("en", "1+" * 500, "No.", [], 1.0, ())) < 100
