"""`warmkit paper` as a person or a script calls it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from paper.tiny_paper import write_data

from toolkit.cli import main


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, ["paper", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_table_is_measured_printed_and_resumed(sampling, data, tmp_path):
    out = tmp_path / "out"
    result = run("--data", data, "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("cell ") == 2 and "cell 2 of 2" in result.stderr
    heading, heads, line, *_ = result.stdout.splitlines()
    assert heading == "Table 1: Generation"
    assert heads.split() == ["system", "set", "here", "95", "%", "cells", "time", "paper"]
    assert line.startswith("sampling") and line.rstrip().endswith("53.4") and "2 of 2" in line
    assert "2 cells measured, 0 not run." in result.stdout
    assert (out / "paper.html").exists() and (out / "paper.md").exists()
    refused = run("--data", data, "--out", out)
    assert refused.exit_code == 1
    assert "there is something already. Go on with --resume, or name another folder" in refused.output
    again = run("--data", data, "--out", out, "--resume", "--json")
    assert again.stderr == ""  # nothing is measured
    figures = json.loads(again.stdout)
    assert set(figures) == {*("out", "page", "markdown", "measured", "failed", "left", "tables", "seconds")}
    (table,) = figures["tables"]
    cell = table["rows"][0]["cells"]["AllArith"]
    assert cell["state"] == "measured" and cell["paper"] == 53.4 and cell["of"] == 40
    assert cell["low"] <= cell["share"] == cell["right"] / cell["of"] <= cell["high"]


def test_without_time_every_cell_says_that_it_was_not_run(data, tmp_path):
    figures = json.loads(run("--data", data, "--out", tmp_path / "out", "--budget", "0", "--json").stdout)
    assert figures["measured"] == 0 and figures["left"] > 0
    cells = [cell for table in figures["tables"] for row in table["rows"] for cell in row["cells"].values()]
    assert {cell["state"] for cell in cells} >= {"not run", "no data", "NA"}
    assert not {cell["state"] for cell in cells} & {"measured", "failed"}
    assert {table["table"] for table in figures["tables"]} == {1, 2, 3, 4, 5, 6}


def test_only_the_sets_that_are_named_are_measured_and_shown(data, tmp_path):
    write_data(data, "ew10k", folds=0)
    figures = run("--data", data, "--out", tmp_path / "out", "--budget", "0", "--on", "ew10k", "--json")
    tables = json.loads(figures.stdout)["tables"]
    assert {table["table"] for table in tables} == {1, 2, 6}
    assert {column for table in tables for row in table["rows"] for column in row["cells"]} == {"EW10K"}


def test_only_the_rows_that_are_named_are_measured_and_shown(data, tmp_path):
    figures = run("--data", data, "--out", tmp_path / "out", "--budget", "0", "--row", "ensemble", "--json")
    tables = json.loads(figures.stdout)["tables"]
    names = {table["table"]: [row["row"] for row in table["rows"]] for table in tables}
    assert names[2] == ["Ensemble w/ EN", "warmkit's ensemble"]
    assert names[4] == ["WARM-S (warmkit's ensemble)"]
    assert set(names) == {2, 4, 6}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--row", "nobody"), 1, "There is no row 'nobody' in these tables. Take one of: WARM w/o BE; WARM;"),
        (("--on", "svamp"), 2, "'svamp' is not one of 'allarith', 'math23k'"),
        (("--table", "3", "--on", "hw10k"), 1, "No such table is about hw10k."),
        (("--table", "9"), 2, "9 is not in the range 1<=x<=6"),
        (("--table", "one"), 2, "'one' is not a valid integer"),
        (("--budget", "-1"), 2, "--budget"),
        (("--budget", "nan"), 2, "not a finite number"),
        (("--seeds", "0"), 2, "--seeds"),
        (("--resume",), 1, "there are no measurements to resume. Leave out --resume."),
        (("--data", "nowhere"), 1, "nowhere: there is no such folder. Name the folder"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(data, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments, *(("--budget", "0") if "--budget" not in arguments else ()))
    assert result.exit_code == code, result.output
    assert message in result.output
    assert not Path("runs").exists()


def test_a_folder_with_other_things_is_not_taken(data, tmp_path):
    result = run("--data", data, "--out", data, "--resume", "--budget", "0")
    assert result.exit_code == 1 and "there are no measurements to resume" in result.output
    assert [path.name for path in data.iterdir()] == ["allarith.jsonl"]


def test_a_file_with_bad_rows_is_named(data, tmp_path):
    write_data(data, "hw10k", folds=0, answer="many")
    result = run("--data", data, "--out", tmp_path / "out", "--budget", "0")
    assert result.exit_code == 1
    assert "hw10k.jsonl, line 1" in result.output and "warmkit data import --skip-bad" in result.output
