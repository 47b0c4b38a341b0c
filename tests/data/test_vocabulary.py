import pytest

from toolkit.data import Vocabulary, build_vocabulary, mask

TEXTS = [["<num_0>", "apples", "and", "<num_1>", "pears"], ["apples", "and", "plums"]]


def test_the_commonest_words_come_first_after_the_special_ones():
    vocabulary = build_vocabulary(TEXTS, numbers=3)
    assert vocabulary.words == (
        "<pad>", "<unk>", "<num_0>", "<num_1>", "<num_2>", "and", "apples", "pears", "plums",
    )  # fmt: skip


def test_rare_words_are_unknown():
    vocabulary = build_vocabulary(TEXTS, numbers=2, min_count=2)
    assert vocabulary.encode(["apples", "pears", "<num_1>", "zebra"]) == [5, 1, 3, 1]
    assert vocabulary.decode([5, 1, 3]) == ["apples", "<unk>", "<num_1>"]


def test_a_masked_problem_encodes_its_numbers_by_position():
    vocabulary = build_vocabulary([mask("12 apples and 5 pears", "en").tokens], numbers=8)
    tokens = mask("Has 7 apples, 70 more", "en").tokens
    assert [word for word in vocabulary.decode(vocabulary.encode(tokens)) if "num" in word] == [
        "<num_0>",
        "<num_1>",
    ]


def test_a_list_of_words_that_is_no_vocabulary_is_refused():
    with pytest.raises(ValueError, match="starts with <pad>"):
        Vocabulary(("a", "b"))
    with pytest.raises(ValueError, match="each word once"):
        Vocabulary(("<pad>", "<unk>", "a", "a"))
