"""Annotators one after the other."""

from fractions import Fraction

import pytest

from toolkit.annotators.chain import Chain
from toolkit.annotators.questions import Question, Response


def question(name, **fields):
    return Question(name, 1, "3 and 4", 7.0, "en", (Fraction(3), Fraction(4)), (), **fields)


class Answering:
    """Says the sum to every question whose name it knows, and skips the others."""

    location, waiting = "somewhere", False

    def __init__(self, name, knows):
        self.name, self.knows, self.warnings = name, set(knows), []
        self.asked, self.ready = [], []

    def submit(self, questions):
        self.asked += [(question.problem_id, question.wanted) for question in questions]
        self.ready += [self.response(question) for question in questions]

    def response(self, question):
        name = question.problem_id
        kind = "equation" if name in self.knows else "skip"
        return Response(
            question.problem_id,
            1,
            kind,
            "3 + 4",
            None,
            self.name,
            f"{self.name}:{question.problem_id}",
            "",
            1.0,
        )

    def collect(self):
        ready, self.ready = self.ready, []
        self.warnings = [f"{self.name} was here."]
        return ready

    def waits(self):
        return self.waiting


def answers(chain):
    """Everything that it says, in the order in which a loop would hear it."""
    found = []
    while responses := chain.collect():
        found += [(response.annotator, response.problem_id, response.kind) for response in responses]
    return found


@pytest.fixture
def pair():
    return Answering("first", {"a", "c"}), Answering("then", {"a", "b", "c"})


def test_what_the_first_skips_goes_to_the_next(pair):
    first, then = pair
    chain = Chain(first, then)
    chain.submit([question("a"), question("b"), question("c")])
    assert chain.location == "somewhere"
    assert answers(chain) == [
        ("first", "a", "equation"),
        ("first", "c", "equation"),
        ("then", "b", "equation"),
    ]
    assert then.asked == [("b", 1)]
    assert "then was here." in chain.warnings
    assert chain.name == "first, then"


def test_a_question_that_wants_several_answers_goes_to_both(pair):
    first, then = pair
    chain = Chain(first, then)
    chain.submit([question("a", wanted=3)])
    assert [name for name, *_ in answers(chain)] == ["first", "then"]
    assert then.asked == [("a", 2)]


def test_a_question_that_comes_back_goes_to_the_next(pair):
    first, then = pair
    chain = Chain(first, then)
    chain.submit([question("a")])
    answers(chain)
    chain.submit([question("a")])  # the two disagree with somebody, so one more is asked
    chain.submit([question("c", attempt=1)])  # what it said was revoked
    assert [name for name, *_ in answers(chain)] == ["then", "then"]
    assert first.asked == [("a", 1)]


def test_what_the_run_has_already_is_not_said_again(pair):
    first, then = pair
    chain = Chain(first, then, recorded={"first:a"})
    chain.submit([question("a")])
    assert answers(chain) == [("then", "a", "equation")]


def test_it_waits_for_either(pair):
    first, then = pair
    chain = Chain(first, then)
    assert not chain.waits()
    then.waiting = True
    assert chain.waits()


def test_chains_can_be_longer(pair):
    first, then = pair
    last = Answering("last", {"d"})
    chain = Chain(first, Chain(then, last))
    chain.submit([question(name) for name in "abd"])
    assert answers(chain) == [
        ("first", "a", "equation"),
        ("then", "b", "equation"),
        ("last", "d", "equation"),
    ]
