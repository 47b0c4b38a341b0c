import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from toolkit.cli import main
from toolkit.data import PROBLEMS, read_problems
from toolkit.data.read import is_fold_file, with_folds
from toolkit.data.records import read_records
from toolkit.data.write import WRITERS, write_table
from toolkit.errors import WarmkitError

GOOD = {
    "id": "a",
    "text": "Ann has 5 red and 6 green apples. How many has she?",
    "answer": 11,
    "equation": "5+6",
}


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def lines(*rows: object) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


RECORDS = {
    "allarith": [
        {
            "iIndex": 7,
            "sQuestion": "Tom had 70.0 shells and gave away 27.0 .",
            "quants": [70.0, 27.0],
            "lEquations": ["X=(70.0-27.0)"],
            "lSolutions": [43.0],
        }
    ],
    "ew10k": [
        {
            "iIndex": 8,
            "sQuestion": "If 7.0 straws cost ₹ 3.5 , what does each cost ?",
            "quants": [7.0, 3.5, 100],
            "lEquations": [["X=?"]],
            "lSolutions": [0.5],
        }
    ],
    "hw10k": [
        {"iIndex": 9, "sQuestion": "4.0 जार में 182.0 कंचे हैं|", "lEquations": [["X=?"]], "lSolutions": [728.0]}
    ],
    "math23k": [
        {
            "id": "1",
            "original_text": "一根绳子长(2/5)米，用去10%，用去多少米？",
            "segmented_text": "一 根 绳子",
            "equation": "x=(2/5)*10%",
            "ans": "((1)/(25))",
        }
    ],
    "mawps": [
        {"id": 3, "original_text": "There are 4 boxes of 3 .", "equation": "X=(4.0*3.0)", "ans": "12"},
    ],
    "svamp": [
        {
            "ID": "chal-1",
            "Body": "Each pack costs 76 dollars. If there is a discount of 25 dollars",
            "Question": "How much is a pack?",
            "Equation": "( 76.0 - 25.0 )",
            "Answer": 51.0,
        }
    ],
}

EXPECTED = {
    "allarith": ("7", "Tom had 70.0 shells and gave away 27.0 .", 43.0, "X=(70.0-27.0)", "en"),
    "ew10k": ("8", "If 7.0 straws cost ₹ 3.5 , what does each cost ?", 0.5, None, "en"),
    "hw10k": ("9", "4.0 जार में 182.0 कंचे हैं|", 728.0, None, "hi"),
    "math23k": ("1", "一根绳子长(2/5)米，用去10%，用去多少米？", 0.04, "x=(2/5)*10%", "zh"),
    "mawps": ("3", "There are 4 boxes of 3 .", 12.0, "X=(4.0*3.0)", "en"),
    "svamp": (
        "chal-1",
        "Each pack costs 76 dollars. If there is a discount of 25 dollars, How much is a pack?",
        51.0,
        "( 76.0 - 25.0 )",
        "en",
    ),
}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("layout", ["list", "lines", "one after another"])
def test_published_formats_are_recognised_by_their_content(tmp_path, name, layout):
    records = RECORDS[name]
    text = {
        "list": json.dumps(records, indent=1),
        "lines": lines(*records),
        "one after another": "\n".join(json.dumps(record, indent=2) for record in records),
    }[layout]
    problems = read_problems(written(tmp_path, "data.txt", text)).table
    assert problems.schema == PROBLEMS
    assert problems.row(0) == (*EXPECTED[name], None)


def test_asdiv_is_read_from_xml_with_its_lines(tmp_path):
    xml = """<?xml version="1.0" encoding="UTF-8"?>
<Machine-Reading-Corpus-File><ProblemSet>
<Problem ID="n1" Grade="1"><Body>Two dogs met three cats.</Body><Question>How many are they?</Question>
  <Solution-Type>Addition</Solution-Type><Answer>5 (animals)</Answer><Formula>2+3=5</Formula></Problem>
<Problem ID="n2" Grade="1"><Body>Sue has 3 dimes and 2 nickels.</Body><Question>How much?</Question>
  <Answer>40 (cents)</Answer><Formula>3 (dime)*10 (cent/dime) + 2*5 (cent) = 40 (cent)</Formula></Problem>
<Problem ID="n3" Grade="1"><Body>4 apples, 5 more; a pie needs 10.</Body><Question>Enough?</Question>
  <Answer>No</Answer><Formula>4+5=9 &lt; 10</Formula></Problem>
</ProblemSet></Machine-Reading-Corpus-File>"""
    read = read_problems(written(tmp_path, "asdiv.xml", xml), skip_bad=True)
    assert read.format == "asdiv"
    assert read.table["answer"].to_list() == [5.0, 40.0]
    assert read.table["text"][0] == "Two dogs met three cats. How many are they?"
    assert [str(bad).partition(", ")[2] for bad in read.bad] == [
        "line 7, id n3: its answer 'No' is not a number"
    ]


def test_an_asdiv_formula_that_is_no_equation_is_left_out_and_named(tmp_path):
    problem = (
        "<Problem ID='{}'><Body>4 apples, 5 more.</Body><Question>?</Question><Answer>9</Answer>{}</Problem>"
    )
    formulas = ("<Formula>4+5=9</Formula>", "<Formula>4+5=9 so 9</Formula>", "<Formula> </Formula>")
    problems = "".join(problem.format(f"n{i}", formula) for i, formula in enumerate(formulas))
    read = read_problems(written(tmp_path, "asdiv.xml", f"<ProblemSet>{problems}</ProblemSet>"))
    assert read.table["equation"].to_list() == ["4+5=9", None, None]
    assert [(row.id, row.reason) for row in read.left_out] == [
        ("n1", "'so' is not part of an equation (at character 7)")
    ]


def test_the_native_format_reads_back_what_was_written(tmp_path):
    rows = [{**GOOD, "split": "train"}, {**GOOD, "id": "b", "equation": None, "answer": 1 / 3}]
    problems = read_problems(written(tmp_path, "in.jsonl", lines(*rows))).table
    for name in ("out.parquet", "out.jsonl", "out.csv"):
        write_table(problems, tmp_path / name)
        assert read_problems(tmp_path / name).table.equals(problems)


def test_a_fold_number_is_a_split(tmp_path):
    read = read_problems(written(tmp_path, "in.jsonl", lines({**GOOD, "fold": 2})))
    assert read.table["split"].to_list() == ["fold2"]


def test_columns_can_be_named(tmp_path):
    csv = "nr;question;gold\n1;5 and 6 apples, together;11\n2;½ of 8;4\n"
    read = read_problems(
        written(tmp_path, "in.csv", csv), columns={"text": "question", "answer": "gold", "id": "nr"}
    )
    assert read.table.select("id", "answer").rows() == [("1", 11.0), ("2", 4.0)]


def test_rows_without_ids_are_named_by_their_lines(tmp_path):
    csv = 'text,answer\n"5 and\n6",11\n5 and 7,12\n'
    assert read_problems(written(tmp_path, "in.csv", csv)).table["id"].to_list() == ["2", "4"]


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path):
    with pytest.raises(WarmkitError, match=r"there is no column questoin\. It has question, gold"):
        read_problems(written(tmp_path, "in.csv", "question,gold\n5,5\n"), columns={"text": "questoin"})


def test_fold_files_set_the_split(tmp_path):
    fold0, fold1 = written(tmp_path, "fold0.txt", "a\nzz\n"), written(tmp_path, "fold1.txt", "b\n")
    data = written(tmp_path, "in.jsonl", lines(GOOD, {**GOOD, "id": "b"}, {**GOOD, "id": "c"}))
    assert [is_fold_file(path) for path in (fold0, fold1, data)] == [True, True, False]
    problems, strangers = with_folds(read_problems(data).table, [fold0, fold1])
    assert problems["split"].to_list() == ["fold0", "fold1", None]
    assert strangers == 1
    with pytest.raises(WarmkitError, match="folds must not overlap"):
        with_folds(problems, [fold0, written(tmp_path, "fold2.txt", "a\n")])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"answer": None}, "it has no answer"),
        ({"answer": "twelve"}, "its answer 'twelve' is not a number"),
        ({"answer": float("nan")}, "its answer nan is not finite"),
        ({"answer": float("inf")}, "its answer inf is not finite"),
        ({"answer": 10**400}, "is too large"),
        ({"answer": "9" * 400}, "is too large"),
        ({"answer": "10^99 * 10^99 * 10^99 * 10^99"}, "is too large"),
        ({"equation": "1+1=" + "9" * 400}, "can't be read: this number is too large (at character 5)"),
        ({"answer": True}, "its answer True is not a number"),
        ({"answer": "1/0"}, "its answer '1/0' is not a number"),
        ({"text": ""}, "it has no text"),
        ({"text": ["5"]}, "it has no text"),
        ({"text": "5 " * 20_000}, "its text has 40,000 characters"),
        ({"text": "no number at all"}, "its text has no number"),
        ({"text": "7 " * 100}, "its text has 100 numbers; at most 64 are handled"),
        ({"id": None}, "it has no id"),
        ({"id": 1.5}, "its id 1.5 is neither text nor a whole number"),
        (
            {"equation": "5+"},
            "its equation '5+' can't be read: a number is missing at the end (at character 3)",
        ),
        ({"equation": "1+" * 5_000_000 + "1"}, "the equation has 10,000,001 characters"),
        ({"equation": "(" * 5_000 + "5" + ")" * 5_000}, "the equation has 10,001 characters"),
        ({"equation": "__import__('os')"}, "'__import__' is not part of an equation"),
        ({"equation": 5}, "its equation 5 is not text"),
        ({"lang": "Klingon"}, "lang 'Klingon' is not a language code"),
        ({"id": "first"}, "the id is already used at line 1"),
    ],
)
def test_a_bad_row_is_reported_with_file_line_id_and_reason(tmp_path, change, reason):
    row = {**GOOD, "id": "second", **change}
    path = written(tmp_path, "in.jsonl", lines({**GOOD, "id": "first"}, row, {**GOOD, "id": "third"}))
    read = read_problems(path, skip_bad=True)
    assert read.table["id"].to_list() == ["first", "third"]
    (bad,) = read.bad
    assert (bad.file, bad.line) == (str(path), 2)
    assert bad.id == (None if row["id"] is None else str(row["id"]))
    assert reason in bad.reason
    assert len(str(bad)) < 400
    with pytest.raises(WarmkitError, match="1 of 3 rows can't be used, so nothing was read"):
        read_problems(path)


def test_a_line_that_is_no_json_is_one_bad_row(tmp_path):
    path = written(
        tmp_path, "in.jsonl", lines(GOOD, '{"id": "b", "te', "[1, 2]", "[" * 100_000, {**GOOD, "id": "c"})
    )
    read = read_problems(path, skip_bad=True)
    assert read.table["id"].to_list() == ["a", "c"]
    assert [bad.line for bad in read.bad] == [2, 3, 4]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.json", "", "the file is empty"),
        ("blank.json", " \n\n", "the file is empty"),
        ("book.json", b"%PDF-1.7 \x00\xff", "this is a PDF document"),
        ("book.xlsx", b"PK\x03\x04\x00\x00", "a ZIP archive"),
        (
            "cut.json",
            '[\n{"id": 1, "text": "5", "answer": 5},\n{"id": 2, "te',
            "line 3: the JSON is broken here",
        ),
        ("open.json", '[\n{"id": 1, "text": "5", "answer": 5},\n', "the list is not closed"),
        ("latin.json", "{\n'caf\xe9'".encode("latin-1"), "line 2: the file is not UTF-8 (byte 0xe9"),
        ("wide.csv", "id,text\n".encode("utf-16"), "the file is UTF-16"),
        ("deep.json", "[" * 100_000, "too deep or too large"),
        ("numbers.json", "[1, 2, 3]", "no rows with named fields"),
        ("other.json", '[{"a": 1}]', "its fields (a) match no known format"),
        ("prose.txt", "Once upon a time\nthere was\n", "this is not a problem set"),
        ("wide.csv", "id,text,answer\n1," + "x" * 200_000 + ",2\n", "line 2: the CSV is broken here"),
        ("broken.xml", "<ProblemSet>\n<Problem></ProblemSet>", "line 2: the XML is broken here"),
        ("other.xml", "<html></html>", "no <Problem> elements"),
        ("7.xml", "<?xml version='1.0' encoding='utf-7'?><ProblemSet/>", "it declares the encoding utf-7"),
        ("16.xml", "<?xml version='1.0' encoding='UTF-16'?><ProblemSet/>", "it declares the encoding UTF-16"),
        (
            "file.xml",
            '<!DOCTYPE x [<!ENTITY a SYSTEM "/etc/passwd">]><x>&a;</x>',
            "document type declaration",
        ),
        ("entity.xml", "<ProblemSet>&a;</ProblemSet>", "line 1: the XML is broken here (undefined entity)"),
        ("open.csv", 'id,text,answer\n1,"5 apples,5\n2,6 pens,6\n', "line 2: the CSV is broken here"),
        ("nul.json", b'[{"id": 1,\0 "text": "5"}]', "line 1: the JSON is broken here"),
        ("twice.json", '[{"id": 1},\n{"text": "5", "text": "6"}]', "line 2: the key 'text' is there twice"),
        ("digits.json", '[{"id": 1, "text": "5", "answer": ' + "9" * 5_000 + "}]", "too deep or too large"),
        ("wide.json", '{"id": 1}'.encode("utf-16-le"), "the file is UTF-16"),
        ("archive.jsonl.gz", b"\x1f\x8b\x08\x00", "a gzip archive"),
        ("bomb.xml", '<!DOCTYPE x [<!ENTITY a "aaa">]><ProblemSet/>', "document type declaration"),
        ("broken.parquet", b"PAR1 and then nothing", "the Parquet file is broken"),
    ],
)
def test_an_unreadable_file_is_one_sentence(tmp_path, name, content, words):
    path = written(tmp_path, name, content)
    with pytest.raises(WarmkitError) as caught:
        read_problems(path, skip_bad=True)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_text_of_many_pieces_is_read_in_one_go(tmp_path):
    """Each entity is a piece of its own. Joined one by one, two megabytes took over a minute."""
    body = "&amp;" * 400_000
    record = "<Problem ID='1'><Body>{}</Body><Question>5 or 6?</Question><Answer>11</Answer></Problem>"
    path = written(tmp_path, "long.xml", f"<ProblemSet>{record.format(body)}</ProblemSet>")
    ((_, fields),) = read_records(path)
    assert fields["Body"] == "&" * 400_000


def test_a_very_large_or_small_answer_survives_the_way_through_csv(tmp_path):
    answers = (1e300, -1e-300, 12345678901234567890.0, 0.1)
    rows = [{**GOOD, "id": str(answer), "answer": answer} for answer in answers]
    read = read_problems(written(tmp_path, "in.jsonl", lines(*rows)))
    write_table(read.table, tmp_path / "out.csv")
    assert read_problems(tmp_path / "out.csv").answers == answers


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    for name, content in (("a.jsonl", lines(GOOD)), ("a.csv", "id,text,answer\na,5 and 6 pens,11\n")):
        read = read_problems(written(tmp_path, name, b"\xef\xbb\xbf" + content.encode()))
        assert read.ids == ("a",)


@pytest.mark.parametrize("field", ["id", "text", "equation", "split", "lang", "answer"])
@pytest.mark.parametrize("wrong", ["\ud800", "a\udcff", "\0"])
def test_half_a_character_is_a_bad_row_and_everything_else_can_be_written(tmp_path, field, wrong):
    row = {**GOOD, "id": "second", field: f"{GOOD.get(field) or ''}{wrong}"}
    path = written(tmp_path, "in.jsonl", json.dumps(GOOD) + "\n" + json.dumps(row) + "\n")
    read = read_problems(path, skip_bad=True)
    (bad,) = read.bad
    assert bad.line == 2
    for suffix in WRITERS:
        write_table(read.table, tmp_path / f"out{suffix}")
        assert read_problems(tmp_path / f"out{suffix}").ids == (GOOD["id"],)
    for command in (["check", "--json"], ["check"], ["show", "--skip-bad"], ["show"]):
        result = CliRunner().invoke(main, ["data", *command, str(path)])
        assert isinstance(result.exception, SystemExit | None)
        result.output.encode()


def test_a_column_named_with_half_a_character_is_shown_without_it(tmp_path):
    path = written(tmp_path, "in.json", json.dumps([{"\ud800": 1, "b": 2}]))
    result = CliRunner().invoke(main, ["data", "check", str(path)])
    assert result.exit_code == 1 and "its fields (�, b) match no known format" in result.output


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(WarmkitError, match="there is no such file"):
        read_problems(tmp_path / "none.jsonl")
    with pytest.raises(WarmkitError, match="this folder has no parts"):
        read_problems(tmp_path)


def test_the_bundled_problems_have_a_name(tmp_path):
    assert len(read_problems("bundled:en").table) >= 1000
    with pytest.raises(WarmkitError, match="There are bundled:en, bundled:hi"):
        read_problems("bundled:fr")


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "out.jsonl"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr("json.dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_table(pl.DataFrame({"a": [1]}), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(WarmkitError, match="it can't be written"):
        write_table(pl.DataFrame({"a": [1]}), tmp_path / "file" / "out.csv")
    with pytest.raises(WarmkitError, match=r"must end in \.parquet"):
        write_table(pl.DataFrame({"a": [1]}), tmp_path / "out.xls")
