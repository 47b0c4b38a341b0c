"""What people naturally write for the numbers of a text, in three languages."""

import sys
from fractions import Fraction

import pytest

from toolkit.annotators.judge import Judgement, judge
from toolkit.annotators.questions import Response
from toolkit.data.numbers import find_numbers
from toolkit.equations import DEFAULT_CONSTANTS, Const, klass, parse, show
from toolkit.equations.tree import postorder

SWEETS = "Tom ate 3/4 of 100 sweets. How many did he eat?"
LEFT = "Tom ate 3/4 of 100 sweets. How many are left?"
ALL = "3/4 of the sweets are 75. How many are there?"
HALF = "Half of the 100 sweets are red. How many are red?"
RED = "25% of 80 pens are red. How many are red?"
CHEAPER = "A price of 80 falls by 25%. What is it then?"
DEARER = "A price of 80 rises by 25%. What is it then?"
RECTANGLE = "A rectangle is 12 by 5. What is its perimeter?"
FILM = "A film takes 2 hours and 30 minutes. How many minutes is that?"
ROPE = "一根绳子长240米，用去三分之二，用去多少米？"
ROPE_LEFT = "一根绳子长240米，用去三分之二，还剩多少米？"
GIRLS = "80人的百分之二十五是女生，女生有多少人？"
WALK = "小明走了2小时，每分钟走80米，共走多少米？"
FIELD = "长方形长12米，宽5米，周长是多少？"
HINDI_SWEETS = "राम ने 100 मिठाइयों में से 3/4 खाईं। कितनी खाईं?"
HINDI_QUARTERS = "40 का तीन चौथाई कितना है?"
HINDI_PERCENT = "80 का 25 प्रतिशत कितना है?"
HINDI_RECTANGLE = "आयत की लंबाई 12 और चौड़ाई 5 है। परिमाप कितना है?"
HINDI_TIME = "राम ने ढाई घंटे पढ़ा। कितने मिनट?"

CASES = [
    # parts of a fraction
    ("en", SWEETS, "100*3/4", 75, "N1 * N0"),
    ("en", SWEETS, "100/4*3", 75, "N1 * N0"),
    ("en", SWEETS, "3*(100/4)", 75, "N1 * N0"),
    ("en", SWEETS, "100*0.75", 75, "N1 * N0"),
    ("en", SWEETS, "100*75/100", 75, "N1 * N0"),
    ("en", LEFT, "100 - 100*3/4", 25, "N1 - N1 * N0"),
    ("en", LEFT, "100*(4-3)/4", 25, "N1 * (1 - N0)"),
    ("en", LEFT, "100*1/4", 25, "N1 * (1 - N0)"),
    ("en", LEFT, "100/4", 25, "N1 * (1 - N0)"),
    ("en", ALL, "75*4/3", 100, "N1 / N0"),
    ("en", ALL, "75/3*4", 100, "N1 / N0"),
    ("en", HALF, "100/2", 50, "N1 * N0"),
    ("en", HALF, "100*1/2", 50, "N1 * N0"),
    ("en", "3 friends got 3/4 of 100 sweets. How many each?", "100*3/4/3", 25, "N2 * N1 / N0"),
    ("en", "4 friends got 3/4 of 100 sweets. How many each?", "100*3/4/4", 18.75, "N2 * N1 / N0"),
    ("en", "3/4 of 2/3 of 240 pens are new. How many?", "240*2/3*3/4", 120, "N2 * N1 * N0"),
    ("zh", ROPE, "240*2/3", 160, "N0 * N1"),
    ("zh", ROPE, "240÷3×2", 160, "N0 * N1"),
    ("zh", ROPE_LEFT, "240*(1-2/3)", 80, "N0 * (1 - N1)"),
    ("zh", ROPE_LEFT, "240/3", 80, "N0 * (1 - N1)"),
    ("hi", HINDI_SWEETS, "100*3/4", 75, "N0 * N1"),
    ("hi", HINDI_QUARTERS, "40*3/4", 30, "N0 * N1"),
    ("hi", "40 का आधा कितना है?", "40/2", 20, "N0 * N1"),
    # percentages
    ("en", RED, "80*25/100", 20, "N1 * N0"),
    ("en", RED, "25/100*80", 20, "N0 * N1"),
    ("en", RED, "80*0.25", 20, "N1 * N0"),
    ("en", RED, "80/4", 20, "N1 * N0"),
    ("en", CHEAPER, "80*(100-25)/100", 60, "N0 * (1 - N1)"),
    ("en", CHEAPER, "80*75/100", 60, "N0 * (1 - N1)"),
    ("en", CHEAPER, "80*0.75", 60, "N0 * (1 - N1)"),
    ("en", CHEAPER, "80 - 80*25/100", 60, "N0 - N0 * N1"),
    ("en", DEARER, "80*125/100", 100, "N0 * (1 + N1)"),
    ("en", DEARER, "80*1.25", 100, "N0 * (1 + N1)"),
    ("en", "100 pens, 20% of them new. How many are old?", "100*(100-20)/100", 80, "N0 * (1 - N1)"),
    ("en", "The rate rose from 20% to 25%. By how many points?", "25 - 20", 5, "N1 * 100 - N0 * 100"),
    ("zh", GIRLS, "80×25÷100", 20, "N0 * N1"),
    ("zh", "一件衣服500元，打八折后多少元？", "500*0.8", 400, "N0 * N1"),
    ("zh", "一件衣服500元，打八折后多少元？", "500*8/10", 400, "N0 * N1"),
    ("hi", HINDI_PERCENT, "80*25/100", 20, "N0 * N1"),
    ("hi", "80 का 25% कितना है?", "80 * 25 / 100", 20, "N0 * N1"),
    # another unit
    ("en", FILM, "2*60 + 30", 150, "N0 * 60 + N1"),
    ("en", FILM, "120 + 30", 150, "N0 * 60 + N1"),
    ("en", "He walks for 90 minutes at 4 km an hour. How far?", "90/60*4", 6, "N0 / 60 * N1"),
    ("en", "He walks for 90 minutes at 4 km an hour. How far?", "1.5*4", 6, "N0 / 60 * N1"),
    ("zh", WALK, "2×60×80", 9600, "N0 * 60 * N1"),
    ("zh", WALK, "120×80", 9600, "N0 * 60 * N1"),
    ("hi", HINDI_TIME, "2.5*60", 150, "N0 * 60"),
    ("hi", "राम ने 2 घंटे 30 मिनट पढ़ा। कितने मिनट?", "2*60+30", 150, "N0 * 60 + N1"),
    # small constants that the text does not name
    ("en", RECTANGLE, "2*(12+5)", 34, "2 * (N0 + N1)"),
    ("en", RECTANGLE, "2*12 + 2*5", 34, "2 * N0 + 2 * N1"),
    ("en", "A triangle has base 6 and height 4. Its area?", "6*4/2", 12, "N0 * N1 / 2"),
    ("en", "A triangle has base 6 and height 4. Its area?", "0.5*6*4", 12, "N0 / 2 * N1"),
    ("en", "She runs 5 km a day for 3 weeks. How far?", "3*7*5", 105, "N1 * 7 * N0"),
    ("en", "He saves 50 a month. How much in a year?", "50*12", 600, "N0 * 12"),
    ("en", "27 of 90 pupils sing. How many percent?", "27/90*100", 30, "N0 / N1 * 100"),
    ("en", "Angles of a triangle are 50 and 60 degrees. The third?", "180 - 50 - 60", 70, "180 - N0 - N1"),
    ("zh", FIELD, "(12+5)×2", 34, "(N0 + N1) * 2"),
    ("zh", "5千克苹果，每克2分，共多少分？", "5*1000*2", 10000, "N0 * 1000 * N1"),
    ("hi", HINDI_RECTANGLE, "2*(12+5)", 34, "2 * (N0 + N1)"),
]

REFUSED = [
    ("en", "Each pack costs 76 dollars, with 25 off.", "76 - 24", 52, "24"),
    ("en", "Each pack costs 76 dollars, with 25 off.", "76 - 13*2 + 1", 51, "13"),
    ("en", "Share 90 in the ratio 2:3.", "90*2/5", 36, "5"),  # 2 + 3, computed in the head
    ("en", "3 boxes of 4 pens, and 5 bags of 2.", "12 + 5*2", 22, "12"),
    ("en", "She runs 5 km a day for 3 weeks. How far?", "21*5", 105, "21"),
    ("en", SWEETS, "100*5/7 + 25", 75, "5"),
    ("en", "3 boys and 9 girls", "3 + 9 + 2 - 2", 12, "2"),
    ("zh", "小明有76元，花了25元。", "76-24", 52, "24"),
    ("hi", "राम के पास 76 रुपये थे, 25 ख़र्च हुए।", "76-24", 52, "24"),
]


def judged(lang, text, equation, answer, constants=DEFAULT_CONSTANTS, more_constants=True) -> Judgement:
    numbers = [operand.value for operand in find_numbers(text, lang)]
    response = Response("p", 1, "equation", equation, None, "ann", "e", "2026-01-01T00:00:00+00:00", None)
    return judge(response, numbers, float(answer), constants, more_constants)


@pytest.mark.parametrize(("lang", "text", "equation", "answer", "template"), CASES)
def test_what_people_write_means_the_numbers_of_the_text(lang, text, equation, answer, template):
    judgement = judged(lang, text, equation, answer)
    assert judgement.verdict == "accepted", judgement.reason
    assert klass(judgement.templates[0]) == klass(parse(template)), show(judgement.templates[0])


@pytest.mark.parametrize(("lang", "text", "equation", "answer", "number"), REFUSED)
def test_a_number_that_nobody_can_explain_is_refused(lang, text, equation, answer, number):
    judgement = judged(lang, text, equation, answer)
    assert judgement.verdict == "rejected"
    assert f"{number} is not a number of the problem" in judgement.reason


@pytest.mark.parametrize(("lang", "text", "equation", "answer", "template"), CASES)
def test_constants_of_the_run_do_not_hide_the_numbers_of_the_text(lang, text, equation, answer, template):
    """People may have used 2, 3, 4, 100 before, so V_const has them: three quarters are still N0."""
    constants = (*DEFAULT_CONSTANTS, *(Const(Fraction(value)) for value in (2, 3, 4, 7, 10, 60, 100)))
    judgement = judged(lang, text, equation, answer, constants)
    assert klass(judgement.templates[0]) == klass(parse(template)), show(judgement.templates[0])


def test_with_fixed_constants_only_those_of_the_run_count():
    def fixed(equation, *constants):
        known = (*DEFAULT_CONSTANTS, *(Const(Fraction(value)) for value in constants))
        return judged("en", FILM, equation, 150, known, more_constants=False)

    assert "60 is not a number" in fixed("2*60 + 30").reason
    assert fixed("2*60 + 30", 60).verdict == "accepted"
    assert fixed("120 + 30", 60).verdict == "accepted"  # hours as minutes, where 60 is a constant of the run
    assert fixed("120 + 30").verdict == "rejected"
    assert judged("en", SWEETS, "100*3/4", 75, more_constants=False).verdict == "accepted"


def test_a_number_alone_is_no_equation():
    assert "only a number" in judged("hi", HINDI_TIME, "150", 150).reason


def test_a_week_is_a_constant_once_the_run_has_it():
    week = (*DEFAULT_CONSTANTS, Const(Fraction(7)))
    judgement = judged("en", "She runs 5 km a day for 3 weeks. How far?", "21*5", 105, week)
    assert show(judgement.templates[0]) == "N1 * 7 * N0"


def test_a_picked_candidate_may_have_a_constant_that_people_brought():
    response = Response("p", 3, "equation", "12 + 2", None, "ann", "e", "t", None, "N0 + 2")
    assert judge(response, [Fraction(12)], 14.0, DEFAULT_CONSTANTS).verdict == "accepted"
    assert judge(response, [Fraction(12)], 14.0, DEFAULT_CONSTANTS, False).verdict == "rejected"


def test_reading_a_long_equation_of_parts_stays_within_bounds():
    equation = "+".join(f"100*3/4*{number}/7" for number in range(2, 12))
    numbers = [Fraction(100), Fraction(3, 4), *(Fraction(number, 7) for number in range(2, 12))]
    steps = 0

    def count(frame, event, argument):
        nonlocal steps
        steps += event == "call"

    response = Response("p", 1, "equation", equation, None, "ann", "e", "t", None)
    sys.setprofile(count)
    try:
        judge(response, numbers, 1.0, DEFAULT_CONSTANTS)
    finally:
        sys.setprofile(None)
    assert len([node for node in postorder(parse(equation)) if isinstance(node, Const)]) == 50
    assert steps < 2_000_000
