"""The annotator at the keyboard, driven by scripted lines."""

import io
from dataclasses import replace
from fractions import Fraction

import pytest

from toolkit.annotators import terminal as module
from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.annotators.terminal import Terminal
from toolkit.equations import DEFAULT_CONSTANTS

NUMBERS = (Fraction(76), Fraction(25))


def question(problem_id, **changes):
    candidates = (
        ShownCandidate("76 - 25", "N0 - N1"),
        ShownCandidate("25 + 76 - 25 - 25", "N1 + N0 - N1 - N1"),
    )
    asked = Question(problem_id, 1, f"Text of {problem_id}", 51.0, "en", NUMBERS, candidates)
    return replace(asked, **changes)


class Session:
    """A terminal whose keyboard types the given lines, and then is closed."""

    def __init__(self, *lines, questions=("a", "b", "c")):
        self.screen = io.StringIO()
        ticks = iter(range(0, 10_000, 2))
        self.terminal = Terminal(
            DEFAULT_CONSTANTS,
            source=io.StringIO("".join(f"{line}\n" for line in lines)),
            output=self.screen,
            clock=lambda: float(next(ticks)),
        )
        self.terminal.submit([question(q) if isinstance(q, str) else q for q in questions])

    def one(self):
        (response,) = self.terminal.collect()
        return response

    def shown(self):
        return self.screen.getvalue()


def test_each_answer_is_returned_at_once_and_then_there_is_nothing():
    session = Session("76 - 25", "1", "s")
    responses = [session.one() for _ in range(3)]
    assert [r.problem_id for r in responses] == ["a", "b", "c"]
    assert [r.kind for r in responses] == ["equation", "equation", "skip"]
    assert [r.equation for r in responses] == ["76 - 25", "76 - 25", None]
    assert [r.template for r in responses] == [None, "N0 - N1", None]
    assert session.terminal.collect() == []
    assert not session.terminal.waits()
    for piece in ("1 of 3", "3 of 3", "Text of b", "answer   51", "N0 = 76", "  2  25 + 76 - 25 - 25"):
        assert piece in session.shown()


def test_a_number_picks_one_of_two_candidates_that_read_the_same():
    numbers = (Fraction(5), Fraction(5), Fraction(3))
    candidates = (ShownCandidate("5 - 3", "N0 - N2"), ShownCandidate("5 - 3", "N1 - N2"))
    session = Session("2", questions=[question("a", numbers=numbers, answer=2.0, candidates=candidates)])
    response = session.one()
    assert (response.equation, response.template) == ("5 - 3", "N1 - N2")
    assert "  1  5 - 3 (N0 - N2)" in session.shown() and "  2  5 - 3 (N1 - N2)" in session.shown()


def test_a_candidate_that_does_not_give_the_answer_is_rejected_at_the_prompt():
    candidates = (ShownCandidate("76 + 25", "N0 + N1"), ShownCandidate("76 - 25", "N0 - N1"))
    session = Session("1", "2", questions=[question("a", candidates=candidates)])
    assert session.one().template == "N0 - N1"
    assert "It gives 101" in session.shown()


def test_with_no_questions_nobody_is_asked():
    session = Session(questions=())
    assert session.terminal.collect() == []
    assert session.shown() == ""


def test_a_wrong_equation_is_told_at_the_prompt_and_asked_again():
    session = Session("76 + 25", "51", "76 - ", "", "9", "२")
    assert session.one().equation == "25 + 76 - 25 - 25"
    assert "It gives 101, but the answer is 51" in session.shown()
    assert "a number is missing at the end" in session.shown()
    assert session.shown().count("This is only a number") == 2


def test_a_wrong_key_needs_a_reason():
    session = Session("w", "", "W", "should be 52")
    response = session.one()
    assert (response.kind, response.note, response.equation) == ("wrong_answer", "should be 52", None)
    assert "Say in a few words" in session.shown()


def test_undo_goes_back_across_answers_and_replaces_the_earlier_one():
    session = Session("s", "u", "76 - 25", "1", "2")
    first, second = session.one(), session.one()
    assert (first.problem_id, first.kind) == ("a", "skip")
    assert (second.problem_id, second.equation) == ("a", "76 - 25")
    assert second.external_id == first.external_id
    assert second.updated_at > first.updated_at
    assert "You said: skipped. Enter keeps it." in session.shown()
    assert [session.one().problem_id, session.one().problem_id] == ["b", "c"]
    assert session.terminal.collect() == []


def test_undo_twice_goes_back_two_and_then_on_where_one_stood():
    session = Session("s", "s", "u", "u", "1", "2")
    session.one(), session.one()
    assert (session.one().problem_id, session.one().problem_id) == ("a", "c")


def test_undo_may_leave_the_answer_as_it_was():
    session = Session("s", "u", "", "1")
    session.one()
    assert session.one().problem_id == "b"


def test_there_is_nothing_to_undo_at_the_first_question_nor_into_another_round():
    session = Session("u", "s", "u", "1", questions=["a", question("b", round=2)])
    assert session.one().problem_id == "a"
    assert session.one().problem_id == "b"
    assert session.shown().count("nothing to undo") == 2
    assert session.shown().count("1 of 1") == 2


@pytest.mark.parametrize("line", ["q", "Q", "quit"])
def test_quit_stops_politely_and_keeps_the_question_open(line):
    session = Session("s", line, "1")
    session.one()
    with pytest.raises(KeyboardInterrupt):
        session.terminal.collect()
    assert "What you answered is kept." in session.shown()
    assert session.one().problem_id == "b"


@pytest.mark.parametrize("lines", [(), ("76 + 25",), ("w",)])
def test_the_end_of_the_input_is_like_quitting(lines):
    session = Session(*lines)
    with pytest.raises(KeyboardInterrupt):
        session.terminal.collect()


def test_the_end_of_the_keyboard_is_like_quitting(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    keyboard = Terminal(DEFAULT_CONSTANTS, output=io.StringIO())
    keyboard.submit([question("a")])
    with pytest.raises(KeyboardInterrupt):
        keyboard.collect()


def test_help_tells_every_key():
    session = Session("?", "s")
    session.one()
    for key in ("skip", "undo", "quit", "candidate", "wrong"):
        assert key in session.shown()


def test_submitting_again_asks_nothing_twice_but_a_complaint_is_asked_and_shown():
    session = Session("s", "s", "s", "1", questions=["a", "b"])
    session.terminal.submit([question("a"), question("b")])
    first, _ = session.one(), session.one()
    session.terminal.submit([question("a")])
    assert session.terminal.collect() == []
    session.terminal.submit([question("a", complaint="It gives 50.")])
    second = session.one()
    assert second.external_id == first.external_id and second.updated_at > first.updated_at
    assert "The last answer could not be used: It gives 50." in session.shown()
    assert session.terminal.collect() == []


def test_a_problem_asked_again_and_reached_by_undo_is_asked_once():
    session = Session("s", "u", "1", "2", questions=["a", "b"])
    session.one()
    session.terminal.submit([question("a", complaint="No.")])
    assert [session.one().problem_id, session.one().problem_id] == ["a", "b"]
    assert session.terminal.collect() == []


def test_the_time_of_an_answer_is_measured():
    assert Session("1").one().seconds == 2.0


def test_the_annotator_is_the_login_name_or_the_terminal(monkeypatch):
    monkeypatch.setattr(module.getpass, "getuser", lambda: "ann")
    assert Session("1").one().annotator == "ann"

    def nobody():
        raise KeyError("uid")

    monkeypatch.setattr(module.getpass, "getuser", nobody)
    assert Session("1").one().annotator == "terminal"


def test_text_can_neither_style_nor_steer_the_screen():
    text = "[bold]नेहा[/bold] \x1b[2J has 76 \x07"
    session = Session("s", questions=[question("a", text=text)])
    session.one()
    assert "[bold]नेहा[/bold]" in session.shown()
    assert "\x1b[2J" not in session.shown() and "\x07" not in session.shown()


def test_what_is_typed_can_be_kept_and_shown():
    session = Session("w", "\x1b[31m wrong \udcff", questions=("a",))
    assert session.one().note == "�[31m wrong �"
