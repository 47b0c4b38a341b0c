from fractions import Fraction

import torch

from toolkit.equations import parse
from toolkit.nn.answers import AnswerCheck


def test_what_is_near_an_answer_in_floats_is_decided_in_fractions_and_once():
    check = AnswerCheck([(Fraction(5),), (Fraction(10**9), Fraction(2))], [5.0, 1e9 + 1])
    templates, evaluated = [parse("N0 + N1"), parse("N0 + 1")], []

    def template(i):
        evaluated.append(i)
        return templates[i]

    for _ in range(3):
        assert check(torch.tensor([1, 1]), torch.tensor([17, 18]), template).tolist() == [False, True]
    assert evaluated == [0, 1]


def test_nothing_is_asked_about_nothing():
    nothing = torch.zeros(0, dtype=torch.long)
    assert AnswerCheck([], [])(nothing, nothing, lambda i: parse("N0")).tolist() == []
