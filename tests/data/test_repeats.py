from toolkit.data.repeats import AFTER, BEFORE, repeats
from toolkit.data.tokens import mask


def flags(text: str, lang: str = "en") -> dict[str, list[int]]:
    """Of each word that the text repeats, in the order of the text."""
    masked = mask(text, lang)
    found: dict[str, list[int]] = {}
    for token, flag in zip(masked.tokens, repeats(masked.tokens, masked.is_number), strict=True):
        if flag:
            found.setdefault(token, []).append(flag)
    return found


def test_a_word_is_marked_by_where_the_text_has_it_besides():
    assert flags("5 pens, 3 pins. 2 pens go; how many pens?") == {"pens": [AFTER, BEFORE | AFTER, BEFORE]}


def test_an_ending_does_not_tell_words_apart():
    assert flags("Each apple costs 3. What do 4 apples cost?") == {
        "apple": [AFTER], "costs": [AFTER], "apples": [BEFORE], "cost": [BEFORE],
    }  # fmt: skip
    assert flags("a cat, a car") == {"a": [AFTER, BEFORE]}


def test_numbers_and_marks_are_no_words():
    assert flags("7 , 7 , 7 .") == {}


def test_chinese_and_hindi_words_are_compared_too():
    assert flags("苹果3个", "zh") == {}
    assert flags("राम के पास 3 आम हैं, कितने आम?", "hi") == {"आम": [AFTER, BEFORE]}
