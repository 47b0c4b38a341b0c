"""Numbers in hostile texts: none of them raises, none is outside its text, and each is a finite number."""

import math
import random

from toolkit.data.numbers import find_numbers
from toolkit.data.schema import MAX_NUMBERS, check_rows
from toolkit.data.tokens import mask

WORDS = {
    "en": "one two half a third three quarters twenty-five hundred thousand million lakh crore and a dozen "
    "twice double percent per cent 3rd no one of Rs rs. MP3 -",
    "hi": "एक दो आधा डेढ़ ढाई सवा पौने तीन सौ हज़ार लाख करोड़ दर्जन प्रतिशत दुगुना का चौथाई",
    "zh": "一 二 两 三 十 百 千 万 亿 半 个 倍 分之 又 点 折 成 元 百分之 三分之二 第 甲乙两人 小时 米",
    "xx": "un deux",
}
SIGNS = (
    *"0123456789.,-/%()½¾⅓", "1/2", "(5/6)", "1(5/6)", "0/0", "1/0", "1,000", "10,00,000", "1,00", "-5", "−5",
    "9" * 99, "9" * 101, "9" * 5000, "1/" + "9" * 90, "0." + "0" * 90 + "1", "٣", "५", "５", "．", "，", "①",
    "𝟓", "²", "\u0301", "\u200d", "\u202e", "\ufeff", "\0", "\ud800", "İ", "ß", "ﬁ", "<num_0>", "\n", " ",
)  # fmt: skip


def story(rng: random.Random, lang: str) -> str:
    """Words for numbers, digits and signs, with and without spaces; at times one of them very often."""
    words = (*WORDS[lang].split(), *SIGNS)
    if rng.random() < 0.1:
        return rng.choice(words) * rng.randrange(2_000)
    return rng.choice(["", " ", "-"]).join(rng.choices(words, k=rng.randrange(80)))


def test_numbers_stand_inside_their_text_in_order_and_are_finite(cases):
    for rng in cases(300):
        lang = rng.choice(list(WORDS))
        text = story(rng, lang)
        end = 0
        for operand in find_numbers(text, lang):
            assert end <= operand.start < operand.end <= len(text), text
            assert math.isfinite(float(operand.value)), text
            end = operand.end


def test_a_masked_text_has_one_token_for_each_number(cases):
    for rng in cases(150):
        lang = rng.choice(list(WORDS))
        text = story(rng, lang)
        masked = mask(text, lang)
        assert len(masked.tokens) == len(masked.is_number), text
        marked = [token for token, number in zip(masked.tokens, masked.is_number, strict=True) if number]
        assert marked == [f"<num_{j}>" for j in range(len(masked.operands))], text


def test_a_row_is_read_or_refused_with_a_reason_whatever_its_text_and_answer(cases):
    for rng in cases(100):
        lang = rng.choice(list(WORDS))
        answer = rng.choice([5, 0.1, "½", "5%", "9" * 400, 10**400, "1/0", math.nan, True, None, "π"])
        text = story(rng, lang).replace("\ud800", "")  # the fuzzer of readers has halves of characters
        row = {"id": "a", "text": text, "answer": answer, "lang": rng.choice([lang, None])}
        good, texts, bad = check_rows([(1, row)], "file")
        assert len(good) + len(bad) == 1
        if bad:
            assert bad[0].reason and len(str(bad[0])) < 300
        else:
            assert 0 < len(texts[0].operands) <= MAX_NUMBERS
            assert math.isfinite(good["answer"][0])
