"""The commands as a person or a script calls them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from toolkit.cli import COMMANDS, main

ROWS = [
    {
        "id": "a",
        "text": "Ann has 5 red and 6 green apples.",
        "answer": 11,
        "equation": "5+6",
        "split": "train",
    },
    {
        "id": "b",
        "text": "Bob has 7 red and 8 green apples.",
        "answer": 15,
        "equation": "7+8",
        "split": "test",
    },
    {
        "id": "c",
        "text": "Each of the 4 boxes holds 6 new pens.",
        "answer": 24,
        "equation": "4*6",
        "split": "train",
    },
]


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


@pytest.fixture
def bad(data: Path) -> Path:
    with data.open("a", encoding="utf-8") as file:
        file.write('{"id": "z", "text": "no answer to 5"}\n')
    return data


def test_every_command_is_listed_and_has_help_with_examples():
    listed = run("--help").output
    for name in COMMANDS:
        assert name in listed
        assert run(name, "--help").exit_code == 0
    for verb in ("import", "show", "check", "split", "generate"):
        assert "Examples:\n    warmkit data" in run("data", verb, "--help").output
    for verb in ("check", "show"):
        assert "Examples:\n    warmkit equation" in run("equation", verb, "--help").output


TEXT = "Each pack costs 76 dollars. There is a discount of 25 dollars."


@pytest.mark.parametrize(
    ("equation", "code", "ok", "template", "value"),
    [
        ("76 - 25", 0, True, "N0 - N1", 51),
        ("x = 76 − 25", 0, True, "N0 - N1", 51),
        ("-25 + 76", 0, True, "N0 - N1", 51),
        ("76 + 25", 1, False, "N0 + N1", 101),
        ("76 - 24", 1, False, None, 52),
        ("__import__('os')", 1, False, None, None),
        ("9^9^9^9", 1, False, None, None),
        ("(" * 5_000, 1, False, None, None),
        ("76 / (25 - 25)", 1, False, None, None),
    ],
)
def test_equation_check_prints_one_object_and_exits_0_or_1(equation, code, ok, template, value):
    result = run("equation", "check", equation, "--text", TEXT, "--answer", "51", "--json")
    verdict = json.loads(result.output)
    assert result.exit_code == code
    assert (verdict["ok"], verdict["template"], verdict["value"]) == (ok, template, value)
    assert bool(verdict["reason"]) is not ok
    assert (verdict["klass"] is None) is (template is None)


def test_equivalent_equations_have_the_same_class():
    classes = {
        json.loads(run("equation", "check", equation, "--text", TEXT, "--json").output)["klass"]
        for equation in ("76 - 25", "76 - 25 + 25 - 25", "(76 - 25) * 1")
    }
    assert len(classes) == 1


def test_equation_check_says_in_words_what_it_found():
    result = run("equation", "check", "76 - 24", "--text", TEXT, "--answer", "51")
    assert result.exit_code == 1
    assert "no: 24 is not a number of the problem" in result.output
    assert "N0 = 76" in result.output


@pytest.mark.parametrize("answer", ["twelve", "nan", "1/0", ""])
def test_an_answer_that_is_no_number_is_a_wrong_call(answer):
    result = run("equation", "check", "76 - 25", "--text", TEXT, "--answer", answer)
    assert result.exit_code == 2
    assert "is not a number" in result.output


def test_equation_show_gives_all_forms():
    forms = json.loads(run("equation", "show", "(47-17)/5", "--json").output)
    assert forms["equation"] == "(47 - 17) / 5"
    assert forms["value"] == "6"
    assert forms["prefix"] == "/ - 47 17 5"
    assert "├── -" in run("equation", "show", "(47-17)/5").output
    assert run("equation", "show", "(47-").exit_code == 1


def test_data_check_prints_the_promised_keys(data):
    result = run("data", "check", data, "--json")
    assert result.exit_code == 0
    summary = json.loads(result.output)
    promised = ("problems", "bad", "with_equation", "equation_ok", "bound", "reached", "gold_in_candidates")
    assert [summary[key] for key in promised] == [3, 0, 3, 3, 3, 3, 3]


def test_data_check_tells_people_what_is_in_a_file(data):
    output = run("data", "check", data, "--duplicates").output
    assert "answer reached by search" in output
    assert "numbers in the text: 2 (3)" in output
    assert "splits: test (1), train (2)" in output


def test_bad_rows_make_check_exit_with_1_unless_they_are_skipped(bad):
    result = run("data", "check", bad, "--json")
    assert result.exit_code == 1
    summary = json.loads(result.output)
    assert (summary["problems"], summary["bad"]) == (3, 1)
    assert summary["bad_rows"][0]["reason"] == "it has no answer"
    assert run("data", "check", bad, "--json", "--skip-bad").exit_code == 0


def test_import_refuses_a_file_with_bad_rows_and_writes_nothing(bad, tmp_path):
    out = tmp_path / "out" / "set.parquet"
    result = run("data", "import", bad, "--out", out)
    assert result.exit_code == 1
    assert f"{bad}, line 4, id z: it has no answer" in result.output
    assert "--skip-bad" in result.output
    assert not out.exists()
    assert not out.parent.exists()


def test_import_with_skip_bad_keeps_the_good_rows_and_lists_the_rest(bad, tmp_path):
    out = tmp_path / "set.parquet"
    result = run("data", "import", bad, "--out", out, "--skip-bad")
    assert result.exit_code == 0
    assert "3 problems (native)" in result.output
    assert "line 4, id z: it has no answer" in result.output
    assert json.loads(run("data", "check", out, "--json").output)["problems"] == 3


def test_import_takes_columns_and_folds(tmp_path):
    (tmp_path / "in.csv").write_text("nr,q,gold\n1,5 and 6,11\n2,7 and 8,15\n", encoding="utf-8")
    (tmp_path / "fold0.txt").write_text("1\n", encoding="utf-8")
    out = tmp_path / "out.jsonl"
    files = (tmp_path / "in.csv", tmp_path / "fold0.txt")
    result = run(
        "data", "import", *files, "--id", "nr", "--text", "q", "--answer", "gold", "--out", out, "--json"
    )
    assert json.loads(result.output)["problems"] == 2
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [(row["id"], row["split"]) for row in rows] == [("1", "fold0"), ("2", None)]


def test_import_refuses_ids_that_two_files_share(data, tmp_path):
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(data.read_bytes())
    result = run("data", "import", data, copy, "--out", tmp_path / "out.csv")
    assert result.exit_code == 1
    assert "the same ids, such as a, b, c" in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("data", "import", "DATA", "--out", "set.xls"),
        ("data", "import", "DATA"),
        ("data", "check", "DATA", "-k", "9"),
        ("data", "check", "DATA", "--constants", "1,two"),
        ("data", "split", "DATA", "--out", "x.csv", "--parts", "train"),
        ("data", "split", "DATA", "--out", "x.csv", "--parts", "a=1", "--folds", "2"),
        ("data", "unknown"),
        ("unknown",),
        ("equation", "check", "1+1"),
    ],
)
def test_a_wrong_call_exits_with_2(arguments, data):
    result = run(*(data if argument == "DATA" else argument for argument in arguments))
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_show_marks_the_numbers_and_the_template(data):
    output = run("data", "show", data, "--id", "c").output
    assert "4[N0] boxes holds 6[N1] new pens" in output
    assert "template N0 * N1" in output
    assert run("data", "show", data, "--id", "nobody").exit_code == 1
    (row,) = [
        json.loads(line) for line in run("data", "show", data, "--count", "1", "--json").output.splitlines()
    ]
    assert row["numbers"] == [{"written": "5", "value": 5.0}, {"written": "6", "value": 6.0}]


def test_split_writes_a_table_or_a_folder(data, tmp_path):
    result = run("data", "split", data, "--out", tmp_path / "parts", "--parts", "train=2,test=1", "--json")
    assert json.loads(result.output)["sizes"] == {"test": 1, "train": 2}
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == ["test.parquet", "train.parquet"]
    out = tmp_path / "folds.csv"
    assert "fold1" in run("data", "split", data, "--out", out, "--folds", "2", "--seed", "3").output
    assert json.loads(run("data", "check", out, "--json").output)["splits"].keys() == {"fold0", "fold1"}


def test_split_warns_of_near_duplicates_that_it_parts(tmp_path):
    data = tmp_path / "data.jsonl"
    rows = [{**ROWS[0], "id": f"p{i}", "text": f"Ann has {i} red and 6 green apples."} for i in range(6)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    arguments = ("data", "split", data, "--out", tmp_path / "x.csv", "--folds", "2")
    assert "near-duplicates" not in run(*arguments).output
    output = run(*arguments, "--part-duplicates").output
    assert "warning: 9 near-duplicates across splits" in output
    assert "100 % alike" in output


@pytest.mark.parametrize("lang", ["en", "hi", "zh"])
def test_generate_writes_problems_that_check(tmp_path, lang):
    out = tmp_path / "new.jsonl"
    assert (
        run("data", "generate", "--lang", lang, "--count", "20", "--seed", "5", "--out", out).exit_code == 0
    )
    summary = json.loads(run("data", "check", out, "--json", "--no-search").output)
    assert (summary["problems"], summary["bound"], summary["equation_ok"]) == (20, 20, 20)
    assert summary["reached"] is None
