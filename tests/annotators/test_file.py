"""Annotators who fill in a file, and spreadsheets that change it."""

import csv
import io
import json
import os
from dataclasses import replace
from fractions import Fraction

import pytest

from toolkit.annotators.file import FileAnnotator
from toolkit.annotators.judge import judge
from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.equations import DEFAULT_CONSTANTS, parse
from toolkit.errors import WarmkitError

HINDI = "नेहा के पास ७६ किताबें थीं। उसने 25 दे दीं।"


def question(problem_id, **changes):
    asked = Question(
        problem_id,
        1,
        f"Text of {problem_id}: 76, 25",
        51.0,
        "en",
        (Fraction(76), Fraction(25)),
        (ShownCandidate("76 - 25", "N0 - N1"), ShownCandidate("25 + 76 - 25 - 25", "N1 + N0 - N1 - N1")),
    )
    return replace(asked, **changes)


class Sheet:
    """A sheet of the folder, as a person with a spreadsheet sees it."""

    def __init__(self, path):
        self.path = path

    def rows(self):
        written = self.path.read_bytes().decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(written, newline="")))

    def fill(self, **cells):
        """fill(a={"equation": "76 - 25"}): saves the sheet with that row filled in."""
        rows = self.rows()
        for row in rows:
            row.update(cells.get(row["problem_id"], {}))
        self.save(rows)

    def save(self, rows, delimiter=",", encoding="utf-8", columns=None):
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, columns or list(rows[0]), delimiter=delimiter, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
        self.path.write_bytes(out.getvalue().encode(encoding))

    def write(self, content, old=True):
        self.path.write_bytes(content.encode() if isinstance(content, str) else content)
        if old:
            os.utime(self.path, (1_600_000_000, 1_600_000_000))


@pytest.fixture
def annotator(tmp_path):
    annotator = FileAnnotator(tmp_path / "sheets")
    annotator.submit([question("a"), question("b"), question("c")])
    return annotator


@pytest.fixture
def sheet(annotator):
    return Sheet(annotator.folder / "annotate-round-01.csv")


def test_the_sheet_says_what_is_asked_and_has_columns_to_fill_in(sheet):
    raw = sheet.path.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    first = sheet.rows()[0]
    assert list(first) == [
        *("problem_id", "text", "answer", "numbers", "candidate_1", "candidate_2", "complaint"),
        *("choice", "equation", "verdict", "note", "annotator"),
    ]
    assert (first["answer"], first["numbers"], first["candidate_1"]) == ("51", "76, 25", "76 - 25")
    assert not any(first[name] for name in ("choice", "equation", "verdict", "note", "annotator"))


def test_at_most_five_candidates_are_written(tmp_path):
    annotator = FileAnnotator(tmp_path)
    many = tuple(ShownCandidate(f"76 - 25 + {i}", f"N0 - N1 + {i}") for i in range(9))
    annotator.submit([question("a", candidates=many), question("b")])
    (first, second) = Sheet(tmp_path / "annotate-round-01.csv").rows()
    assert [name for name in first if name.startswith("candidate")] == [f"candidate_{i}" for i in range(1, 6)]
    assert second["candidate_3"] == ""


def test_nothing_filled_in_is_nothing_said_and_one_waits(annotator):
    assert annotator.collect() == []
    assert annotator.warnings == []
    assert annotator.waits()
    assert FileAnnotator(annotator.folder).collect() == []


def test_answers_come_as_they_are_filled_in(annotator, sheet):
    sheet.fill(a={"equation": " 76 - 25 ", "annotator": "Ann", "note": "easy"})
    (a,) = annotator.collect()
    assert (a.problem_id, a.round, a.kind, a.equation, a.annotator) == ("a", 1, "equation", "76 - 25", "Ann")
    assert (a.note, a.seconds, a.external_id) == ("easy", None, "annotate-round-01.csv:a")
    assert annotator.collect() == []
    sheet.fill(b={"choice": "2"}, c={"verdict": "Wrong_Answer", "note": "should be 52"})
    b, c = annotator.collect()
    assert (b.equation, b.annotator) == ("25 + 76 - 25 - 25", "file")
    assert (c.kind, c.equation, c.note) == ("wrong_answer", None, "should be 52")
    assert annotator.warnings == []


def test_an_edited_row_is_said_anew_under_the_same_name_and_the_others_are_not(annotator, sheet):
    sheet.fill(a={"equation": "76 + 25"}, b={"verdict": "skip"})
    before = annotator.collect()
    sheet.fill(a={"equation": "76 - 25"})
    os.utime(sheet.path, (1_900_000_000, 1_900_000_000))
    (after,) = annotator.collect()
    assert after.external_id == before[0].external_id
    assert after.equation == "76 - 25"
    assert after.updated_at > before[0].updated_at
    assert before[1].kind == "skip"


def test_after_a_restart_everything_is_said_again_in_the_same_words(annotator, sheet):
    sheet.fill(a={"equation": "76 - 25"}, b={"verdict": "skip"})
    before = annotator.collect()
    restarted = FileAnnotator(annotator.folder)
    restarted.submit([question("c")])  # only what is still open
    assert restarted.collect() == before
    assert restarted.warnings == []


@pytest.mark.parametrize("choice", ["1", "c1", "C1", "candidate_1", "1.0", "1,0", "1."])
def test_a_choice_may_be_written_in_many_ways(annotator, sheet, choice):
    sheet.fill(a={"choice": choice})
    assert [r.equation for r in annotator.collect()] == ["76 - 25"]


@pytest.mark.parametrize("cells", [{"choice": "7"}, {"choice": "first"}, {"choice": "0"}, {"verdict": "hm"}])
def test_what_is_not_clear_is_a_warning_that_names_the_line(annotator, sheet, cells):
    sheet.fill(b=cells, c={"equation": "76 - 25"})
    assert [r.problem_id for r in annotator.collect()] == ["c"]
    (warning,) = annotator.warnings
    assert f"{sheet.path}, line 3: the " in warning and "Write" in warning
    sheet.fill(b={"choice": "1", "verdict": ""})
    assert [r.problem_id for r in annotator.collect()] == ["b"]
    assert annotator.warnings == []


def test_an_own_equation_counts_before_a_choice_and_a_verdict_before_both(annotator, sheet):
    sheet.fill(a={"equation": "N0 - N1", "choice": "2"}, b={"verdict": "wrong", "equation": "76 + 25"})
    a, b = annotator.collect()
    assert a.equation == "N0 - N1"
    assert (b.kind, b.equation, b.note) == ("wrong_answer", None, "The right equation is 76 + 25.")


def test_a_choice_means_the_candidate_that_was_asked_whatever_the_spreadsheet_made_of_it(annotator, sheet):
    sheet.fill(a={"choice": "1", "candidate_1": "05-Jun"})
    assert [r.equation for r in annotator.collect()] == ["76 - 25"]


def test_a_choice_is_the_template_of_that_candidate_and_an_own_equation_is_none(annotator, sheet):
    sheet.fill(a={"choice": "2"}, b={"equation": "76 - 25"})
    a, b = annotator.collect()
    assert (a.template, b.template) == ("N1 + N0 - N1 - N1", None)


TWICE = {
    "text": "5 pens, 5 pens, 3 pens",
    "answer": 2.0,
    "numbers": (Fraction(5), Fraction(5), Fraction(3)),
    "candidates": (ShownCandidate("5 - 3", "N0 - N2"), ShownCandidate("5 - 3", "N1 - N2")),
}


def test_candidates_that_read_the_same_are_told_apart_by_their_templates(tmp_path):
    annotator = FileAnnotator(tmp_path)
    annotator.submit([question("a", **TWICE)])
    sheet = Sheet(tmp_path / "annotate-round-01.csv")
    (row,) = sheet.rows()
    assert (row["candidate_1"], row["candidate_2"]) == ("5 - 3 (N0 - N2)", "5 - 3 (N1 - N2)")
    sheet.fill(a={"choice": "2"})
    (response,) = annotator.collect()
    assert (response.equation, response.template) == ("5 - 3", "N1 - N2")
    judged = judge(response, TWICE["numbers"], TWICE["answer"], DEFAULT_CONSTANTS)
    assert judged.templates == (parse("N1 - N2"),)


@pytest.mark.parametrize("damage", [None, "", "[]", "[[]]", '[{"cells": {}}]', '[{"cells": 1}]', "7"])
def test_a_damaged_record_leaves_the_text_of_the_candidates(annotator, sheet, damage):
    sheet.fill(a={"choice": "1"})
    record = annotator.folder / ".annotate-round-01.csv.asked"
    record.unlink() if damage is None else record.write_text(damage)
    restarted = FileAnnotator(annotator.folder)
    restarted.submit([question("a")])
    if damage != "[]":  # which says that nothing was asked
        (response,) = restarted.collect()
        assert (response.equation, response.template) == ("76 - 25", None)


def test_a_restarted_annotator_reads_the_rounds_that_were_asked_before_and_no_others(annotator, sheet):
    annotator.submit([question("a", round=2)])
    sheet.fill(a={"choice": "1"})
    Sheet(annotator.folder / "annotate-round-02.csv").fill(a={"choice": "2"})
    restarted = FileAnnotator(annotator.folder, rounds={1})
    assert [(r.round, r.template) for r in restarted.collect()] == [(1, "N0 - N1")]
    assert FileAnnotator(annotator.folder).collect() == []


def test_of_what_is_recorded_only_a_change_is_collected(annotator, sheet):
    sheet.fill(a={"choice": "1"}, b={"verdict": "skip"})
    recorded = annotator.collect()
    restarted = FileAnnotator(annotator.folder, rounds={1}, recorded=recorded)
    os.utime(sheet.path, (1_900_000_000, 1_900_000_000))  # saved again: all of it is newer
    assert restarted.collect() == []
    sheet.fill(b={"verdict": "", "choice": "2"})
    assert [r.problem_id for r in restarted.collect()] == ["b"]


def test_an_old_sheet_may_be_deleted_and_the_newest_may_not(annotator, sheet):
    annotator.submit([question("a", round=2)])
    sheet.path.unlink()
    assert (annotator.collect(), annotator.warnings) == ([], [])
    (annotator.folder / "annotate-round-02.csv").unlink()
    assert annotator.collect() == []
    assert "round-02.csv: the file is gone" in annotator.warnings[0]


def test_a_sheet_is_never_written_again(annotator, sheet):
    sheet.fill(a={"equation": "76 - 25"})
    before = sheet.path.read_bytes()
    for again in (annotator, FileAnnotator(annotator.folder)):
        again.submit([question("a"), question("b"), question("c")])
    assert sheet.path.read_bytes() == before
    assert len(list(annotator.folder.glob("*.csv"))) == 1


def test_what_is_asked_again_goes_to_a_new_sheet_with_the_complaint(annotator, sheet):
    sheet.fill(a={"equation": "76 + 25"})
    annotator.collect()
    again = question("a", complaint="It gives 101, but the answer is 51.", attempt=1)
    annotator.submit([again])
    annotator.submit([again])
    FileAnnotator(annotator.folder).submit([again])
    second = Sheet(annotator.folder / "annotate-round-01-again-1.csv")
    assert [(r["problem_id"], r["complaint"]) for r in second.rows()] == [("a", again.complaint)]
    assert not (annotator.folder / "annotate-round-01-again-2.csv").exists()
    second.fill(a={"equation": "76 + 25"})
    (response,) = annotator.collect()
    assert response.external_id == "annotate-round-01-again-1.csv:a"
    annotator.submit([replace(again, attempt=2)])  # the same mistake and complaint once more
    assert (annotator.folder / "annotate-round-01-again-2.csv").exists()


def test_each_round_has_its_sheet_and_late_answers_to_an_earlier_one_count(annotator, sheet):
    annotator.submit([question("a", round=2)])
    Sheet(annotator.folder / "annotate-round-02.csv").fill(a={"choice": "1"})
    sheet.fill(a={"choice": "2"})
    assert [(r.round, r.equation) for r in annotator.collect()] == [(1, "25 + 76 - 25 - 25"), (2, "76 - 25")]


def test_the_same_problem_twice_is_written_once(tmp_path):
    FileAnnotator(tmp_path).submit([question("a"), question("a")])
    assert len(Sheet(tmp_path / "annotate-round-01.csv").rows()) == 1


def test_of_a_row_that_stands_twice_the_later_counts_with_a_warning(annotator, sheet):
    a, *rest = sheet.rows()
    sheet.save([{**a, "equation": "76 + 25"}, *rest, {**a, "choice": "1"}])
    (response,) = annotator.collect()
    assert response.equation == "76 - 25"
    (warning,) = annotator.warnings
    assert "line 5" in warning and "line 2" in warning
    assert annotator.collect() == []


def test_an_unknown_problem_is_a_warning_and_the_rest_is_read(annotator, sheet):
    a, b, c = sheet.rows()
    sheet.save([{**a, "problem_id": "zzz", "text": "", "choice": "1"}, {**b, "choice": "1"}, c])
    assert [r.problem_id for r in annotator.collect()] == ["b"]
    (warning,) = annotator.warnings
    assert "line 2" in warning and "'zzz'" in warning


def test_an_id_that_the_spreadsheet_changed_is_found_by_its_text(tmp_path):
    annotator = FileAnnotator(tmp_path)
    annotator.submit([question("0012"), question("1-2")])
    sheet = Sheet(tmp_path / "annotate-round-01.csv")
    first, second = sheet.rows()
    sheet.save(
        [{**first, "problem_id": "12", "choice": "1"}, {**second, "problem_id": "2. Jan", "choice": "1"}]
    )
    assert [r.problem_id for r in annotator.collect()] == ["0012", "1-2"]


DANGEROUS = ["=HYPERLINK(1)", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "＝1"]


@pytest.mark.parametrize("start", DANGEROUS)
def test_no_cell_is_run_as_a_formula_and_the_problem_is_found_again(tmp_path, start):
    annotator = FileAnnotator(tmp_path)
    asked = question(
        f"{start}id",
        text=f"{start} 76; =cmd|' /C calc'!A0",
        candidates=(ShownCandidate("-25 + 76", "N0 - N1"),),
    )
    annotator.submit([replace(asked, complaint=f"{start} is wrong")])
    sheet = Sheet(tmp_path / "annotate-round-01.csv")
    written = sheet.path.read_bytes().decode("utf-8-sig")
    for delimiter in ",;\t":  # whatever the spreadsheet takes for a separator
        for cells in csv.reader(io.StringIO(written, newline=""), delimiter=delimiter):
            assert not any(cell.strip(' "').startswith(("=", "+", "-", "@", "＝")) for cell in cells)
    (row,) = sheet.rows()
    assert row["candidate_1"] == "'-25 + 76"
    sheet.save([{**row, "equation": row["candidate_1"]}])
    (response,) = annotator.collect()
    assert (response.problem_id, response.equation) == (f"{start}id", "-25 + 76")


def test_hindi_survives_the_way_there_and_back(tmp_path):
    annotator = FileAnnotator(tmp_path)
    annotator.submit([question("हि-१", text=HINDI)])
    sheet = Sheet(tmp_path / "annotate-round-01.csv")
    (row,) = sheet.rows()
    assert row["text"] == HINDI
    sheet.save([{**row, "equation": "७६ − २५", "annotator": "नेहा"}])
    (response,) = annotator.collect()
    assert (response.problem_id, response.equation, response.annotator) == ("हि-१", "७६ − २५", "नेहा")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_sheet_may_come_back_mangled(annotator, sheet, delimiter, encoding):
    rows = [{name.upper().replace("_", " "): value for name, value in row.items()} for row in sheet.rows()]
    rows[1] |= {"EQUATION": "(76 - 25) * 1,000 / 1,000", "ANNOTATOR": "Bo; B"}
    sheet.save(rows, delimiter, encoding, columns=[*reversed(rows[0]), ""])
    (response,) = annotator.collect()
    assert (response.problem_id, response.annotator) == ("b", "Bo; B")
    assert response.equation == "(76 - 25) * 1,000 / 1,000"


def test_lines_may_be_short_blank_or_headed_by_a_note_to_excel(annotator, sheet):
    sheet.write('sep=;\nproblem_id;equation;note\n\n;;\na\nb;76 - 25\n"c";"76\n- 25";;;\n')
    b, c = annotator.collect()
    assert (b.problem_id, b.equation, c.problem_id, c.equation) == ("b", "76 - 25", "c", "76\n- 25")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        ('problem_id,equation\na,"76 - 25\nb,1\n', "line 2: the CSV is broken"),
        ("problem_id,equation\na,1,000 + 5\n", "line 2: the row has 3 cells"),
        ("a,76 - 25\n", "line 1: the first row must name the columns"),
        (b"problem_id,equation\na,76\nb,25 \xd7 3\n", "line 3: the file is not UTF-8"),
        (b"PK\x03\x04\xff\x00\x12", "line 1: the file is not UTF-8"),
    ],
)
def test_damage_is_a_warning_while_it_may_be_half_saved_and_then_an_error(annotator, sheet, content, what):
    sheet.write(content, old=False)
    assert annotator.collect() == []
    (warning,) = annotator.warnings
    assert str(sheet.path) in warning and "tried again" in warning
    sheet.write(content)
    with pytest.raises(WarmkitError) as error:
        annotator.collect()
    assert str(sheet.path) in str(error.value) and what in str(error.value)


def test_half_an_equation_at_the_end_of_a_half_saved_sheet_is_not_taken(annotator, sheet):
    sheet.write("problem_id,equation,note\na,76 - 2", old=False)
    assert annotator.collect() == []
    sheet.write("problem_id,equation,note\na,76 - 25")  # some editors end without a line end
    assert [r.equation for r in annotator.collect()] == ["76 - 25"]


def test_a_sheet_that_is_locked_or_gone_is_a_warning(annotator, sheet, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(type(sheet.path), "read_bytes", lambda self: open(self / "x"))  # noqa: PTH123, SIM115
        assert annotator.collect() == []
    assert "can't be read now" in annotator.warnings[0]
    sheet.path.unlink()
    assert annotator.collect() == []
    assert "gone" in annotator.warnings[0]
    annotator.submit([question("a")])
    assert [row["problem_id"] for row in sheet.rows()] == ["a", "b", "c"]


def test_without_the_record_of_what_was_asked_the_sheet_itself_must_do(annotator, sheet):
    sheet.fill(a={"choice": "1"})
    (annotator.folder / ".annotate-round-01.csv.asked").unlink()
    moved = FileAnnotator(annotator.folder)
    moved.submit([question("a"), question("b"), question("c")])
    assert [r.equation for r in moved.collect()] == ["76 - 25"]
    assert len(list(annotator.folder.glob("*.csv"))) == 1


def test_a_kill_between_record_and_sheet_loses_nothing(annotator, sheet):
    sheet.path.unlink()
    FileAnnotator(annotator.folder).submit([question("a"), question("b"), question("c")])
    assert len(sheet.rows()) == 3
    assert sorted(path.name for path in annotator.folder.iterdir()) == [
        ".annotate-round-01.csv.asked",
        "annotate-round-01.csv",
    ]


def test_json_lines_are_written_and_read_as_well(tmp_path):
    annotator = FileAnnotator(tmp_path, ".jsonl")
    annotator.submit([question("a", text=HINDI), question("-b"), question("c")])
    path = tmp_path / "annotate-round-01.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert (rows[0]["text"], rows[1]["problem_id"]) == (HINDI, "-b")
    rows[0]["choice"], rows[1]["equation"] = 2, "76 - 25"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    assert [(r.problem_id, r.equation) for r in annotator.collect()] == [
        ("a", "25 + 76 - 25 - 25"),
        ("-b", "76 - 25"),
    ]
    Sheet(path).write('{"problem_id": "a"}\n{"problem')
    with pytest.raises(WarmkitError, match="line 2"):
        annotator.collect()


def test_another_suffix_is_refused():
    with pytest.raises(WarmkitError, match=r"\.csv or \.jsonl"):
        FileAnnotator("x", ".xlsx")


def test_half_a_character_in_a_sheet_can_be_kept(tmp_path):
    annotator = FileAnnotator(tmp_path, ".jsonl")
    annotator.submit([question("a")])
    row = {"problem_id": "a", "equation": "76 - 25\ud800", "note": "\udcff", "annotator": "\ud800"}
    (tmp_path / "annotate-round-01.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (response,) = annotator.collect()
    assert (response.equation, response.annotator) == ("76 - 25?", "?")


def test_a_pipe_in_the_place_of_a_sheet_is_refused(tmp_path):
    annotator = FileAnnotator(tmp_path)
    annotator.submit([question("a")])
    sheet = tmp_path / "annotate-round-01.csv"
    sheet.unlink()
    os.mkfifo(sheet)
    with pytest.raises(WarmkitError, match=r"annotate-round-01\.csv: this is not a file"):
        annotator.collect()
