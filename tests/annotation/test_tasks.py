"""Questions into tasks, annotations into responses."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.answers import Annotation, OddAnswer, fitted
from annotation.interface import (
    HOTKEYS,
    REASONS,
    TASK_DATA,
    choices,
    fits_page,
    has_controls,
    instructions,
    page,
    reasons,
    with_controls,
)
from annotation.tasks import Key, RawAnnotation, key_in, key_of, raw_of, response_of, task_of
from toolkit.annotators.judge import judge
from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.data.languages import languages
from toolkit.data.numbers import find_numbers
from toolkit.equations import DEFAULT_CONSTANTS, parse
from toolkit.errors import WarmkitError

NUMBERS = (Fraction(76), Fraction(25))
CANDIDATES = (ShownCandidate("76 - 25", "N0 - N1"), ShownCandidate("25 + 76 - 25 - 25", "N1 + N0 - N1 - N1"))
QUESTION = Question("a", 2, "76 and 25", 51.0, "en", NUMBERS, CANDIDATES, None, 1, 0.4)
SHOWN = {template: equation for equation, template in CANDIDATES}
KEY = Key("a", 2, 1)
RAW = RawAnnotation(
    7, 3, "ann@example.com", "2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00", 4.0, False, "[]"
)


def region(name, kind, *values):
    return {"from_name": name, "to_name": "problem", "type": "x", "value": {kind: list(values)}}


def said(*regions, **changes):
    raw = replace(RAW, result=json.dumps(regions), **changes)
    return response_of(raw, KEY, SHOWN, "http://x/projects/1")


def test_a_task_shows_everything_and_gives_the_favourite_away_nowhere():
    task = task_of(replace(QUESTION, complaint="It gives 101."))
    data = task["data"]
    assert key_in(data) == key_of(QUESTION) == KEY
    assert data["problem"] == "76 and 25"
    assert data["facts"] == "Answer: 51  ·  Numbers: 76, 25"
    assert data["complaint"].endswith(": It gives 101.")
    assert [(one["value"], one["alias"]) for one in data["candidates"]][:2] == list(QUESTION.candidates)
    assert task["predictions"] == [{"model_version": "round-02", "score": 0.4, "result": []}]


def test_what_was_never_found_is_the_least_sure():
    assert task_of(replace(QUESTION, confidence=None, candidates=()))["predictions"][0]["score"] == 0.0


@pytest.mark.parametrize("score", [1.5, -0.1, float("nan")])
def test_a_score_that_is_no_probability_does_not_leave(score):
    with pytest.raises(WarmkitError, match="not a probability"):
        task_of(replace(QUESTION, confidence=score))


@pytest.mark.parametrize("lang", [*(known.code for known in languages()), "zh-TW", "fr"])
def test_hotkeys_are_unique_and_there_is_always_something_to_pick(lang):
    many = tuple(ShownCandidate(f"76 - {i}", f"N0 - {i}") for i in range(20))
    for candidates in ((), QUESTION.candidates, many):
        shown = choices(lang, candidates)
        keys = [one["hotkey"] for one in (*shown, *reasons(lang))]
        assert len(set(keys)) == len(keys)
        assert [one["alias"] for one in shown[-2:]] == ["own", "bad"]
        assert len(shown) == min(len(candidates), len(HOTKEYS)) + 2
        assert "html" not in json.dumps(shown)
    assert [one["alias"] for one in reasons(lang)] == list(REASONS)


def test_a_candidate_that_stands_twice_is_shown_once():
    twice = (ShownCandidate("1 + 2", "N0 + N1"), ShownCandidate("1 + 2", "N0 + N1"))
    assert [one["value"] for one in choices("en", twice)] == [
        "1 + 2",
        "my own equation",
        "bad problem",
    ]


def test_candidates_that_read_the_same_are_told_apart_by_their_templates():
    same = (ShownCandidate("5 - 3", "N0 - N2"), ShownCandidate("5 - 3", "N1 - N2"))
    shown = [(one["value"], one["alias"]) for one in choices("en", same)]
    assert shown[:2] == [("5 - 3 (N0 - N2)", "N0 - N2"), ("5 - 3 (N1 - N2)", "N1 - N2")]


def test_the_page_names_what_the_tasks_hold():
    data = task_of(QUESTION)["data"]
    assert all(f'"${name}"' in page() for name in ("marked", "facts", "complaint", "candidates", "reasons"))
    assert set(data) == set(TASK_DATA)


@pytest.mark.parametrize(
    ("langs", "words"),
    [
        ((), ("Example",)),
        (("en", "en"), ("Example",)),
        (("hi", "zh", "zh"), ("例：", "उदाहरण", "Example")),
        (("hi",), ("उदाहरण", "Example")),
    ],
)
def test_the_instructions_begin_with_the_language_of_the_problems_and_say_it_once(langs, words):
    written = instructions(langs)
    places = [written.index(word) for word in words]
    assert places == sorted(places) and written.count("<h3>") == len(words)
    assert all(written.count(word) == 1 for word in words)
    assert written.count("Ctrl+Space") == len(words)


def test_numbers_are_shown_as_the_text_has_them_and_marked_in_it():
    text = "<b>240</b> sweets & 2/3 of them at 4% off, 三分之二"
    numbers = tuple(operand.value for operand in find_numbers(text, "zh"))
    data = task_of(replace(QUESTION, text=text, lang="zh", numbers=numbers))["data"]
    assert data["facts"].endswith(": 240, 2/3, 4%, 2/3")
    assert data["problem"] == text
    assert data["marked"] == (
        "&lt;b&gt;<b>240</b>&lt;/b&gt; sweets &amp; <b>2/3</b> of them at <b>4%</b> off, <b>三分之二</b>"
    )


def test_a_page_of_somebody_else_keeps_its_own_controls_and_gets_ours():
    theirs = '<View>\n  <Choices name="level" toName="problem"><Choice value="easy"/></Choices>\n</View>'
    assert not has_controls(theirs)
    both = with_controls(theirs)
    assert has_controls(both) and 'name="level"' in both and both.endswith("</View>")
    assert with_controls("<View></View>") == with_controls("") == page()
    assert fits_page(task_of(QUESTION)) and has_controls(page())


def test_a_task_fits_the_page_and_one_that_lacks_a_part_or_claims_too_much_does_not():
    task = task_of(QUESTION)
    assert fits_page(task)
    rest = {name: value for name, value in task["data"].items() if name != "marked"}
    assert not fits_page({**task, "data": rest})
    assert not fits_page({**task, "predictions": [{**task["predictions"][0], "score": 1.5}]})
    elsewhere = {"from_name": "other", "to_name": "problem", "type": "choices", "value": {"choices": ["a"]}}
    assert not fits_page({**task, "predictions": [{"result": [elsewhere], "score": 0.5}]})


def test_candidate_own_and_bad_are_read():
    picked, _ = said(region("pick", "choices", "N0 - N1"))
    assert (picked.kind, picked.equation, picked.template) == ("equation", "76 - 25", "N0 - N1")
    assert (picked.problem_id, picked.round, picked.annotator) == ("a", 2, "ann@example.com")
    assert (picked.external_id, picked.seconds) == ("http://x/projects/1/annotations/7", 4.0)
    own, _ = said(region("pick", "choices", "own"), region("equation", "text", " 76-20-5 "))
    assert (own.kind, own.equation, own.template) == ("equation", "76-20-5", None)
    bad, _ = said(region("pick", "choices", "bad"), region("reason", "choices", "not solvable"))
    assert (bad.kind, bad.equation, bad.note) == ("wrong_answer", None, "Bad problem: not solvable.")


def test_a_picked_template_is_judged_as_it_is_also_if_it_was_not_shown():
    other, warning = said(region("pick", "choices", "N0 - N1 - N0 + N0"))
    assert (other.equation, other.template, warning) == ("N0 - N1 - N0 + N0", "N0 - N1 - N0 + N0", None)
    judged = judge(other, NUMBERS, 51.0, DEFAULT_CONSTANTS)
    assert judged.templates == (parse("N0 - N1 - N0 + N0"),)
    strange, _ = said(region("pick", "choices", "N0 - N7"))
    assert "no number N7" in judge(strange, NUMBERS, 51.0, DEFAULT_CONSTANTS).reason


def test_what_is_written_and_given_up_again_does_not_count():
    left, _ = said(region("equation", "text", "1 + 1"), region("pick", "choices", "N0 - N1"))
    assert left.equation == "76 - 25"


def test_skipped_is_skipped_and_deleted_is_withdrawn():
    assert said(region("pick", "choices", "N0 - N1"), cancelled=True)[0].kind == "skip"
    assert response_of(replace(RAW, result=None), KEY, {}, "x")[0].kind == "withdrawn"


@pytest.mark.parametrize(
    ("regions", "words"),
    [
        ((), "no equation"),
        ((region("pick", "choices", "own"),), "no equation"),
        ((region("pick", "choices", "1", "2"),), "several lines"),
        ((region("pick", "choices", "76 - 25"),), "'76 - 25' is picked, which is not a candidate"),
        ((region("pick", "choices", "<script>"),), "'<script>' is picked, which is not a candidate"),
        ((region("pick", "choices", "N0 - "),), "'N0 -' is picked, which is not a candidate"),
        ((region("pick", "choices", "own"), region("equation", "text", "1", "2")), "several equations"),
        ((region("pick", "choices", "own"), region("equation", "text", "7" * 5_000_000)), "5,000,000"),
    ],
)
def test_what_is_not_clear_is_rejected_with_a_sentence_for_each_side(regions, words):
    response, warning = said(*regions)
    assert words in warning and "Task 3, annotation 7 by ann@example.com, problem a" in warning
    assert len(response.equation) <= 1_001
    judged = judge(response, NUMBERS, 51.0, DEFAULT_CONSTANTS)
    assert judged.verdict == "rejected" and judged.reason


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["from_name", "value", "choices", "text", "id", "pick"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_result_of_a_server_is_a_fault(part):
    for field in ("result", "completed_by", "lead_time", "updated_at", "was_cancelled", "id"):
        try:
            annotation = fitted(Annotation, {"id": 7, field: part})
        except OddAnswer as odd:
            assert str(odd).startswith(field)
            continue
        raw = raw_of(annotation, 3, {})
        response, _ = response_of(raw, KEY, SHOWN, "x")
        assert f"{raw}{response}".encode()
        verdict = judge(response, NUMBERS, 51.0, DEFAULT_CONSTANTS).verdict
        assert verdict in ("accepted", "rejected", "disputed", "skipped")


def raw(annotators=None, **fields):
    return raw_of(fitted(Annotation, {"id": 7, **fields}), 3, annotators or {})


def test_annotators_are_named_and_times_are_utc():
    found = raw({1: "ann@example.com"}, completed_by=1, created_at="2026-01-01T05:30:00+05:30", lead_time=-1)
    assert (found.annotator, found.created_at, found.updated_at) == (
        "ann@example.com",
        "2026-01-01T00:00:00+00:00",
        "2026-01-01T00:00:00+00:00",
    )
    assert found.seconds is None
    assert raw(completed_by=1).annotator == "user 1"
    assert raw(completed_by={"id": 4, "email": "b@x"}).annotator == "b@x"
    assert raw(completed_by={"id": 4}).annotator == "user 4"
    assert raw(completed_by="\x1b[2J bob").annotator == "[2J bob"
    assert raw().annotator == "unknown"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("id", value) for value in (None, "7", 7.0, -1, 0, True, 10**30, float("nan"))),
        *(
            ("updated_at", value)
            for value in ("", "soon", 7, "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00")
        ),
        *(("updated_at", value) for value in ("0001-01-01T00:00:00+01:00", "2026-13-01", "2026" * 20)),
        *(("result", value) for value in ("x", {}, json.loads("[" * 50 + "]" * 50))),
        *(("completed_by", value) for value in (-1, 10**30, [1], "x" * 5_000_000, "\ud800", {"id": "x"})),
    ],
)
def test_an_annotation_that_no_label_studio_would_send_is_told_by_the_field_that_is_odd(field, value):
    with pytest.raises(OddAnswer, match=f"^{field}"):
        fitted(Annotation, {"id": 7, field: value})


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**400, "3", True, [3], -1])
def test_a_lead_time_that_is_none_is_not_known(value):
    assert raw(lead_time=value).seconds is None
    assert raw(lead_time=5).seconds == 5.0


BAD_KEYS = [("\ud800", 1), ("a", 10**30), ("a", True), ("a", -1), ("a", 1.0), ("a", None)]


@pytest.mark.parametrize(
    "data",
    [None, [], {}, {"problem_id": 3, "round": 1, "attempt": 0}, {"problem_id": "a"}]
    + [{"problem_id": name, "round": n, "attempt": 0} for name, n in BAD_KEYS],
)
def test_a_task_without_our_key_is_somebody_elses(data):
    assert key_in(data) is None
