import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from commands import LONGEST, sets
from tiny import TINY

from toolkit.cli import main

SETTINGS = sets((*TINY, "warm.beam_width=3"))


@pytest.fixture
def loop(tmp_path):
    """Runs `warmkit loop` with its runs in a folder of this test."""

    def run(*arguments: object, stdin: str | None = None):
        written = ["loop", "--runs", str(tmp_path), *(str(argument) for argument in arguments)]
        result = CliRunner().invoke(main, written, input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return run


def last(result) -> dict:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout.splitlines()[-1])


def test_a_run_ends_with_one_object_of_figures(loop, tmp_path):
    figures = last(loop("bundled:en", "--run", "a", "--rounds", 1, *SETTINGS, "--json"))
    assert (figures["run"], figures["rounds"], figures["labels"]) == ("a", 1, 4)
    assert figures["stopped_by"] == "rounds"
    assert 0 <= figures["gold_equivalent"] <= figures["reached"] <= 1
    assert 0 <= figures["answer_accuracy"] <= 1 and figures["seconds"] > 0
    assert Path(figures["report"]).read_text(encoding="utf-8").startswith("<!doctype html>")
    again = loop("bundled:en", "--run", "a", *SETTINGS)
    assert (again.exit_code, "this run already exists" in again.output) == (1, True)
    more = last(loop("--run", "a", "--resume", "--rounds", 2, "--json"))
    assert (more["rounds"], more["labels"]) == (2, 8)
    undone = loop("--run", "a", "--rewind", 2)
    assert "undone from round 2 on" in undone.output
    assert last(loop("--run", "a", "--resume", "--rounds", 2, "--json"))["labels"] == 8
    changed = loop("--run", "a", "--resume", "--batch", 9)
    assert changed.exit_code == 1
    assert "active.batch: 4 → 9" in changed.output
    assert "there is no response to a problem zzz" in loop("--run", "a", "--revoke", "zzz").output
    table = loop("--run", "a", "--resume")
    assert "labels used" in table.output and "Report in" in table.output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--resume",), 2, "Name the run"),
        (("--run", "none", "--resume"), 1, "there is no such run"),
        (("nowhere.jsonl",), 1, "nowhere.jsonl"),
        (("--strategy", "entrpy"), 1, "Did you mean entropy?"),
        (("--set", "active.bach=3"), 1, "Did you mean active.batch?"),
        (("--set", "warm.train.seed=3"), 1, "there is no key warm.train.seed. Did you mean seed?"),
        (("--set", "solver.seed=3"), 1, "there is no key solver.seed. Did you mean seed?"),
        (("--set", "constants=['1', x]"), 1, "constants: x is not a number or π"),
        (("--method", "wram"), 2, "wram"),
        (("--set", "method=serach"), 1, "there is no method serach. Did you mean search?"),
        (("--annotator", "python"), 2, "python"),
        (("--annotator", "nobody"), 2, "nobody"),
        (("--batch", "0"), 2, "0"),
        (("--run", "../up"), 1, "can't name a run"),
        (("--annotator", "label-studio"), 1, "warmkit annotate connect"),
    ],
)
def test_what_is_called_wrongly_is_a_sentence_and_leaves_nothing(loop, tmp_path, arguments, code, words):
    result = loop(*arguments)
    assert result.exit_code == code
    assert words in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("annotator", ["terminal", "file"])  # and Label Studio, in tests/integration
def test_people_who_would_be_asked_nothing_are_told_before_anything_begins(loop, tmp_path, annotator):
    result = loop("bundled:en", "--annotator", annotator, *SETTINGS)
    assert (result.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert "bundled:en: all of its 24 problems have equations" in result.output
    assert "--set known=0" in result.output


def test_the_person_at_the_keyboard_is_asked(loop, tmp_path):
    answers = "s\n" * 3 + "w\nthe key is off\n"  # none of which is a label
    figures = last(
        loop(
            "--annotator",
            "terminal",
            "--run",
            "a",
            "--rounds",
            1,
            *SETTINGS,
            "--set",
            "known=0",
            "--json",
            stdin=answers,
        )
    )
    assert (figures["labels"], figures["stopped_by"]) == (0, "rounds")
    assert "the key is off" in (tmp_path / "a" / "report.html").read_text(encoding="utf-8")


def test_a_person_who_quits_can_go_on_later(loop):
    asked = ("--annotator", "terminal", "--run", "a", "--rounds", 1, *SETTINGS, "--set", "known=0")
    stopped = loop(*asked, "--json", stdin="s\nq\n")
    assert stopped.exit_code == 130
    assert json.loads(stopped.stdout.splitlines()[-1])["stopped_by"] == "interrupt"
    assert last(loop("--run", "a", "--resume", "--json", stdin="s\ns\ns\n"))["stopped_by"] == "rounds"


def test_a_sheet_is_filled_in_and_read_back(loop, tmp_path):
    patience = ("--set", "known=0", "--set", "annotator.patience=0")
    figures = last(loop("--annotator", "file", "--run", "a", "--rounds", 1, *SETTINGS, *patience, "--json"))
    assert figures["labels"] == 0
    sheet = (tmp_path / "a" / "annotate" / "annotate-round-01.csv").read_text(encoding="utf-8-sig")
    assert len(sheet.splitlines()) >= 5


def test_ctrl_c_stops_politely_and_a_second_run_goes_on(tmp_path):
    command = [sys.executable, "-m", "toolkit.cli", "loop", "--runs", str(tmp_path), "--run", "a"]
    settings = [*SETTINGS, "--set", "warm.train.epochs=500", "--json"]
    process = subprocess.Popen(
        [*command, *settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    deadline = time.monotonic() + LONGEST
    while not list(tmp_path.glob("a/round-01/model/model.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LONGEST)
    assert process.returncode == 130, err
    assert json.loads(out.splitlines()[-1])["stopped_by"] == "interrupt"
    assert "Traceback" not in err
    assert "stopped from the keyboard" in (tmp_path / "a" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("most", "begun"), [(45_000, False), (100_000, True), (140_000, True)])
def test_a_full_disk_is_a_sentence_and_the_run_goes_on_afterwards(tmp_path, most, begun):
    """The limit on a file's size stands in for the disk: the system refuses the same writes.

    With the smallest one not even the state of the run can be written: then there is no run.
    """
    command = [sys.executable, "-m", "toolkit.cli", "loop", "--runs", str(tmp_path), "--run", "a"]
    settings = [*SETTINGS, "--rounds", "1", "--json"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    def run(*arguments: str, most: int) -> subprocess.CompletedProcess[str]:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        return subprocess.run(
            [*command, *arguments],
            capture_output=True,
            text=True,
            timeout=LONGEST,
            env=environment,
            preexec_fn=limit,
            check=False,
        )

    full = run(*settings, most=most)
    assert full.returncode == 1
    assert "can't be" in full.stderr and "Traceback" not in full.stderr
    assert [path.name for path in tmp_path.iterdir()] == (["a"] if begun else [])
    assert (tmp_path / "a" / "config.yaml").exists() is begun
    done = run(*(("--resume", "--json") if begun else settings), most=resource.RLIM_INFINITY)
    assert json.loads(done.stdout.splitlines()[-1])["labels"] == 4
    assert list((tmp_path / "a").rglob("*.part")) == []
