"""Commands that begin something under one name at the same moment: one begins it, the others are told."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import LONGEST, sets
from tiny import TINY

from toolkit.loop.run import load_run, run_names
from toolkit.methods import load_model

PROCESSES = 3
FILES = {"config.yaml", "problems.parquet", "test.parquet", "state.sqlite"}
SETTINGS = sets((*TINY, "stop.rounds=1"))


def at_once(*words: object) -> list[tuple[int, str]]:
    """The exit code and the output of each process."""
    script = Path(__file__).with_name("at_once.py")
    command = [sys.executable, str(script), str(PROCESSES), *(str(word) for word in words)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert result.returncode == 0, result.stderr
    answers = json.loads(result.stdout.splitlines()[-1])
    assert all(code in (0, 1) for code, _ in answers), answers
    return answers


@pytest.mark.parametrize("attempt", range(2))
def test_of_runs_that_begin_under_one_name_one_goes_on_and_the_others_are_told(tmp_path, attempt):
    answers = at_once("loop", "bundled:en", "--run", "a", "--runs", tmp_path, *SETTINGS, "--seed", "{}")
    assert sorted(code for code, _ in answers) == [0] + [1] * (PROCESSES - 1), answers
    for code, said in answers:
        assert code == 0 or f"{tmp_path / 'a'}: this run already exists." in said
    run = load_run(tmp_path / "a")
    assert {path.name for path in run.folder.iterdir()} >= FILES
    assert run.ledger.fact("end")["rule"] == "rounds"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_runs_that_begin_without_a_name_get_one_each(tmp_path):
    answers = at_once("loop", "bundled:en", "--runs", tmp_path, *SETTINGS, "--seed", "{}")
    assert [code for code, _ in answers] == [0] * PROCESSES, answers
    assert run_names(tmp_path) == [f"run-{i}" for i in range(1, PROCESSES + 1)]
    runs = [load_run(tmp_path / name) for name in run_names(tmp_path)]
    assert sorted(run.config.seed for run in runs) == list(range(PROCESSES))


def test_of_trainings_in_one_folder_one_goes_on_and_the_others_are_told(tmp_path):
    out = tmp_path / "model"
    small = sets(("model.hidden=8", "model.embedding=8", "train.epochs=3", "train.search=1"))
    answers = at_once("train", "bundled:en", "--out", out, *small, "--seed", "{}")
    assert sorted(code for code, _ in answers) == [0] + [1] * (PROCESSES - 1), answers
    for code, said in answers:
        assert code == 0 or "trains in this folder" in said or "there is a model already" in said
    (winner,) = [number for number, (code, _) in enumerate(answers) if code == 0]
    assert load_model(out).origin.seed == winner
