"""How far annotators can be trusted: agreement, gold questions, habits, and weighted votes."""

from fractions import Fraction

import numpy as np
import pytest

from toolkit.annotators.judge import adjudicate, judge
from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.annotators.reliability import (
    alpha,
    consensus,
    is_unreliable,
    kappa,
    labels_of,
    position_p_value,
)
from toolkit.annotators.scripted import Member
from toolkit.annotators.team import Team
from toolkit.equations import DEFAULT_CONSTANTS, klass, parse

TRUTH = "N0 + N1"
NUMBERS = (Fraction(2), Fraction(4), Fraction(3))
RIGHT = frozenset({klass(parse(TRUTH))})


def questions(count, rng, candidates=4):
    """Questions whose candidates stand in a random order; all of them give the answer."""
    shown = [ShownCandidate("2 + 4", TRUTH), ShownCandidate("2 * 3", "N0 * N2")]
    shown += [ShownCandidate("4 * 3 / 2", "N1 * N2 / N0"), ShownCandidate("3 + 4 - 1", "N2 + N1 - 1")]
    return [
        Question(f"p{i}", 1, "…", 6.0, "en", NUMBERS, tuple(shown[k] for k in rng.permutation(candidates)))
        for i in range(count)
    ]


def team_of(asked, members, gold=()):
    """A team in which everybody answers every question."""
    judged = []
    for question in asked:
        for member in members:
            response = member.answer(question, "2 + 4", RIGHT)
            judged.append((response, judge(response, NUMBERS, 6.0, DEFAULT_CONSTANTS)))
    shown = {(1, question.problem_id): question.candidates for question in asked}
    return Team(judged, dict.fromkeys(gold, RIGHT), shown)


def test_kappa_and_alpha_are_those_of_the_literature():
    # Cohen (1960) by hand: 35 of 50 agree, 25 and 20 say 1: chance 0.5.
    pairs = [(1, 1)] * 20 + [(1, 2)] * 5 + [(2, 1)] * 10 + [(2, 2)] * 15
    labels = {str(i): {"a": first, "b": second} for i, (first, second) in enumerate(pairs)}
    found = kappa(labels, "a", np.random.default_rng(0))
    assert found.value == pytest.approx(0.4) and found.pairs == 50
    assert found.low < 0.4 < found.high
    # Krippendorff (2011), example B: two observers, nominal, ten units: α = 0.095.
    first, second = "0100000010", "1110010000"
    binary = {str(i): {"a": int(x), "b": int(y)} for i, (x, y) in enumerate(zip(first, second, strict=True))}
    assert alpha(binary, np.random.default_rng(0)).value == pytest.approx(0.095, abs=0.001)


def test_alpha_with_missing_answers_is_the_one_of_krippendorffs_example():
    """Krippendorff (2011), example C, nominal: 0.743."""
    observers = {
        "A": "1 2 3 3 2 1 4 1 2 . . .",
        "B": "1 2 3 3 2 2 4 1 2 5 . 3",
        "C": ". 3 3 3 2 3 4 2 2 5 1 .",
        "D": "1 2 3 3 2 4 4 1 2 5 1 .",
    }
    labels = {str(unit): {} for unit in range(12)}
    for name, written in observers.items():
        for unit, value in enumerate(written.split()):
            if value != ".":
                labels[str(unit)][name] = int(value)
    assert alpha(labels, np.random.default_rng(0)).value == pytest.approx(0.743, abs=0.001)


def test_agreement_is_of_classes_not_of_strings():
    answers = {"p": {"a": frozenset({1, 2}), "b": frozenset({2, 3}), "c": frozenset({4})}}
    assert labels_of(answers) == {"p": {"a": 2, "b": 2, "c": 4}}
    assert kappa({"p": {"a": 1}}, "a", np.random.default_rng(0)) is None


@pytest.mark.parametrize(
    ("right", "asked", "unreliable"),
    [
        (0, 0, False),
        (0, 1, False),
        (0, 2, False),
        (0, 3, True),
        (1, 3, False),
        (1, 4, True),
        (8, 10, False),
        (5, 10, True),
    ],
)
def test_a_few_wrong_gold_questions_are_forgiven(right, asked, unreliable):
    assert is_unreliable(right, asked) == unreliable


def found_after(rate, seed, tasks, share=0.1):
    """Whether gold questions alone find an annotator of this error rate within so many tasks."""
    rng = np.random.default_rng([seed, int(100 * rate)])
    right = asked = 0
    for task in range(1, tasks + 1):
        if task % round(1 / share) == 0:
            asked += 1
            right += rng.random() >= rate
            if is_unreliable(right, asked):
                return True
    return False


def test_gold_questions_find_who_errs_often_and_spare_who_errs_rarely():
    """Of 400 annotators each, after 100 tasks with the default share: ten gold questions."""
    rates = (0, 0.1, 0.3, 0.8)
    shares = {rate: sum(found_after(rate, seed, 100) for seed in range(400)) / 400 for rate in rates}
    assert shares[0] == 0
    assert shares[0.1] < 0.05
    assert 0.1 < shares[0.3] < 0.5
    assert shares[0.8] > 0.99


@pytest.mark.parametrize("candidates", [2, 3, 4])
def test_who_always_presses_1_is_found_within_20_tasks_at_the_default_share(candidates):
    for seed in range(20):
        asked = questions(20, np.random.default_rng(seed), candidates)
        gold = [question.problem_id for question in asked[::10]]
        team = team_of(asked, [Member("press", first=True), Member("ann", 0.1, seed=seed)], gold)
        warnings = team.unreliable()
        assert "press" in warnings, f"seed {seed}"
        assert "ann" not in warnings, f"seed {seed}: {warnings}"


def test_honest_annotators_are_rarely_taken_for_pressers():
    """Candidates stand in a random order, so the right one is rarely always the first."""
    found = 0
    for seed in range(100):
        asked = questions(20, np.random.default_rng(seed))
        found += bool(team_of(asked, [Member("ann", seed=seed)]).unreliable())
    assert found <= 1
    assert position_p_value([]) == position_p_value([(0, 1)] * 30) == 1
    assert position_p_value([(0, 2)] * 12) < 0.001 < position_p_value([(0, 2)] * 6 + [(1, 2)] * 6)


@pytest.mark.parametrize("rate", [0, 0.1, 0.3, 0.8])
def test_reliability_is_estimated_without_gold_where_others_answer_too(rate):
    asked = questions(200, np.random.default_rng(1))
    members = [Member("ann", 0.1, seed=1), Member("bob", 0.1, seed=2), Member("cem", rate, seed=3)]
    accuracy = team_of(asked, members).consensus.accuracy
    assert accuracy["ann"] == pytest.approx(0.9, abs=0.06)
    assert accuracy["cem"] == pytest.approx(1 - rate, abs=0.08)


def test_a_problem_that_one_alone_answered_says_nothing_of_reliability():
    found = consensus({"p": {"a": 1}, "q": {"d": 1, "b": 1}, "g": {"c": 5}}, {"g": {6}})
    assert found.accuracy.keys() == {"b", "c", "d"}
    assert found.accuracy["c"] < 0.8 < found.accuracy["b"]


def test_two_who_disagree_are_believed_alike():
    """Nobody knows who of them is wrong: a fit that takes sides would settle every disagreement."""
    labels = {str(i): {"a": 1, "b": 1 + (i % 3 == 0)} for i in range(90)}
    accuracy = consensus(labels).accuracy
    assert accuracy["a"] == pytest.approx(accuracy["b"], abs=0.02)


def test_weighted_votes_put_more_right_equations_into_D_s_than_the_majority():
    """Ann and cem are good, three others guess: the majority follows whoever is more."""
    rng = np.random.default_rng(5)
    asked = questions(300, rng)
    members = [Member("ann", 0.05, seed=1), Member("cem", 0.05, seed=2)]
    members += [Member(name, 0.6, seed=3 + i) for i, name in enumerate(("bo", "di", "ed"))]
    team = team_of(asked, members)
    weights = {name: team.consensus.weight(name) for name in team.consensus.accuracy}
    right = {"majority": 0, "weighted": 0}
    settled = dict(right)
    judgements = {question.problem_id: {} for question in asked}
    for response, judgement in team.judged:
        judgements[response.problem_id][response.annotator] = judgement
    for by_annotator in judgements.values():
        for name, given in (("majority", None), ("weighted", weights)):
            found = adjudicate(by_annotator, given)
            settled[name] += found.template is not None
            right[name] += bool(found.klasses & RIGHT)
    assert settled["weighted"] > settled["majority"]
    assert right["weighted"] / settled["weighted"] > 0.97
    assert right["weighted"] > right["majority"]


def test_a_disagreement_that_weights_do_not_decide_stays_one():
    asked = questions(1, np.random.default_rng(0))
    ann, bob = (Member("ann"), Member("bob", 1.0))
    team = team_of(asked, [ann, bob])
    judgements = {response.annotator: judgement for response, judgement in team.judged}
    assert adjudicate(judgements, {"ann": 1.0, "bob": 1.0}).agreement == "disagreement"
    decided = adjudicate(judgements, {"ann": 3.0, "bob": 0.5})
    assert (decided.agreement, decided.annotators) == ("majority", ("ann",))


def test_a_row_says_what_an_annotator_did():
    asked = questions(10, np.random.default_rng(2))
    team = team_of(asked, [Member("ann"), Member("bob", 1.0, seed=4)], gold=["p0", "p1"])
    ann, bob = team.rows()
    assert (ann.name, ann.tasks, ann.verdicts["accepted"]) == ("ann", 10, 10)
    assert (ann.gold_right, ann.gold_asked, bob.gold_right, bob.gold_asked) == (2, 2, 0, 2)
    assert 10 <= ann.seconds <= 30
    assert ann.agreement.pairs == bob.agreement.pairs == 8
    assert ann.reliability > bob.reliability
    assert team.agreement().pairs == 16
