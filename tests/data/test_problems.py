"""A problem set is read once, and what follows from its rows is worked out once."""

import pickle
from fractions import Fraction

import polars as pl
import pytest

import toolkit.data.problems
import toolkit.data.schema
from toolkit.data import PROBLEMS, ProblemSet, as_problem_set, mask, read_problems
from toolkit.equations import DEFAULT_CONSTANTS, PI, Const, klass, parse, show, verify
from toolkit.errors import WarmkitError

ROWS = [
    ("a", "Ann has 5 red and 6 green apples.", 11.0, "5+6", "en", "train"),
    ("b", "Each of 4 boxes has 6 pens.", 24.0, None, "en", "train"),
    ("c", "Of 5 plums and 5 pears 3 are bad.", 2.0, "5-3", "en", "test"),
    ("d", "There are 7 days.", 700.0, "7*100", "en", None),
    ("e", "5 and 9 plums", 1234.5, "5*9", "en", None),  # gives 45
]
HUNDRED = Const(Fraction(100))


@pytest.fixture
def problems() -> ProblemSet:
    return ProblemSet(pl.DataFrame(ROWS, schema=PROBLEMS, orient="row"))


@pytest.fixture
def calls(monkeypatch) -> dict[str, int]:
    """How often texts were masked and equations verified."""
    counts = {"mask": 0, "verify": 0}

    def counted(name, function):
        def count(*arguments):
            counts[name] += 1
            return function(*arguments)

        return count

    monkeypatch.setattr(toolkit.data.problems, "mask", counted("mask", mask))
    monkeypatch.setattr(toolkit.data.schema, "mask", counted("mask", mask))
    monkeypatch.setattr(toolkit.data.problems, "verify", counted("verify", verify))
    return counts


def look(problems: ProblemSet) -> None:
    """At everything that follows from the rows, twice."""
    for _ in range(2):
        assert len(problems.masked) == len(problems.numbers) == len(problems.gold) == len(problems)
        assert len(problems.gold_verdicts) == len(problems.gold_classes) == len(problems)
        assert set(problems.gold_templates) <= set(problems.ids)


def test_the_columns_are_those_of_the_table_and_what_follows_from_them(problems):
    assert problems.ids == ("a", "b", "c", "d", "e")
    assert problems.row["d"] == 3
    assert problems.answers == (11.0, 24.0, 2.0, 700.0, 1234.5)
    assert problems.langs == ("en",) * 5
    assert problems.numbers[2] == (5, 5, 3)
    assert [template and show(template) for template in problems.gold] == [
        "N0 + N1", None, "N0 - N2", None, None,
    ]  # fmt: skip
    assert problems.gold_classes[2] == {klass(parse("N0 - N2")), klass(parse("N1 - N2"))}
    assert problems.gold_classes[1] == problems.gold_classes[4] == frozenset()
    assert problems.gold_templates == {"a": parse("N0 + N1"), "c": parse("N0 - N2")}
    assert repr(problems) == "ProblemSet(5 problems, 4 with equations)"


def test_everything_is_worked_out_once_and_only_if_it_is_asked_for(problems, calls):
    assert problems.ids and problems.answers
    assert calls == {"mask": 0, "verify": 0}
    look(problems)
    assert calls == {"mask": 5, "verify": 4}


def test_a_file_that_was_read_is_masked_while_it_is_checked_and_never_again(tmp_path, calls):
    pl.DataFrame(ROWS, schema=PROBLEMS, orient="row").write_ndjson(tmp_path / "p.jsonl")
    look(read_problems(tmp_path / "p.jsonl"))
    assert calls == {"mask": 5, "verify": 4}


def test_parts_of_a_set_share_what_was_worked_out(problems, calls):
    look(problems)
    before = dict(calls)
    taken = problems.take([3, 0])
    assert taken.ids == ("d", "a")
    assert taken.masked[1] is problems.masked[0]
    assert taken.gold_verdicts[0] is problems.gold_verdicts[3]
    assert [part.ids for part in problems.parts(2)] == [("a", "b"), ("c", "d"), ("e",)]
    shuffled = problems.take([4, 2, 0, 1, 3])
    assert shuffled.sorted_by_id().table.equals(problems.table)
    split = problems.with_table(problems.table.with_columns(split=pl.lit("fold0")))
    assert set(split.table["split"]) == {"fold0"}
    for part in (taken, *problems.parts(2), shuffled.sorted_by_id(), split):
        look(part)
    assert calls == before


def test_other_constants_keep_the_masks_but_not_the_verdicts(problems, calls):
    look(problems)
    hundred = problems.with_constants((*DEFAULT_CONSTANTS, HUNDRED))
    look(hundred)
    assert calls == {"mask": 5, "verify": 8}
    assert hundred.masked is problems.masked
    assert show(hundred.gold_templates["d"]) == "N0 * 100"
    assert "d" not in problems.gold_templates
    assert problems.with_constants(list(DEFAULT_CONSTANTS)) is problems
    assert problems.with_constants((PI,)).constants == (PI,)


def test_a_set_that_was_pickled_keeps_what_was_worked_out(problems, calls):
    look(problems)
    before = dict(calls)
    again = pickle.loads(pickle.dumps(problems))
    look(again)
    assert calls == before
    assert (again.ids, again.numbers, again.gold) == (problems.ids, problems.numbers, problems.gold)
    assert again.table.equals(problems.table)
    assert again.constants == problems.constants


def test_any_frame_with_texts_and_answers_is_a_problem_set(calls):
    frame = pl.DataFrame({"answer": ["11", "3/4"], "more": [1, 2], "text": ["5 and 6", "1 1/2 halved, ५ आम"]})
    problems = ProblemSet.from_frame(frame)
    assert problems.table.schema == PROBLEMS
    assert problems.ids == ("1", "2")
    assert problems.answers == (11.0, 0.75)
    assert problems.langs == ("en", "hi")
    look(problems)
    assert calls["mask"] == 2
    named = ProblemSet.from_frame(frame.with_columns(id=pl.Series([7, 8]), equation=pl.Series(["5+6", None])))
    assert named.gold_templates == {"7": parse("N0 + N1")}


def test_a_frame_or_a_set_is_what_a_library_call_takes(problems):
    assert as_problem_set(problems) is problems
    assert as_problem_set(problems, (HUNDRED,)).constants == (HUNDRED,)
    assert as_problem_set(problems.table).table.equals(problems.table)
    assert as_problem_set(problems.table).constants == DEFAULT_CONSTANTS
    assert as_problem_set(problems.table, (HUNDRED,)).constants == (HUNDRED,)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"answer": None}, "line 2, id b: it has no answer"),
        ({"text": "nothing to count"}, "line 2, id b: its text has no number"),
        ({"equation": "5+"}, "line 2, id b: its equation '5+' can't be read"),
        ({"id": "a"}, "line 2, id a: the id is already used at line 1"),
    ],
)
def test_a_bad_row_of_a_frame_is_named_with_its_reason(problems, change, reason):
    rows = problems.table.rows(named=True)
    rows[1] |= change
    frame = pl.DataFrame(rows, schema=PROBLEMS)
    for given in (lambda: ProblemSet.from_frame(frame, name="mine"), lambda: as_problem_set(frame)):
        with pytest.raises(WarmkitError, match="1 of 5 rows can't be used") as caught:
            given()
        assert reason in str(caught.value)
        assert caught.value.code == "bad-rows"
    with pytest.raises(WarmkitError, match="mine, line 2"):
        ProblemSet.from_frame(frame, name="mine")


@pytest.mark.parametrize(("missing", "reason"), [("text", "it has no text"), ("answer", "it has no answer")])
def test_a_frame_without_texts_or_answers_is_refused(problems, missing, reason):
    with pytest.raises(
        WarmkitError, match=f"5 of 5 rows can't be used(?s:.*)line 1, id a: {reason}"
    ) as caught:
        ProblemSet.from_frame(problems.table.drop(missing))
    assert str(caught.value).startswith("problems: ")


def test_an_empty_part_is_a_set_too(problems):
    look(problems.take([]))
    assert list(problems.take([]).parts(3)) == []
