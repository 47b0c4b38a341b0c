from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolkit.data import read_problems, vocabulary_of
from toolkit.data.joining import LONGEST, is_joined, join, learnt_words
from toolkit.nn.batches import to_tensors

TEXTS = [list("小明有苹果"), list("小明吃苹果"), list("小红有苹果"), ["a", "pear", "a", "pear", "a", "pear"]]


def test_characters_that_are_together_in_many_places_are_words():
    assert learnt_words(TEXTS, 3) == {"苹果"}
    assert learnt_words(TEXTS, 2) == {"苹果", "小明"}
    assert learnt_words(TEXTS, 4) == frozenset()


def test_the_frequent_pairs_that_are_no_words_are_left_apart():
    texts = [masked.tokens for masked in read_problems("bundled:zh").masked]
    pairs = Counter(pair for text in texts for pair in map("".join, pairwise(text)))
    no_words = {"有多", "少元", "是多", "少千", "米的", "了多"}
    assert all(pairs[pair] > 35 for pair in no_words)
    words = learnt_words(texts, 5)
    assert words >= {"多少", "一共", "千米", "老师", "面积", "苹果", "西红柿"}
    assert not words & no_words


def test_words_of_spaced_scripts_and_numbers_are_never_joined():
    texts = [["two", "pears", "<num_0>", "个", "<num_1>", "个"]] * 9
    assert learnt_words(texts, 2) == frozenset()


@given(st.lists(st.lists(st.sampled_from("甲乙丙丁,a"), max_size=9), max_size=9), st.integers(1, 4))
def test_joining_keeps_the_text_and_takes_known_words_alone(texts, least):
    words = learnt_words(texts, least)
    assert all(is_joined(word) and len(word) <= LONGEST for word in words)
    for text in texts:
        joined = join(text, words)
        assert "".join(joined) == "".join(text)
        assert all(token in words or token in text for token in joined)


def test_a_vocabulary_with_words_reads_numbers_where_they_are():
    problems = read_problems("bundled:zh").take(range(60))
    plain, joined = vocabulary_of(problems), vocabulary_of(problems, joined=5)
    short, long = to_tensors(problems, joined).all, to_tensors(problems, plain).all
    assert int(short.lengths.sum()) < int(long.lengths.sum())
    assert short.counts.equal(long.counts)
    for row, masked in enumerate(problems.masked):
        read = joined.read(masked)
        assert "".join(read.tokens) == "".join(masked.tokens)
        assert [read.tokens[at] for at, is_number in enumerate(read.is_number) if is_number] == [
            f"<num_{j}>" for j in range(len(masked.operands))
        ]
        assert joined.decode(short.tokens[row, short.positions[row, : len(masked.operands)]].tolist()) == [
            f"<num_{j}>" for j in range(len(masked.operands))
        ]
        assert plain.read(masked) is masked
