"""Models, solvers and runs that an earlier version wrote: a sentence each, and exit code 1."""

import json
from contextlib import closing

import pytest
from click.testing import CliRunner

from toolkit.cli import main
from toolkit.config import load_config
from toolkit.loop.config import LoopConfig
from toolkit.loop.ledger import Ledger
from toolkit.loop.run import create_run


def refused(*arguments) -> str:
    """The one sentence that a command says."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 1, result.output
    (sentence,) = result.output.splitlines()
    return sentence


@pytest.fixture
def model(tmp_path):
    """As version 0.1.0 wrote it, with the seed among the settings of training."""
    folder = tmp_path / "model"
    folder.mkdir()
    described = {
        "format": "warmkit-warm-1",
        "problems": 3,
        "gold": 0,
        "constants": ["1", "π"],
        "config": {"model": {"hidden": 16}, "train": {"epochs": 2, "seed": 3}},
        "history": [],
        "vocabulary": ["<pad>", "<unk>"],
    }
    (folder / "model.json").write_text(json.dumps(described), encoding="utf-8")
    (folder / "weights.safetensors").write_bytes(b"")
    return folder


@pytest.fixture
def solver(tmp_path):
    folder = tmp_path / "solver"
    folder.mkdir()
    described = {"format": "warmkit-solver-1", "kind": "gts", "config": {"seed": 3}, "constants": ["1"]}
    (folder / "solver.json").write_text(json.dumps(described), encoding="utf-8")
    (folder / "weights.safetensors").write_bytes(b"")
    return folder


@pytest.fixture
def run(tmp_path):
    """A run folder without the mark of its format, and with keys that are gone."""
    run = create_run(tmp_path / "runs", "old", load_config(LoopConfig, None, ["limit=20"]))
    run.ledger.close()
    (run.folder / "state.sqlite").unlink()
    with closing(Ledger(run.folder / "state.sqlite", new=True)) as ledger, ledger.transaction():
        ledger.finish(1, "open", 0.1, {"known": {"p1": "N0 + N1"}, "answered": 1})
    written = (run.folder / "config.yaml").read_text(encoding="utf-8")
    old = written.replace("  train:\n", "  train:\n    seed: 0\n", 1)
    assert old != written
    (run.folder / "config.yaml").write_text(old, encoding="utf-8")
    return run.folder


def test_an_old_model_is_a_sentence(model, tmp_path):
    words = f"Error: {model / 'model.json'}: this is not a model that this version reads (warmkit-model-2)."
    generated = refused("generate", "bundled:en", "--model", model, "--out", tmp_path / "c.parquet")
    assert generated == f"{words} Train it anew."
    assert refused("train", "bundled:en", "--out", model, "--resume") == f"{words} Train it anew."
    assert "there is a model already" in refused("train", "bundled:en", "--out", model)
    assert not (tmp_path / "c.parquet").exists()


def test_an_old_solver_is_a_sentence(solver):
    words = f"Error: {solver / 'solver.json'}: this is not a solver that this version reads"
    for command in (("solve", "5 and 6"), ("evaluate", "bundled:en")):
        assert refused(*command, "--model", solver) == f"{words} (warmkit-solver-4). Train it anew."


@pytest.mark.parametrize(
    "command",
    [
        ("loop", "--run", "old", "--resume"),
        ("loop", "--run", "old", "--resume", "--rounds", "9"),
        ("loop", "--run", "old", "--rewind", "1"),
        ("loop", "--run", "old", "--revoke", "p1"),
        ("runs", "show", "old"),
        ("annotate", "backend", "--run", "old"),
    ],
)
def test_an_old_run_is_a_sentence(run, command):
    sentence = f"Error: {run}: another version of warmkit made this run. Begin a new one."
    assert refused(*command, "--runs", run.parent) == sentence


def test_an_old_run_is_listed_beside_the_others(run):
    create_run(run.parent, "new", load_config(LoopConfig, None, ["limit=20"])).ledger.close()
    result = CliRunner().invoke(main, ["runs", "list", "--runs", str(run.parent), "--json"])
    found = {entry["run"]: entry for entry in json.loads(result.stdout)["runs"]}
    assert found["new"]["state"] == "stopped"
    assert "another version of warmkit made this run" in found["old"]["problem"]
