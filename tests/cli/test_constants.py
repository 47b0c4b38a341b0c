"""Constants that are chosen: what the commands say, and where they are kept."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from commands import sets
from kinds import everyday, made, percentage
from tiny import TINY

from toolkit.cli import main
from toolkit.data import write_table

QUICK = ("--set", "epochs=1", "--set", "members=1", "--set", "hidden=8", "--set", "embedding=8")


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "percentages.jsonl"
    write_table(made({everyday: 60, percentage: 20}, 0).table, path)
    return path


def test_a_table_says_why_and_json_says_the_same(file):
    shown = run("data", "constants", file)
    assert shown.exit_code == 0
    (hundred,) = [line for line in shown.stdout.splitlines() if line.split()[:2] == ["100", "yes"]]
    assert "N1 / N0 * 100" in hundred
    assert "constants 1, 100, π: 100 wins" in shown.stdout
    found = json.loads(run("data", "constants", file, "--json").stdout)
    assert found["constants"] == ["1", "100", "π"] and found["problems"] == 80
    (row,) = [row for row in found["evidence"] if row["chosen"]]
    assert row["constant"] == "100" and row["gain"] == row["won"] - row["lost"] and row["p_value"] < 0.01


def test_gold_equations_count_if_they_are_allowed(file):
    rows = json.loads(run("data", "constants", file, "--gold", "all", "--json").stdout)["evidence"]
    assert (rows[0]["constant"], rows[0]["gold"]) == ("100", 20)
    assert "all, none or a fraction" in run("data", "constants", file, "--gold", "some").output


def test_a_model_is_trained_with_the_constants_of_its_problems_and_a_solver_with_those_of_the_candidates(
    file, tmp_path
):
    model, candidates = tmp_path / "model", tmp_path / "candidates.parquet"
    trained = run("train", file, "--out", model, "--method", "search", "--json")
    assert json.loads(trained.stdout)["constants"] == ["1", "100", "π"]
    assert "constants 1, 100, π: 100 wins" in trained.stderr
    assert json.loads((model / "model.json").read_text())["constants"] == ["1", "100", "π"]
    why = json.loads((model / "constants.json").read_text())
    assert why == json.loads(run("data", "constants", file, "--json").stdout)
    assert run("generate", file, "--model", model, "--out", candidates).exit_code == 0
    fit = ("solver", "fit", file, "--candidates", candidates, *QUICK)
    assert run(*fit, "--out", tmp_path / "gts").exit_code == 0
    assert json.loads((tmp_path / "gts" / "solver.json").read_text())["constants"] == ["1", "100", "π"]
    refused = run(*fit, "--out", tmp_path / "other", "--constants", "1,π")
    assert refused.exit_code == 1 and "--constants 1,π,100" in refused.output
    exported = run(
        "export", file, "--candidates", candidates, "--gold", "--out", tmp_path / "e.csv", "--json"
    )
    assert json.loads(exported.stdout)["gold"] == 80
    again = run("train", file, "--out", model, "--method", "search", "--resume", "--json")
    assert again.exit_code == 0 and "wins" not in again.stderr  # it has the constants it began with
    assert json.loads(again.stdout)["constants"] == ["1", "100", "π"]


def test_a_list_of_constants_is_taken_as_it_is(file, tmp_path):
    trained = run("train", file, "--out", tmp_path, "--method", "search", "--constants", "1,7", "--json")
    assert json.loads(trained.stdout)["constants"] == ["1", "7"]
    assert "wins" not in trained.stderr and not (tmp_path / "constants.json").exists()
    solved = run("solver", "fit", file, "--out", tmp_path / "gts", "--constants", "1,100", *QUICK)
    assert solved.exit_code == 0
    assert json.loads((tmp_path / "gts" / "solver.json").read_text())["constants"] == ["1", "100"]


def test_a_run_keeps_the_constants_with_which_it_began(file, tmp_path):
    settings = [one for one in TINY if not one.startswith(("constants", "limit"))]
    loop = ("loop", file, "--runs", tmp_path, "--run", "a", "--method", "search", "--rounds", "1")
    began = run(*loop, *sets(settings), "--json")
    assert began.exit_code == 0, began.output
    assert "constants 1, 100, π: 100 wins" in began.stderr
    assert json.loads(began.stdout)["constants"] == ["1", "100", "π"]
    assert yaml.safe_load((tmp_path / "a" / "config.yaml").read_text())["constants"] == ["1", "100", "π"]
    report = (tmp_path / "a" / "report.html").read_text(encoding="utf-8")
    assert "Evidence for and against constants" in report and "N1 / N0 * 100" in report
    resume = ("loop", "--runs", tmp_path, "--run", "a", "--resume", "--json")
    assert run(*resume, "--set", "constants=auto").exit_code == 0
    changed = run(*resume, "--set", "constants=['1']")
    assert changed.exit_code == 1 and "constants: ['1', '100', 'π'] → ['1']" in changed.output
