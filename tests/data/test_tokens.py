"""Tokens of the three languages, with and without the numbers masked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.data.tokens import mask, number_token, tokenize


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("en", "Ann's cat, didn't eat!", "ann 's cat , did n't eat !"),
        ("en", "Hannah 's dogs’ O'Neil they're", "hannah 's dogs ' o'neil they 're"),
        ("en", "A two-room flat (A4)", "a two - room flat ( a4 )"),
        ("en", "It costs 1,000.50 now.", "it costs 1,000.50 now ."),
        ("hi", "राम ने किताबें खरीदीं।", "राम ने किताबें खरीदीं ।"),
        ("hi", "कितने? हैं|", "कितने ? हैं |"),
        ("zh", "小明买DVD，多少kg？", "小 明 买 dvd , 多 少 kg ？"),
        ("xx", "Drei Äpfel.", "drei äpfel ."),
    ],
)
def test_a_text_has_these_tokens(lang: str, text: str, expected: str) -> None:
    assert tokenize(text, lang) == expected.split()


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("en", "He has 280kg and twenty-five bags.", "he has <num_0> kg and <num_1> bags ."),
        ("en", "Pay $5 for 25% of 1 1/2 kg", "pay $ <num_0> for <num_1> of <num_2> kg"),
        ("en", "on the 5th day", "on the <num_0> th day"),
        ("hi", "२५ आम और दो सौ केले।", "<num_0> आम और <num_1> केले ।"),
        ("zh", "第3天运走(1/6)吨。", "第 <num_0> 天 运 走 <num_1> 吨 。"),
        ("zh", "两个3.5kg", "<num_0> 个 <num_1> kg"),
    ],
)
def test_a_number_is_one_token_named_by_its_position(lang: str, text: str, expected: str) -> None:
    assert " ".join(mask(text, lang).tokens) == expected


def test_the_same_number_twice_is_two_operands() -> None:
    masked = mask("5 boys have 5 pens", "en")
    assert masked.tokens == ("<num_0>", "boys", "have", "<num_1>", "pens")
    assert [operand.value for operand in masked.operands] == [5, 5]


def test_text_that_looks_like_a_masked_number_is_not_one() -> None:
    masked = mask("<num_0> and <num_7>", "en")
    assert masked.operands == ()
    assert number_token(0) not in masked.tokens


@given(st.text(), st.sampled_from(["en", "hi", "zh", "xx"]))
def test_masking_marks_each_operand_once_in_order_and_is_repeatable(text: str, lang: str) -> None:
    masked = mask(text, lang)
    marked = [token for token, flag in zip(masked.tokens, masked.is_number, strict=True) if flag]
    assert marked == [number_token(j) for j in range(len(masked.operands))]
    assert all(token and not token.isspace() for token in masked.tokens)
    assert masked == mask(text, lang)


@given(st.text(alphabet=st.characters(exclude_categories=["Nd", "No", "Nl", "Cs"])))
def test_without_numbers_masking_is_tokenising(text: str) -> None:
    assert list(mask(text, "xx").tokens) == tokenize(text, "xx")
