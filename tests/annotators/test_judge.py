"""The judgement of responses, and of several people's answers."""

from fractions import Fraction

import pytest

from toolkit.annotators.judge import Judgement, adjudicate, judge
from toolkit.annotators.questions import Response
from toolkit.equations import DEFAULT_CONSTANTS, klass, parse, show

NUMBERS = (Fraction(76), Fraction(25))


def said(equation=None, kind="equation", note=None, template=None):
    return Response("p", 1, kind, equation, note, "ann", "e1", "2024-01-01T00:00:00+00:00", None, template)


def judged(equation, numbers=NUMBERS, answer=51.0):
    return judge(said(equation), numbers, answer, DEFAULT_CONSTANTS)


def test_an_equation_that_gives_the_answer_is_accepted_with_template_and_class():
    judgement = judged("  x = 76 - 25 ")
    assert judgement.verdict == "accepted"
    assert judgement.reason == ""
    assert judgement.equation == "x = 76 - 25"
    assert judgement.template == parse("N0 - N1")
    assert judgement.klasses == {klass(parse("N0 - N1"))}


def test_all_that_an_equation_may_mean_is_kept():
    judgement = judged("5 * 3 - 5", (Fraction(5), Fraction(5), Fraction(3)), 10.0)
    assert {klass(parse("N0 * N2 - N1")), klass(parse("N1 * N2 - N0"))} <= judgement.klasses
    assert len(judgement.templates) == len(judgement.klasses)


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        (None, "There is no equation. Write one"),
        ("   ", "There is no equation. Write one"),
        ("76 - 26 + 1)", "closes no bracket"),
        ("76 apples", "'apples' is not part of an equation"),
        ("76 / (25 - 25)", "divides by zero"),
        ("76 + 25", "It gives 101, but the answer is 51. Correct the equation"),
        ("76 - 30 + 5", "30 is not a number of the problem. Use its numbers (76, 25) and the constants 1, π"),
        ("N0 - N7", "no number N7"),
        ("51", "This is only a number: write how 51 comes from the numbers of the problem (76, 25)."),
        ("x = 51", "This is only a number"),
        ("1 + 1", "It uses none of the problem's numbers"),
        ("9" * 2000, "characters; at most"),
        ("0^(0 - 0.5)", "can't be used"),
        ("__import__('os')", "is not part of an equation"),
    ],
)
def test_what_is_rejected_says_why_and_what_to_do(equation, reason):
    judgement = judged(equation)
    assert judgement.verdict == "rejected"
    assert reason in judgement.reason
    assert judgement.reason[0].isupper() or judgement.reason[0].isdigit()
    assert judgement.reason.endswith(".")
    assert len(judgement.reason) < 500
    assert judgement.template is None and not judgement.klasses


TWICE = (Fraction(5), Fraction(5), Fraction(3))


def picked(template, equation="5 - 3", numbers=TWICE, answer=2.0, constants=DEFAULT_CONSTANTS):
    return judge(said(equation, template=template), numbers, answer, constants)


def test_a_picked_candidate_means_its_template_and_nothing_else():
    judgement = picked("N1 - N2")
    assert (judgement.verdict, judgement.equation) == ("accepted", "5 - 3")
    assert judgement.templates == (parse("N1 - N2"),)
    assert judgement.klasses == {klass(parse("N1 - N2"))}
    assert len(judged("5 - 3", TWICE, 2.0).templates) == 2  # the same text, written


def test_a_constant_of_a_picked_candidate_is_no_number_of_the_text():
    numbers = (Fraction(1), Fraction(4))
    assert picked("N1 + 1", "4 + 1", numbers, 5.0).templates == (parse("N1 + 1"),)
    assert picked("π * N1", "π * 4", numbers, 12.56).verdict == "accepted"  # as a school book has it


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("N1 -", "The candidate can't be used: a number is missing"),
        ("nonsense", "can't be used: 'nonsense'"),
        ("N1 - N7", "no number N7"),
        ("N0 / (N0 - N1)", "divides by zero"),
        ("N0 ^ 99 ^ 99", "can't be used"),
        ("N0 + N2", "It gives 8, but the answer is 2. Correct the equation"),
        ("5 - 3", "5 is not a number of the problem. Use its numbers (5, 5, 3)"),
        ("1 + 1", "It uses none of the problem's numbers"),
        ("", "can't be used"),
    ],
)
def test_a_picked_template_that_does_not_fit_its_problem_is_rejected(template, reason):
    judgement = picked(template)
    assert judgement.verdict == "rejected"
    assert reason in judgement.reason and judgement.reason.endswith(".")
    assert judgement.templates == () and not judgement.klasses


def test_a_constant_that_is_not_allowed_is_rejected_in_a_picked_template_too():
    assert picked("N1 - N2").verdict == "accepted"
    assert "1 is not a number" in picked("N1 - N2 - 1 + 1", constants=()).reason
    assert "π is not a constant" in picked("N1 - N2 + π - π", constants=()).reason


def test_constants_alone_are_rejected_even_if_they_give_the_answer():
    assert judged("1 + 1", answer=2.0).verdict == "rejected"


def test_a_literal_that_may_be_a_constant_counts_as_the_number_of_the_text():
    judgement = judged("1", (Fraction(1), Fraction(4)), 1.0)
    assert [show(template) for template in judgement.templates] == ["N0"]


def test_a_third_is_accepted_for_an_answer_that_it_rounds_to():
    numbers = (Fraction(1), Fraction(3))
    assert judged("1 / 3", numbers, 0.33).verdict == "accepted"
    rejected = judged("1 / 3", numbers, 0.34)
    assert rejected.reason.startswith("It gives 0.333333333333, but the answer is 0.34. Correct the equation")


def test_a_reason_shows_the_digits_in_which_a_value_is_not_the_answer():
    numbers = (Fraction(10**12), Fraction(7))
    assert (
        "gives 1000000000007, but the answer is 1000000000000." in judged("10^12 + 7", numbers, 1e12).reason
    )
    one_seventh_too_much = judged("1000000000000 + 1 / 7", numbers, 1e12)
    assert "It gives 1000000000000.1428, but" in one_seventh_too_much.reason


def test_a_disputed_answer_carries_the_note():
    judgement = judge(said(kind="wrong_answer", note=" should be 52 "), NUMBERS, 51.0, DEFAULT_CONSTANTS)
    assert (judgement.verdict, judgement.reason) == ("disputed", "should be 52")
    assert judge(said(kind="wrong_answer"), NUMBERS, 51.0, DEFAULT_CONSTANTS).reason


def test_a_skip_is_a_skip_whatever_else_is_said():
    judgement = judge(said("76 - 25", kind="skip", note="too hard"), NUMBERS, 51.0, DEFAULT_CONSTANTS)
    assert (judgement.verdict, judgement.reason) == ("skipped", "too hard")


FOURTEEN = (Fraction(7), Fraction(7), Fraction(6), Fraction(3))


def fourteen(equation):
    judgement = judged(equation, FOURTEEN, 14.0)
    assert judgement.verdict == "accepted"
    return judgement


def test_equations_of_one_class_agree_however_they_are_written():
    result = adjudicate({"bob": fourteen("7 + 7"), "ann": fourteen("N1 + N0")})
    assert result.agreement == "agreed"
    assert result.annotators == ("ann", "bob")
    assert result.equation == "N1 + N0"
    assert klass(result.template) in result.klasses == {klass(parse("N0 + N1"))}


def test_one_answer_agrees_with_itself():
    assert adjudicate({"ann": fourteen("7 + 7")}).agreement == "agreed"


def test_a_strict_majority_wins_and_the_others_are_named():
    result = adjudicate({"a": fourteen("7 * 6 / 3"), "b": fourteen("7 + 7"), "c": fourteen("7 + 7")})
    assert (result.agreement, result.equation, result.annotators) == ("majority", "7 + 7", ("b", "c"))
    assert "a wrote 7 * 6 / 3" in result.reason


def test_a_tie_is_kept_aside_with_both_equations_named():
    result = adjudicate({"bob": fourteen("7 * 6 / 3"), "ann": fourteen("7 + 7")})
    assert result.agreement == "disagreement"
    assert result.reason == "The annotators disagree: ann wrote 7 + 7; bob wrote 7 * 6 / 3."
    assert result.equation is None and result.template is None


def test_half_is_no_majority():
    names = {"a": "7 + 7", "b": "7 + 7", "c": "7 * 6 / 3", "d": "7 + 6 + 3 / 3"}
    assert adjudicate({n: fourteen(e) for n, e in names.items()}).agreement == "disagreement"


def test_the_template_chosen_is_one_that_all_winners_may_mean():
    vague, exact = fourteen("7 * 6 / 3"), fourteen("N1 * N2 / N3")
    assert vague.template == parse("N0 * N2 / N3")
    result = adjudicate({"a": vague, "b": exact})
    assert (result.agreement, result.template) == ("agreed", parse("N1 * N2 / N3"))


def test_two_classes_with_different_people_behind_them_are_a_tie():
    one, two = parse("N0"), parse("N1")
    a = Judgement("accepted", "", "a", (one,), frozenset({klass(one)}))
    b = Judgement("accepted", "", "b", (one, two), frozenset({klass(one), klass(two)}))
    c = Judgement("accepted", "", "c", (two,), frozenset({klass(two)}))
    assert adjudicate({"a": a, "b": b, "c": c}).agreement == "disagreement"


def test_what_was_not_accepted_has_no_voice():
    assert adjudicate({}).agreement == "none"
    nothing = {"a": Judgement("rejected", "no"), "b": Judgement("skipped")}
    assert adjudicate(nothing).agreement == "none"
    assert adjudicate({**nothing, "c": fourteen("7 + 7")}).agreement == "agreed"


def test_the_order_of_the_annotators_changes_nothing():
    said_by = {"b": fourteen("7 + 7"), "a": fourteen("N1 + N0"), "c": fourteen("7 * 6 / 3")}
    assert adjudicate(said_by) == adjudicate(dict(reversed(said_by.items())))
