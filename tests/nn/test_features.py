"""What encoders see of numbers."""

import torch

from toolkit.data import vocabulary_of
from toolkit.data.numbers import Written
from toolkit.data.problems import texts_as_problems
from toolkit.nn.batches import Batch, to_tensors
from toolkit.nn.features import RANKS, SIZES, NumberFeatures, number_kinds

ONE, BELOW_ONE, MORE = range(SIZES)
REPEATED, SMALLEST, LARGEST, BETWEEN = range(RANKS)
LONGER = "1 and 2 and 3 and 4 and 5"  # so that the other text of a batch is padded


def batch_of(text: str, lang: str = "en") -> Batch:
    problems = texts_as_problems([text, LONGER], [lang] * 2)
    return to_tensors(problems, vocabulary_of(problems)).batch(torch.tensor([0, 1]))


def kinds(text: str, lang: str = "en") -> list[tuple[Written, int, int]]:
    batch = batch_of(text, lang)
    found = number_kinds(batch)[0, : int(batch.counts[0])].tolist()
    return [(Written(kind // RANKS // SIZES), kind // RANKS % SIZES, kind % RANKS) for kind in found]


def test_numbers_are_read_with_how_they_are_written_their_size_and_their_rank():
    assert kinds("9 of 0.5 and 2.5") == [
        (Written.WHOLE, MORE, LARGEST),
        (Written.DECIMAL, BELOW_ONE, SMALLEST),
        (Written.DECIMAL, MORE, BETWEEN),
    ]
    assert kinds("1 and 7 and 7") == [
        (Written.WHOLE, ONE, SMALLEST),
        (Written.WHOLE, MORE, REPEATED),
        (Written.WHOLE, MORE, REPEATED),
    ]
    assert kinds("only 7") == [(Written.WHOLE, MORE, SMALLEST)]


def test_a_share_is_told_from_a_quantity_of_the_same_value():
    fifths = kinds("1/5 of 20% of 0.2 metres")
    assert [written for written, _, _ in fifths] == [Written.FRACTION, Written.PERCENT, Written.DECIMAL]
    assert [(size, rank) for _, size, rank in fifths] == [(BELOW_ONE, REPEATED)] * 3
    assert kinds("三分之二", "zh")[0][0] == Written.WORDS


def test_features_are_added_to_numbers_alone():
    batch, features = batch_of("3 cats and 4 dogs"), NumberFeatures(6)
    torch.nn.init.normal_(features.kinds.weight)
    is_changed = (features(batch) != 0).any(-1)
    assert torch.equal(is_changed, batch.is_number)
