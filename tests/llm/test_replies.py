"""From what a model wrote to a checked proposal, and from proposals to a decision."""

import pytest

from annotation.llm.prompt import Solved, asked_of, conversation, marked
from annotation.llm.proposal import Checker, settle
from annotation.llm.reply import LONGEST, equation_in
from toolkit.data.nearest import Nearest
from toolkit.data.problems import texts_as_problems
from toolkit.equations import DEFAULT_CONSTANTS, parse_template

TEXTS = (
    "Ann has 76 apples and eats 25. How many are left?",
    "राम के पास 76 सेब हैं, वह 25 खाता है। कितने बचे?",
    "小明有76个苹果，吃了25个，还剩几个？",
    "Ann has 5 red and 5 green pens, and buys 3. How many has she?",
)
LANGS = ("en", "hi", "zh", "en")
PROBLEMS = texts_as_problems(TEXTS, LANGS, [51.0, 51.0, 51.0, 13.0])
CHECK = Checker(DEFAULT_CONSTANTS)


@pytest.mark.parametrize(
    ("text", "equation"),
    [
        ('{"equation": "N0 - N1"}', "N0 - N1"),
        ('Sure! Here it is:\n```json\n{"equation": "76 - 25"}\n```', "76 - 25"),
        ('{"thought": "x"} {"equation": "x = 76 - 25"}', "76 - 25"),
        ('{"equation": "76 - 25 = 51"}', "76 - 25"),
        ("", None),
        ("76 - 25", None),
        ('{"equation": 51}', None),
        ('{"equation": null}', None),
        ('["equation"]', None),
        ('{"equation": "' + "1 + " * LONGEST + '1"}', None),
        ("{" * 100_000, None),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, None),
        ('{"equation": "N0 -', None),
    ],
)
def test_the_equation_is_found_in_what_a_model_writes(text, equation):
    assert equation_in(text) == equation


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"equation": "N0 - N1"}', "verified"),
        ('{"equation": "76 - 25"}', "verified"),
        ('{"equation": "N0 + N1"}', "another answer"),
        ('{"equation": "51"}', "other numbers"),
        ('{"equation": "50 + 1"}', "other numbers"),
        ('{"equation": "N0 - N7"}', "no equation"),
        ('{"equation": "apples"}', "no equation"),
        ('{"equation": "1/0"}', "no equation"),
        ('{"equation": "9^9^9^9"}', "no equation"),
        ("ignore the text, the answer key is 51", "no JSON"),
        ("{\"equation\": \"__import__('os').system('x')\"}", "no equation"),
    ],
)
def test_a_reply_is_only_text_until_it_verifies(text, reason):
    proposal = CHECK(asked_of(PROBLEMS, 0), text)
    assert proposal.reason == reason
    assert bool(proposal.klasses) == (reason == "verified")


def test_a_class_needs_enough_votes_and_no_rival():
    problem = asked_of(PROBLEMS, 3)
    first, second, wrong = (
        CHECK(problem, f'{{"equation": "{text}"}}') for text in ("N0 + N1 + N2", "N2 + N1 + N0", "N0 + N2")
    )
    assert (first.reason, second.reason, wrong.reason) == ("verified", "verified", "another answer")
    assert settle([first, wrong, second], 2, 3).proposal == first
    undecided = settle([first, wrong], 2, 3)
    assert (undecided.proposal, undecided.is_open) == (None, True)
    assert not settle([wrong, wrong], 2, 3).is_open  # one more can't settle it
    assert not settle([wrong, wrong, first], 2, 3).is_open
    other = CHECK(asked_of(PROBLEMS, 3), '{"equation": "N0 * N2 - N1 + N2"}')
    assert other.reason == "verified"
    assert settle([first, other], 1, 2).proposal is None  # a tie


def test_a_literal_that_occurs_twice_in_the_text_is_one_vote_for_all_that_it_may_mean():
    problem = asked_of(PROBLEMS, 3)
    literal = CHECK(problem, '{"equation": "5 + 5 + 3"}')
    assert literal.reason == "verified"
    assert settle([literal, literal], 2, 3).proposal == literal


@pytest.mark.parametrize("row", [0, 1, 2])
def test_a_problem_is_asked_in_its_language_with_its_numbers_marked(row):
    problem, shown = asked_of(PROBLEMS, row), asked_of(PROBLEMS, 3)
    solved = [Solved(shown, parse_template("N0 + N1 + N2"))]
    system, question, answer, asked = conversation(problem, solved, show_answer=False)
    assert (system["role"], question["role"], answer["role"], asked["role"]) == (
        *("system", "user", "assistant", "user"),
    )
    assert answer["content"] == '{"equation": "N0 + N1 + N2"}'
    assert "76 [N0]" in asked["content"] and "25 [N1]" in asked["content"]
    assert "51" not in "".join(message["content"] for message in (system, question, answer, asked))
    assert marked(problem).replace(" [N0]", "").replace(" [N1]", "") == TEXTS[row]
    told = conversation(problem, [], show_answer=True)[-1]["content"]
    assert "51" in told
    systems = {conversation(asked_of(PROBLEMS, i), [], False)[0]["content"] for i in range(3)}
    assert len(systems) == 3


def test_the_nearest_texts_share_rare_words():
    texts = [text.split() for text in ("the cat sat", "the dog ran far", "a cat ran", "the the the")]
    assert Nearest(texts)(("a", "cat"), 2) == [2, 0]
    assert Nearest(texts)(("zebra",), 2) == []
    assert Nearest([])(("a",), 3) == []
