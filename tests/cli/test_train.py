"""`warmkit train` and `warmkit generate` as a person or a script calls them."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result
from commands import sets

from toolkit.cli import main
from toolkit.data import read_candidates, read_problems, write_table
from toolkit.data.schema import CANDIDATES
from toolkit.solvers.neural import config as solver_config

SMALL = ("--set", "model.hidden=16", "--set", "model.max_steps=3", "--set", "train.epochs=2")


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "problems.jsonl"
    write_table(read_problems("bundled:en").table.head(60), path)
    return path


@pytest.fixture(scope="module")
def model(data, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "small"
    result = run("train", data, "--out", folder, *SMALL, "--gold", "0.5", "--seed", "3", "--json")
    figures = json.loads(result.stdout)
    assert (figures["problems"], figures["epochs"]) == (60, 2)
    assert 0 < figures["gold"] <= 30
    assert 0 < figures["reached"] <= 1
    return folder


def test_a_trained_folder_says_what_it_is(model):
    described = json.loads((model / "model.json").read_text(encoding="utf-8"))
    assert (described["method"], described["seed"]) == ("warm", 3)
    assert (model / "weights.safetensors").stat().st_size > 10_000
    assert list((model / "tensorboard").iterdir())


def test_a_folder_with_a_model_is_not_overwritten(model, data):
    before = (model / "weights.safetensors").read_bytes()
    result = run("train", data, "--out", model, *SMALL)
    assert result.exit_code == 1
    assert "there is a model already" in result.output
    assert (model / "weights.safetensors").read_bytes() == before


def test_a_finished_run_is_made_longer_with_resume(model, data):
    result = run(
        "train",
        data,
        "--out",
        model,
        *SMALL,
        "--set",
        "train.epochs=3",
        "--gold",
        "0.5",
        "--seed",
        "3",
        "--resume",
    )
    assert result.exit_code == 0, result.output
    assert "after 3 epochs" in result.output


def test_a_finished_run_that_is_resumed_has_nothing_left_to_do(data, tmp_path):
    first = json.loads(run("train", data, "--out", tmp_path / "m", *SMALL, "--json").stdout)
    again = json.loads(run("train", data, "--out", tmp_path / "m", *SMALL, "--resume", "--json").stdout)
    assert (again["epochs"], again["loss"]) == (first["epochs"], first["loss"])


def test_generate_writes_the_candidates_table(model, data, tmp_path):
    out = tmp_path / "candidates.parquet"
    result = run("generate", "--model", model, data, "--out", out, "--json")
    figures = json.loads(result.stdout)
    assert figures["problems"] == 60
    assert figures["reached"] + figures["unsolved"] == 60
    assert 0 <= figures["gold_equivalent"] <= figures["reached"]
    assert len(figures["unsolved_problems"]) == figures["unsolved"]
    table = pl.read_parquet(out)
    assert table.schema == CANDIDATES
    shares = table.group_by("problem_id").agg(pl.col("posterior").sum())["posterior"]
    assert (shares <= 1 + 1e-9).all() and (shares < 0.999).any()  # what is left: no class is right
    assert len(shares) == figures["reached"]


def test_search_and_a_table_for_people(model, data, tmp_path):
    result = run("generate", "--model", model, data, "--out", tmp_path / "c.csv", "--search", "2")
    assert "answer reached" in result.output
    assert "top class is the gold one" in result.output
    assert (tmp_path / "c.csv").read_text(encoding="utf-8").startswith("problem_id,equation,template,klass")


def test_without_gold_equations_nothing_is_said_of_them(model, data, tmp_path):
    bare = tmp_path / "bare.jsonl"
    write_table(read_problems(data).table.with_columns(equation=pl.lit(None, dtype=pl.String)), bare)
    figures = json.loads(
        run("generate", "--model", model, bare, "--out", tmp_path / "c.jsonl", "--json").stdout
    )
    assert figures["gold_equivalent"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("train", "DATA", "--out", "x", "--gold", "half"), 2, "is not all, none or a fraction"),
        (("train", "DATA", "--out", "x", "--set", "train.epoch=3"), 1, "Did you mean train.epochs?"),
        (("train", "DATA", "--out", "x", "--set", "train.seed=3"), 1, "there is no key train.seed"),
        (("train", "DATA", "--out", "x", "--method", "wram"), 2, "wram"),
        (("train", "DATA", "--out", "x", "--method", "search", "--set", "train.epochs=3"), 1, "no key train"),
        (("solver", "fit", "DATA", "--out", "x", "--set", "seed=3"), 1, "there is no key seed"),
        (("train", "DATA", "--out", "x", "--config", "none.yaml"), 1, "there is no such file"),
        (("train", "none.jsonl", "--out", "x"), 1, "there is no such file"),
        (("train", "DATA", "--out", "x", "--resume"), 1, "there is no model to go on with"),
        (("generate", "--model", "none", "DATA", "--out", "c.csv"), 1, "there is no model here"),
        (("generate", "DATA", "--out", "c.csv"), 2, "--model"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(arguments, code, words, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*(data if argument == "DATA" else argument for argument in arguments))
    assert result.exit_code == code
    assert words in result.output


@pytest.fixture
def small_solvers(monkeypatch):
    """A default by which a solver is trained in a second."""
    for name, value in (("members", 1), ("hidden", 16)):
        monkeypatch.setitem(solver_config.FEW_PROBLEMS, name, value)
    monkeypatch.setattr(solver_config, "MOST_EPOCHS", 2)


def test_both_steps_in_one_go(tmp_path, small_solvers):
    data, out = tmp_path / "data.jsonl", tmp_path / "model"
    write_table(read_problems("bundled:en").table.head(20), data)
    wrong = run("train", data, "--out", out, *SMALL, "--test", data)
    assert (wrong.exit_code, "--then-solver" in wrong.output) == (2, True)
    figures = json.loads(
        run("train", data, "--out", out, *SMALL, "--then-solver", "gts", "--test", data, "--json").stdout
    )
    table = read_candidates(out / "candidates.parquet", read_problems(data))
    assert figures["candidates"] == len(table) > 0
    assert 0 <= figures["answer_accuracy"] <= 1
    assert json.loads(run("solve", "--model", figures["solver"], "5 and 6", "--json").stdout)["template"]


def test_both_steps_on_parts(data, tmp_path, small_solvers):
    rows = read_problems(data).table.head(20)
    write_table(rows[:9], tmp_path / "parts" / "a.jsonl")
    write_table(rows[9:], tmp_path / "parts" / "b.parquet")
    out = tmp_path / "model"
    (out / "candidates").mkdir(parents=True)  # of a training before
    (out / "candidates" / "part-00000009.parquet").write_bytes(b"")
    said = run("train", tmp_path / "parts", "--out", out, *SMALL, "--then-solver", "gts", "--json")
    assert said.exit_code == 0, said.output
    figures = json.loads(said.stdout)
    table = read_candidates(out / "candidates", read_problems(tmp_path / "parts"))
    assert figures["candidates"] == len(table) > 0
    assert json.loads(run("solve", "--model", figures["solver"], "5 and 6", "--json").stdout)["template"]
    assert len(list((out / "prepared").glob("lessons-*"))) == 1


def test_the_same_seed_gives_the_same_model_and_solver_and_another_others(data, tmp_path):
    tiny = sets(("epochs=1", "members=1", "hidden=8", "embedding=8", "max_tokens=7"))
    for command in (("train", data, *SMALL), ("solver", "fit", data, *tiny)):
        weights = []
        for name, seed in (("a", 1), ("b", 1), ("c", 2)):
            folder = tmp_path / command[0] / name
            result = run(*command, "--out", folder, "--seed", str(seed))
            assert result.exit_code == 0, result.output
            weights.append((folder / "weights.safetensors").read_bytes())
        assert weights[0] == weights[1] != weights[2], command[0]
