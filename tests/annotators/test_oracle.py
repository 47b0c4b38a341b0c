"""The annotator that knows the gold equations."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import polars as pl
import pytest

from toolkit.annotators.judge import judge
from toolkit.annotators.oracle import MOST_ATTEMPTS, Oracle
from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.data.schema import PROBLEMS
from toolkit.equations import DEFAULT_CONSTANTS
from toolkit.errors import WarmkitError

TEXT = "Each of 7 girls has 7 cards; 6 boys share 3."
NUMBERS = (Fraction(7), Fraction(7), Fraction(6), Fraction(3))


def table(*rows):
    return pl.DataFrame([(i, TEXT, 14.0, e, "en", "train") for i, e in rows], schema=PROBLEMS, orient="row")


CANDIDATES = (
    ShownCandidate("7 * 6 / 3", "N1 * N2 / N3"),
    ShownCandidate("7 + 7", "N0 + N1"),
    ShownCandidate("6 + 7 + 3 / 3", "N2 + N0 + N3 / N3"),
)


def question(problem_id, candidates=CANDIDATES, **changes):
    return replace(Question(problem_id, 1, TEXT, 14.0, "en", NUMBERS, candidates), **changes)


def answers(oracle, *questions):
    oracle.submit(questions)
    return list(oracle.collect())


def verdict(response):
    return judge(response, NUMBERS, 14.0, DEFAULT_CONSTANTS)


MANY = table(*((f"p{i}", "7 + 7") for i in range(400)))
ASKED = [question(f"p{i}") for i in range(400)]


def test_it_says_the_gold_equation():
    (response,) = answers(Oracle(table(("a", "7 + 7"))), question("a"))
    assert (response.kind, response.equation, response.annotator) == ("equation", "7 + 7", "oracle")
    assert response.seconds is None
    assert verdict(response).verdict == "accepted"


def test_nothing_asked_is_nothing_answered():
    oracle = Oracle(MANY)
    assert answers(oracle) == []
    assert not oracle.waits()


@pytest.mark.parametrize("problem_id", ["bare", "unknown"])
def test_a_problem_without_gold_is_skipped_with_a_note(problem_id):
    (response,) = answers(Oracle(table(("bare", None))), question(problem_id))
    assert response.kind == "skip"
    assert "no equation" in response.note


def test_gold_that_does_not_give_the_answer_disputes_the_key():
    (response,) = answers(Oracle(table(("a", "7 + 6"))), question("a"))
    assert response.kind == "wrong_answer"
    assert "7 + 6" in response.note and "13" in response.note


def test_gold_that_gives_the_answer_with_a_foreign_number_is_skipped():
    (response,) = answers(Oracle(table(("a", "11 + 3"))), question("a"))
    assert response.kind == "skip"
    assert "11 is not a number of the problem" in response.note


def test_errors_come_at_their_rate_and_half_of_them_pass_validation():
    responses = answers(Oracle(MANY, error_rate=0.5, seed=3), *ASKED)
    wrong = [r for r in responses if r.equation != "7 + 7"]
    spurious = [r for r in wrong if verdict(r).verdict == "accepted"]
    assert 160 < len(wrong) < 240
    assert 0.35 < len(spurious) / len(wrong) < 0.65
    assert {r.equation for r in spurious} == {"7 * 6 / 3", "6 + 7 + 3 / 3"}
    assert {(r.equation, r.template) for r in spurious} == {tuple(CANDIDATES[0]), tuple(CANDIDATES[2])}
    assert {r.template for r in responses if r not in spurious} == {None}


def test_without_another_candidate_every_error_is_rejected():
    candidates = (CANDIDATES[1], ShownCandidate("7 + 7", "N1 + N0"), ShownCandidate("7 + 6", "N0 + N2"))
    questions = [replace(q, candidates=candidates) for q in ASKED]
    responses = answers(Oracle(MANY, error_rate=1.0), *questions)
    assert {verdict(r).verdict for r in responses} == {"rejected"}


def test_a_share_is_skipped():
    kinds = [r.kind for r in answers(Oracle(MANY, skip_rate=0.25), *ASKED)]
    assert 70 < kinds.count("skip") < 130


def test_order_and_resumption_change_nothing_and_the_seed_does():
    first = answers(Oracle(MANY, 0.5, 1, 0.1), *ASKED)
    again = answers(Oracle(MANY, 0.5, 1, 0.1), *reversed(ASKED))
    assert first == again[::-1]
    assert first != answers(Oracle(MANY, 0.5, 2, 0.1), *ASKED)
    assert len({r.external_id for r in first}) == len(ASKED)


def test_the_same_question_twice_is_answered_once():
    oracle = Oracle(MANY, error_rate=0.5)
    assert len(answers(oracle, ASKED[0], ASKED[0])) == 1
    assert answers(oracle, ASKED[0]) == []


def test_asked_again_it_answers_anew_and_remembers_the_attempt_over_a_restart():
    asked = question("p1", ())
    ids = []
    for _ in range(4):
        (response,) = answers(Oracle(MANY, error_rate=1.0), asked)  # a new oracle each time: restarted
        ids.append((response.external_id, response.equation, response.updated_at))
        asked = replace(asked, complaint=verdict(response).reason, attempt=asked.attempt + 1)
    assert [i for i, _, _ in ids] == [f"oracle:1:p1:{attempt}" for attempt in range(4)]
    assert len({e for _, e, _ in ids}) == 4
    assert [when for _, _, when in ids] == sorted({when for _, _, when in ids})


def test_asking_again_comes_to_an_end_even_if_it_always_errs():
    asked, oracle = question("p1", ()), Oracle(MANY, error_rate=1.0)
    verdicts = []
    while "accepted" not in verdicts:
        (response,) = answers(oracle, asked)
        verdicts.append(verdict(response).verdict)
        asked = replace(asked, complaint=verdict(response).reason, attempt=asked.attempt + 1)
    assert verdicts == ["rejected"] * MOST_ATTEMPTS + ["accepted"]
    assert response.equation == "7 + 7"


@pytest.mark.parametrize("rates", [{"error_rate": 1.5}, {"skip_rate": -0.1}])
def test_rates_must_be_shares(rates):
    with pytest.raises(WarmkitError, match="between 0 and 1"):
        Oracle(MANY, **rates)


def test_annotators_load_no_torch():
    code = (
        "import sys, toolkit.annotators.oracle, toolkit.annotators.terminal, toolkit.annotators.file\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
