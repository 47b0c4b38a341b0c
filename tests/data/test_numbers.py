"""What counts as a number in English, Hindi and Chinese problems, and what does not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.data.numbers import find_numbers


def values(text: str, lang: str) -> list[str]:
    return [str(operand.value) for operand in find_numbers(text, lang)]


def written(text: str, lang: str) -> list[str]:
    return [text[operand.start : operand.end] for operand in find_numbers(text, lang)]


DIGITS = [
    ("70.0 and .5 and 007", "70 1/2 7"),
    ("It weighs 3. Then 4.", "3 4"),
    ("1,000 or 1,00,000 or 12,34,567.5", "1000 100000 2469135/2"),
    ("3, 4 and 1,2 and 12,34", "3 4 1 2 12 34"),
    ("1,000,00", "1 0 0"),
    ("２５ and २५ and ५.५", "25 25 11/2"),
    ("1/2 or (1/6) or 3 / 4", "1/2 1/6 3/4"),
    ("1 1/2, 1(5/6), 1½, ½, 2 ¾", "3/2 11/6 3/2 1/2 11/4"),
    ("2 and 1/2 cups, 2-1/2 cups", "5/2 5/2"),
    ("3 7/2", "3 7/2"),
    ("3/0", "3 0"),
    ("5/3/2020", "5 3 2020"),
    ("60 km/h", "60"),
    ("2/3.5 and 1.5/2", "2 7/2 3/2 2"),
    ("25% and 12.5 % and 150％", "1/4 1/8 3/2"),
    ("3:5", "3 5"),
    ("-4 and (-3) and −2", "-4 -3 -2"),
    ("5-7, 3.0 - or, (2)-6, x-1", "5 7 3 2 6 1"),
    ("280kg, 5th, 20m", "280 5 20"),
    ("A4, x2, x2.5 and MP3", ""),
    ("$5, ₹ 6.50, Rs.50, Rs50", "5 13/2 50 50"),
    ("6÷2", "6 2"),
    ("9" * 5000 + " and 3", "3"),
]

ENGLISH = [
    ("seven, fifteen, twenty-five, twenty five, zero", "7 15 25 25 0"),
    ("one hundred and five; a hundred; two thousand three hundred and forty-five", "105 100 2345"),
    ("two hundred thousand; three lakh; two crore five lakh", "200000 300000 20500000"),
    ("5 million, 2.5 lakh, 3 hundred", "5000000 250000 300"),
    ("two and a half, 3 and a half, one and two thirds", "5/2 7/2 5/3"),
    ("two and a half million; half a million", "2500000 500000"),
    ("half a dozen eggs, a dozen, 3 dozen, two dozen", "6 12 3 12 2 12"),
    ("How many dozens are there?", "12"),
    ("dozens of people, several hundred birds", ""),
    ("twice as many, thrice, it doubled, triple the price", "2 3 2 3"),
    ("half of them, half an hour, a half-hour walk, cut in half", "1/2 1/2 1/2 1/2"),
    ("the first half of the season, the second half, half-time", ""),
    ("a third of, one third, two-thirds, one fourth, three-fifths", "1/3 1/3 2/3 1/4 3/5"),
    ("three quarters of it, a quarter of it, one-quarter", "3/4 1/4 1/4"),
    ("the third day, a second try, this quarter, a fourth friend, quarters", ""),
    ("She found three quarters and two dimes.", "3 2"),
    ("one apple and one more pear", "1 1"),
    ("one of them, no one, each one, this one, which one, the one, one another, one day, someone", ""),
    ("a one-bedroom flat, a two-bedroom flat, a double-shot espresso", ""),
    ("a five-pound bag, a ten-year-old boy", "5 10"),
    ("a pair of shoes, a couple of days", ""),
    ("25 percent, 25 per cent, twenty percent", "1/4 1/4 1/5"),
    ("What percentage is it?", ""),
    ("Often, weight, tent, phone, stone, freight", ""),
    ("Fifty-one boys, SIX girls", "51 6"),
]

HINDI = [
    ("दो सौ पचास रुपये और तीन पेन", "250 3"),
    ("एक लाख बीस हज़ार", "120000"),
    ("पाँच, पांच, छह, छः, छ: और निन्यानवे", "5 5 6 6 6 99"),
    ("एक लड़का", ""),
    ("एक सौ लोग", "100"),
    ("आधा, आधी, आधे", "1/2 1/2 1/2"),
    ("एक चौथाई, तीन चौथाई, तिहाई, दो तिहाई, तीन बटा चार", "1/4 3/4 1/3 2/3 3/4"),
    ("डेढ़ घंटा, ढाई किलो, डेढ़ सौ", "3/2 5/2 150"),
    ("साढ़े तीन, सवा दो, पौने तीन, साढ़े 3, साढ़े तीन सौ, सवा सौ", "7/2 9/4 11/4 7/2 350 125"),
    ("दुगुना, दोगुनी, दुगने, तिगुना, चौगुना", "2 2 2 3 4"),
    ("दर्जन, दो दर्जन, एक दर्जन, आधा दर्जन", "12 2 12 12 6"),
    ("25 प्रतिशत, २५ फीसदी, पच्चीस फ़ीसदी", "1/4 1/4 1/4"),
    ("कितने प्रतिशत?", ""),
    ("बता दो। जोड़ दो और दे दो", ""),
    ("दोनों, चारों, सातवाँ, सौदा, दसवें", ""),
    ("तीन-तीन टॉफियाँ", "3"),
    ("2.5 लाख और 5 करोड़", "250000 50000000"),
]

CHINESE = [
    ("二十五个苹果，三百零五人，十二只，一百本", "25 305 12 100"),
    ("两条绳子和两万五千元", "2 25000"),
    ("三千克，五千米，三百千米", "3 5 300"),
    ("三分之二，百分之二十五，百分之25，一又三分之二", "2/3 1/4 1/4 5/3"),
    ("全程的一半，半小时，一个半小时，3个半小时，两年半", "1/2 1/2 3/2 7/2 5/2"),
    ("打八折，八五折，打8.5折，打85折，八成", "4/5 17/20 17/20 17/20 4/5"),
    ("3万元，1.5亿人，5千克", "3 3/2 5"),
    ("一个，第三天，第十二天，二年级，三班，星期三，周三", ""),
    ("三角形，四边形，一共，一样，千克，千米，万一，十字，三月，第二年，十分高兴", ""),
    ("三四个，几十个，二〇〇八年，两位数", ""),
    ("甲乙两人，这两个数", ""),
    ("第3天，温度是-5度，25％", "3 -5 1/4"),
    ("比是1：9，100克水", "1 9 100"),
    ("共5．3天后", "5 3"),
    ("６．５米", "13/2"),
    ("吃了(1/6)，又运来1(5/6)吨，1-(1/2)", "1/6 11/6 1 1/2"),
    ("6/96的商", "6 96"),
    ("3倍-4.8", "3 24/5"),
]


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        *[(lang, *row) for row in DIGITS for lang in ("en", "hi", "other")],
        *[("en", *row) for row in ENGLISH],
        *[("hi", *row) for row in HINDI],
        *[("zh", *row) for row in CHINESE],
    ],
)
def test_the_numbers_of_a_text_have_these_values(lang: str, text: str, expected: str) -> None:
    assert values(text, lang) == expected.split()


def test_a_span_covers_what_makes_the_value_and_no_more() -> None:
    text = "Pay $25, then 25 percent of 1 1/2 kg, ½ cup, half a dozen eggs and 280kg."
    assert written(text, "en") == ["25", "25 percent", "1 1/2", "½", "half a dozen", "280"]


def test_nukta_is_read_composed_and_decomposed_and_left_out() -> None:
    for spelling in ("डे\u095d", "डे\u0922\u093c", "डे\u0922"):
        assert values(f"{spelling} घंटा", "hi") == ["3/2"]
    for spelling in ("ह\u095bार", "ह\u091c\u093cार", "हजार"):
        assert values(f"पाँच {spelling}, 5 {spelling}", "hi") == ["5000", "5000"]


def test_an_unknown_language_reads_digits_only() -> None:
    assert values("two 3 दो 三个", "xx") == ["3"]


ALPHABET = st.sampled_from(
    [*"0123456789.,/()%-−½¼ :$x^", *"两二三十百千万半个分之折成，．", "दो ", "सौ ", "साढ़े ", "\u093c", "आधा ",
     "two ", "one ", "half ", "a ", "and ", "hundred ", "million", "dozen ", "thirds", "twenty-", "percent"]
)  # fmt: skip
LANGUAGES = st.sampled_from(["en", "hi", "zh", "xx"])


@given(st.one_of(st.text(), st.lists(ALPHABET).map("".join)), LANGUAGES)
def test_any_text_gives_spans_in_order_inside_it(text: str, lang: str) -> None:
    end = 0
    for operand in find_numbers(text, lang):
        assert end <= operand.start < operand.end <= len(text)
        end = operand.end


@pytest.mark.parametrize("lang", ["en", "hi", "zh"])
@pytest.mark.parametrize(
    "piece", ["1", "0", ",", "1,", "1,000,", "(", "1(", "/", "1/", " ", "1 ", "-", ".", "三", "दो ", "two ",
              "one hundred ", "and ", "a ", "a", "'", "3万", "几万", "½", "百分之", "साढ़े "]
)  # fmt: skip
def test_a_long_run_of_anything_is_read_in_linear_time(piece: str, lang: str) -> None:
    text = piece * (30_000 // len(piece))
    started = time.process_time()
    find_numbers(text, lang)
    assert time.process_time() - started < 3  # a fifth of a second; a quadratic pattern takes many


def test_a_number_of_hundreds_of_digits_is_noise_and_one_of_ninety_nine_is_a_finite_float():
    long, longer = "9" * 99, "9" * 400
    (operand,) = find_numbers(f"{longer} and {long}", "en")
    assert operand.value == int(long)
    assert float(operand.value) == 1e99
