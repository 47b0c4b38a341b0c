"""`warmkit runs` on runs that were written down without training."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from toolkit.annotators.questions import Response
from toolkit.cli import main
from toolkit.config import load_config
from toolkit.data import read_problems
from toolkit.loop.config import LoopConfig
from toolkit.loop.ledger import BatchItem
from toolkit.loop.run import Run, create_run, locked, open_run, run_names

ACCURACY = (0.4, 0.58, 0.6)  # of the solver, round by round

read_once = cache(read_problems)  # what a run is made of does not matter here, only that making it is quick


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("toolkit.loop.sets.read_problems", read_once)


def call(root: Path, verb: str, *arguments: str, typed: str = "") -> Result:
    result = CliRunner().invoke(main, ["runs", verb, *arguments, "--runs", str(root)], input=typed)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def answer(root: Path, verb: str, *arguments: str):
    result = call(root, verb, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def make(root: Path, name: str, *settings: str, end: str | None = "rounds") -> Run:
    """A run of three rounds, of which the last asks nobody, as the loop writes it down."""
    run = create_run(root, name, load_config(LoopConfig, None, ["limit=20", *settings]))
    with run.ledger.transaction():
        for round_, accuracy in enumerate(ACCURACY, start=1):
            labels = 10 * (round_ - 1)
            run.ledger.finish(round_, "train", 10.0, {})
            run.ledger.finish(round_, "generate", 2.5, {})
            pool = {"labels": labels, "known": labels, "reached": 0.9, "confidence": 0.7}
            run.ledger.measure(round_, "pool", {**pool, "gold_equivalent": 0.5 + round_ / 10})
            run.ledger.measure(round_, "test", {"answer_accuracy": accuracy})
            right = "".join("1" if i < accuracy * len(run.test) else "0" for i in range(len(run.test)))
            run.ledger.finish(
                round_, "solver", 0.0, {"answer_accuracy": accuracy, "class_accuracy": None, "right": right}
            )
            if round_ < len(ACCURACY):
                run.ledger.add_batch([BatchItem(round_, f"p{round_}", "why", "random", ())])
                run.ledger.finish(round_, "choose", 0.5, {})
        run.ledger.record(
            Response(name, 1, "equation", equation, None, "ann", name, "2026-01-01T00:00:00+00:00", None)
            for name, equation in run.problems.table.select("id", "equation").iter_rows()
        )
        if end:
            run.ledger.set_fact("end", {"rule": end, "sentence": f"It ended by {end}.", "round": 3})
    run.ledger.close()
    return run


def damage(root: Path) -> None:
    """Three runs, each damaged in its own way."""
    (make(root, "no-yaml").folder / "config.yaml").write_text("stop: [1,\n", encoding="utf-8")
    (make(root, "old-key").folder / "config.yaml").write_text("datta: x\n", encoding="utf-8")
    (make(root, "no-state").folder / "state.sqlite").write_bytes(b"this is no data base " * 500)


def age(run: Run, seconds: int) -> None:
    os.utime(run.folder / "state.sqlite", (seconds, seconds))


def test_runs_are_listed_with_their_figures_the_newest_first(tmp_path):
    age(make(tmp_path, "first"), 1_000)
    age(make(tmp_path, "second", "active.strategy=random"), 3_000)
    age(make(tmp_path, "third"), 2_000)
    found = answer(tmp_path, "list")["runs"]
    assert [one["run"] for one in found] == ["second", "third", "first"]
    assert found[0] == {
        "run": "second",
        "rounds": 2,
        "labels": 20,
        "reached": 0.9,
        "gold_equivalent": 0.8,
        "answer_accuracy": 0.6,
        "answer_interval": pytest.approx([0.537, 0.660], abs=0.001),
        "stopped_by": "rounds",
        "seconds": 38.5,
        "report": str(tmp_path / "second" / "report.html"),
        "data": "bundled:en",
        "constants": ["1", "π"],
        "annotator": "oracle",
        "strategy": "random",
        "state": "ended",
        "problem": None,
    }
    header, row, *others = call(tmp_path, "list").stdout.splitlines()
    assert header.split() == [
        *("run", "data", "annotator", "strategy", "rounds", "labels", "reached", "gold", "solver"),
        *("ended", "by", "seconds"),
    ]
    assert row.split() == [
        *("second", "bundled:en", "oracle", "random", "2", "20", "90.0", "%", "80.0", "%", "60.0", "%"),
        *("rounds", "38"),
    ]
    assert len(others) == 2


def test_on_a_small_screen_no_figure_is_folded(tmp_path, monkeypatch):
    make(tmp_path, "a-run-with-a-rather-long-name")
    monkeypatch.setattr("toolkit.screen.Screen.is_terminal", True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    output = call(tmp_path, "list").stdout
    assert max(map(len, output.splitlines())) <= 80
    (row,) = [line for line in output.splitlines() if "60.0 %" in line]
    assert row.split()[1:] == ["2", "20", "90.0", "%", "80.0", "%", "60.0", "%", "rounds", "38"]
    assert "oracle, margin" in output


@pytest.mark.parametrize("folder", [".", "not-there"])
def test_a_folder_without_runs_is_a_sentence(folder, tmp_path):
    result = call(tmp_path / folder, "list")
    assert result.exit_code == 0
    assert "There are no runs in" in result.stdout and "warmkit loop" in result.stdout
    assert answer(tmp_path / folder, "list") == {"runs": []}


def test_a_damaged_run_is_listed_with_what_is_wrong(tmp_path):
    make(tmp_path, "good")
    damage(tmp_path)
    found = {one["run"]: one for one in answer(tmp_path, "list")["runs"]}
    assert found["good"]["state"] == "ended"
    assert {name: one["state"] for name, one in found.items() if name != "good"} == {
        "no-yaml": "damaged",
        "old-key": "damaged",
        "no-state": "damaged",
    }
    assert "config.yaml, line 2: this is not YAML" in found["no-yaml"]["problem"]
    assert "there is no key datta. Did you mean data?" in found["old-key"]["problem"]
    assert "state.sqlite: the state of the run can't be opened" in found["no-state"]["problem"]
    result = call(tmp_path, "list")
    assert result.exit_code == 0
    assert [line.split()[1:] for line in result.stdout.splitlines() if line.startswith("no-yaml")] == [
        ["damaged"]
    ]
    assert "warning: " + found["no-state"]["problem"] in result.stderr


def test_a_page_of_the_state_that_is_broken_is_a_sentence_too(tmp_path):
    path = make(tmp_path, "a").folder / "state.sqlite"
    whole = path.read_bytes()
    path.write_bytes(
        whole[:4096] + b"\xff" * (len(whole) - 4096)
    )  # the first page says what tables there are
    assert answer(tmp_path, "list")["runs"][0]["state"] == "damaged"
    result = call(tmp_path, "show", "a")
    assert result.exit_code == 1
    assert "state.sqlite: the state of the run" in result.output


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET value = '[1]' WHERE name = 'end'",
        "UPDATE facts SET value = '{\"rule\": 3}' WHERE name = 'end'",
        "UPDATE facts SET value = 'no JSON' WHERE name = 'format'",
        "UPDATE metrics SET value = 'much'",
        "UPDATE metrics SET value = 9e999",
        "UPDATE metrics SET round = -1 WHERE round = 1",
        "UPDATE stages SET seconds = 'long'",
        "UPDATE asked SET candidates = '{'",
        "UPDATE asked SET why = CAST(x'ff' AS TEXT)",
        "DROP TABLE asked",
    ],
)
def test_what_is_wrong_in_one_ledger_does_not_hide_the_other_runs(tmp_path, statement):
    make(tmp_path, "good")
    state = make(tmp_path, "bad").folder / "state.sqlite"
    with closing(sqlite3.connect(state, isolation_level=None)) as database:
        database.execute(statement)
    found = {entry["run"]: entry for entry in answer(tmp_path, "list")["runs"]}
    assert (found["good"]["state"], found["bad"]["state"]) == ("ended", "damaged")
    assert str(state) in found["bad"]["problem"] and "runs repair" in found["bad"]["problem"]
    for words in (("show", "bad"), ("compare", "good", "bad")):
        result = call(tmp_path, *words)
        assert result.exit_code == 1 and str(state) in result.output


@pytest.mark.parametrize("name", ["config.yaml", "state.sqlite"])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut"])
def test_a_run_that_lacks_a_file_is_damaged_and_does_not_begin_anew(tmp_path, name, damage):
    path = make(tmp_path, "a").folder / name
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes(b"" if damage == "empty" else content[: len(content) // 3])
    (entry,) = answer(tmp_path, "list")["runs"]
    assert entry["state"] == "damaged" and str(path) in entry["problem"]
    result = CliRunner().invoke(main, ["loop", "--run", "a", "--resume", "--runs", str(tmp_path)])
    assert result.exit_code == 1 and str(path) in result.output
    assert not (path.parent / "round-01").exists()


def test_a_run_is_running_while_somebody_holds_it_and_stopped_if_nothing_ended_it(tmp_path):
    run = make(tmp_path, "a", end=None)

    def state() -> str:
        return answer(tmp_path, "list")["runs"][0]["state"]

    assert state() == "stopped"
    with locked(run):
        assert state() == "running"
        assert "It is being worked on." in call(tmp_path, "show", "a").stdout
    assert state() == "stopped"
    assert "stopped" in call(tmp_path, "list").stdout


@pytest.mark.parametrize("how", ["interrupted", "made longer and killed"])
def test_a_run_that_can_go_on_is_stopped_though_it_had_an_end(how, tmp_path):
    run = make(tmp_path, "a", end="interrupt" if how == "interrupted" else "rounds")
    if how != "interrupted":
        opened = open_run(tmp_path, "a")
        opened.ledger.finish(3, "choose", 1.0, {})
        opened.ledger.close()
    assert answer(tmp_path, "show", run.name)["state"] == "stopped"


def test_show_tells_the_rounds_the_time_and_how_to_go_on(tmp_path):
    make(tmp_path, "a", end=None)
    shown = answer(tmp_path, "show", "a")
    assert shown["stage_seconds"] == {"train": 30.0, "generate": 7.5, "solver": 0.0, "choose": 1.0}
    assert [one["round"] for one in shown["by_round"]] == [1, 2, 3]
    assert shown["by_round"][1] == {
        "round": 2,
        "labels": 10,
        "known": 10,
        "reached": 0.9,
        "gold_equivalent": 0.7,
        "confidence": 0.7,
        "random_error": None,
        "answer_accuracy": 0.58,
    }
    output = call(tmp_path, "show", "a").stdout
    assert "2 10 10 90.0 % 70.0 % 70.0 % – 58.0 %" in " ".join(output.split())
    assert f"It was stopped. Go on: warmkit loop --run a --runs {tmp_path} --resume" in output
    assert "There is no report yet." in output


def test_show_says_why_a_run_ended_and_where_its_report_is(tmp_path):
    run = make(tmp_path, "a", end="kappa")
    run.report.write_text("<html>", encoding="utf-8")
    output = call(tmp_path, "show", "a").stdout
    assert f"It ended by kappa.\nReport in {run.report}" in output
    assert "--resume" not in output


def test_a_run_that_has_just_begun_can_be_shown(tmp_path):
    create_run(tmp_path, "new", load_config(LoopConfig, None, ["limit=20"])).ledger.close()
    shown = answer(tmp_path, "show", "new")
    assert (shown["rounds"], shown["reached"], shown["by_round"], shown["stage_seconds"]) == (0, None, [], {})
    assert call(tmp_path, "show", "new").exit_code == 0
    assert call(tmp_path, "list").exit_code == 0


def test_compare_shows_only_the_keys_that_differ(tmp_path):
    make(tmp_path, "a")
    make(tmp_path, "b", "active.strategy=random", "warm.train.lr=0.01")
    make(tmp_path, "c", "seed=4")
    compared = answer(tmp_path, "compare", "a", "b", "c")
    assert compared["configuration"] == {
        "seed": {"a": 0, "b": 0, "c": 4},
        "warm.train.lr": {"a": 0.001, "b": 0.01, "c": 0.001},
        "active.strategy": {"a": "margin", "b": "random", "c": "margin"},
    }
    assert list(compared["configuration"]) == ["seed", "active.strategy", "warm.train.lr"]
    assert [one["run"] for one in compared["runs"]] == ["a", "b", "c"]
    assert compared["runs"][0]["labels_to_nearly_best"] == 10  # 58 % is nearly 60 %
    lines = [line.split() for line in call(tmp_path, "compare", "a", "b", "c").stdout.splitlines()]
    assert ["active.strategy", "margin", "random", "margin"] in lines
    assert ["labels", "used", "20", "20", "20"] in lines


def test_compare_pairs_the_solvers_of_two_runs_problem_by_problem(tmp_path):
    make(tmp_path, "a")
    tests = 240
    for name, gained, lost in (("better", 20, 2), ("alike", 6, 4)):
        make(tmp_path, name)
        marks = list("1" * 144 + "0" * (tests - 144))  # what a got right, and what it got wrong
        marks[:lost] = "0" * lost
        marks[144 : 144 + gained] = "1" * gained
        with closing(open_run(tmp_path, name).ledger) as ledger, ledger.transaction():
            right = "".join(marks)
            share = right.count("1") / tests
            tested = {"answer_accuracy": share, "class_accuracy": None, "right": right}
            ledger.finish(3, "solver", 0.0, tested)
    first, better, alike = answer(tmp_path, "compare", "a", "better", "alike")["runs"]
    assert first["gain"] is None
    assert better["gain"]["difference"] == pytest.approx(18 / 240) and better["gain"]["low"] > 0
    assert alike["gain"]["low"] < 0 < alike["gain"]["high"]
    table = call(tmp_path, "compare", "a", "better", "alike").stdout
    line = next(line for line in table.splitlines() if line.startswith("solver against a, points"))
    assert "+7.5 (+3.7 to +11.2)" in line and "within chance" in line and line.count("within chance") == 1


def test_runs_with_other_test_problems_are_not_paired(tmp_path):
    make(tmp_path, "a")
    make(tmp_path, "b", "data=bundled:hi")
    assert answer(tmp_path, "compare", "a", "b")["runs"][1]["gain"] is None


def test_compare_says_so_if_nothing_differs(tmp_path):
    make(tmp_path, "a")
    make(tmp_path, "b")
    assert "Their settings are the same." in call(tmp_path, "compare", "a", "b").stdout
    assert answer(tmp_path, "compare", "a", "b")["configuration"] == {}


def test_runs_are_deleted_after_a_yes_and_only_those(tmp_path):
    for name in ("a", "b", "c", "d"):
        make(tmp_path, name)
    assert call(tmp_path, "delete", "a", typed="n\n").exit_code == 1
    assert run_names(tmp_path) == ["a", "b", "c", "d"]
    asked = call(tmp_path, "delete", "a", "c", typed="y\n")
    assert "Delete a, c" in asked.stderr and "Deleted a, c." in asked.stdout
    assert run_names(tmp_path) == ["b", "d"]
    assert answer(tmp_path, "delete", "b", "--yes") == {"deleted": ["b"]}
    assert run_names(tmp_path) == ["d"]


@pytest.mark.parametrize("wrong", ["nobody", "../kept", "..", ".", "", "/tmp", "a/../kept"])
def test_a_name_that_is_no_run_deletes_nothing(wrong, tmp_path):
    root = tmp_path / "runs"
    make(root, "a")
    make(tmp_path, "kept")
    result = call(root, "delete", "a", wrong, "--yes")
    assert result.exit_code == 1
    assert "Nothing was deleted." in result.output
    assert run_names(root) == ["a"] and run_names(tmp_path) == ["kept"]
    for verb in (("show", wrong), ("compare", "a", wrong)):
        shown = call(root, *verb)
        assert shown.exit_code == 1
        assert "can't name a run" in shown.output or "there is no such run" in shown.output


def test_a_run_that_is_worked_on_is_not_deleted_nor_are_the_others(tmp_path):
    make(tmp_path, "a")
    run = make(tmp_path, "b")
    with locked(run):
        result = call(tmp_path, "delete", "a", "b", "--yes")
    assert result.exit_code == 1
    assert f"{run.folder}: the run is being worked on" in result.output
    assert run_names(tmp_path) == ["a", "b"]


def test_a_run_that_somebody_takes_while_the_question_is_open_is_not_deleted(tmp_path, monkeypatch):
    run = make(tmp_path, "a")
    monkeypatch.setattr("toolkit.cli.runs.activity", lambda run: "ended")
    with locked(run):
        result = call(tmp_path, "delete", "a", "--yes")
    assert result.exit_code == 1
    assert f"process {os.getpid()} works on this run" in result.output
    assert run_names(tmp_path) == ["a"]


def test_a_damaged_run_is_not_deleted_unseen(tmp_path):
    damage(tmp_path)
    result = call(tmp_path, "delete", "no-state", "--yes")
    assert result.exit_code == 1
    assert f"by hand, as the folder {tmp_path / 'no-state'}" in result.output
    assert (tmp_path / "no-state").exists()


@pytest.mark.parametrize(
    "arguments", [("show",), ("compare",), ("compare", "a"), ("compare", "a", "a"), ("delete",), ("none",)]
)
def test_a_wrong_call_exits_with_2(arguments, tmp_path):
    make(tmp_path, "a")
    assert call(tmp_path, *arguments).exit_code == 2


def test_every_verb_has_examples():
    for verb in ("list", "show", "compare", "repair", "delete"):
        assert "Examples:\n    warmkit runs" in CliRunner().invoke(main, ["runs", verb, "--help"]).output


def test_listing_runs_loads_no_torch():
    code = "import sys, toolkit.cli.runs\nsys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
