"""`warmkit tune` as a person or a script calls it, on the real Ray."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result
from commands import LONGEST, descendants, wait_for_the_end_of

from toolkit.cli import main
from toolkit.config import load_config
from toolkit.loop.config import LoopConfig
from tune.sweep import create_sweep
from tune.write import write_results

ROOT = Path(__file__).parents[2]


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def ray(session):
    """The Ray session of all tests: what needs one finds it there."""
    return session


def test_a_sweep_of_four_trials(ray, file, tmp_path):
    out = tmp_path / "sweep"
    result = run("tune", file, "--out", out, "--json")
    figures = json.loads(result.stdout)  # nothing but the object: Ray is silent
    assert set(figures) >= {"trials", "best", "results", "page", "seconds"}
    assert (figures["trials"], figures["failed"]) == (4, 0)
    assert result.stderr.count("trial ") == 4 and "best so far" in result.stderr
    rows = pl.read_parquet(figures["results"])
    assert rows["state"].to_list() == ["done"] * 4
    assert rows["gold_equations"].to_list() == [0, 0, 12, 12]
    assert figures["best"]["value"] == rows["gold_equivalent"].max()
    assert "<svg" in Path(figures["page"]).read_text(encoding="utf-8")
    best = load_config(LoopConfig, figures["best"]["config"])
    assert best.known == figures["best"]["keys"]["gold"]
    assert best.warm.train.epochs == 2 and best.limit == 24
    assert sorted(path.name for path in (out / "trials").iterdir()) == [
        f"trial-00{i}.json" for i in range(1, 5)
    ]
    # There is a sweep already; it can be resumed, and then there is nothing to do.
    assert "this sweep exists already" in run("tune", file, "--out", out).output
    again = run("tune", file, "--out", out, "--resume")
    assert again.exit_code == 0 and "sweep sweep" in again.output and "best.yaml" in again.output
    changed = run("tune", file, "--out", out, "--resume", "--set", "warm.train.epochs=5")
    assert changed.exit_code == 1 and "warm.train.epochs: 2 → 5" in changed.output


def test_a_trial_that_fails_is_a_row_with_its_error_and_not_the_end(ray, file, tmp_path):
    space = ("--set", "space={beam_width: [1, 3], gold: [0.5]}")
    out = tmp_path / "sweep"
    assert run("tune", file, "--out", out, *space, "--trials", "1").exit_code == 0
    (done,) = (out / "trials").glob("*.json")
    blocked = done.stem.replace("1", "2")
    (out / "trials" / blocked).write_text("in the place of its folder", encoding="utf-8")
    result = run("tune", file, "--out", out, *space, "--resume")
    assert result.exit_code == 0, result.output
    assert "1 trials failed" in result.output and "1 of 2 trials are left" in result.output
    good, bad = pl.read_parquet(out / "results.parquet").iter_rows(named=True)
    assert (good["state"], good["error"]) == ("done", None)
    assert (bad["state"], bad["reached"]) == ("failed", None) and blocked in bad["error"]


def test_a_searcher_proposes_settings_as_trials_end(ray, file, tmp_path):
    space = "space={gold: {low: 0.1, high: 0.9}, beam_width: [1, 3]}"
    settings = ("--set", "search=tpe", "--set", "draws=5", "--set", space, "--set", "measure_solver=false")
    first = run("tune", file, "--out", tmp_path / "sweep", *settings, "--trials", "2", "--json")
    assert json.loads(first.stdout)["trials"] == 2, first.stderr
    figures = json.loads(
        run("tune", file, "--out", tmp_path / "sweep", *settings, "--resume", "--json").stdout
    )
    assert (figures["trials"], figures["failed"]) == (5, 0)
    rows = pl.read_parquet(figures["results"])
    assert rows["gold"].n_unique() == 5 and rows["gold"].is_between(0.1, 0.9).all()
    assert rows["gold_equations"].to_list() == [round(24 * gold) for gold in rows["gold"]]
    assert "5 of 5" in Path(figures["page"]).read_text(encoding="utf-8")


def test_asha_stops_trials_and_time_leaves_them_for_later(ray, file, tmp_path):
    slow = ("--set", "warm.train.epochs=8", "--set", "measure_solver=false")
    asha = ("--set", "asha=true", "--set", "grace=1", "--set", "reduction=2", "--set", "seeds=[0, 1]")
    figures = json.loads(run("tune", file, "--out", tmp_path / "a", *slow, *asha, "--json").stdout)
    rows = pl.read_parquet(figures["results"])
    assert len(rows) == 8
    states = rows["state"].to_list()
    assert "stopped" in states and "done" in states
    assert not [path for path in (tmp_path / "a" / "trials").iterdir() if path.is_dir()]
    assert set(rows.filter(pl.col("state") == "done")["epochs"]) == {8}
    short = run("tune", file, "--out", tmp_path / "b", *slow, "--time-budget", "0.1")
    assert short.exit_code == 0
    assert "Go on with --resume" in short.output
    done = run("tune", file, "--out", tmp_path / "b", *slow, "--resume", "--trials", "1", "--json")
    assert json.loads(done.stdout)["trials"] == 1


def begin(file: Path, out: Path, *settings: str) -> subprocess.Popen[str]:
    """The command in a process of its own, as soon as a trial has saved its model."""
    command = [sys.executable, "-m", "toolkit.cli", "tune", str(file), "--out", str(out), *settings]
    started = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    before = {path: path.stat().st_mtime for path in out.glob("trials/*/model.json")}
    deadline = time.monotonic() + LONGEST
    while not any(before.get(path) != path.stat().st_mtime for path in out.glob("trials/*/model.json")):
        assert started.poll() is None and time.monotonic() < deadline, started.communicate()[0]
        time.sleep(0.05)
    return started


def test_a_sweep_that_is_stopped_and_then_killed_goes_on_where_it_was(ray, file, tmp_path):
    out = tmp_path / "sweep"
    settings = ("--set", "warm.train.epochs=60", "--trials", "2", "--set", "measure_solver=false")
    with begin(file, out, *settings) as stopped:
        os.killpg(stopped.pid, signal.SIGINT)
        said = stopped.communicate(timeout=LONGEST)[0]
    assert stopped.returncode == 130, said
    assert "2 of 2 trials are left. Go on with --resume" in said and "Traceback" not in said
    assert (out / "page.html").exists() and not (out / "ray").exists()
    with begin(file, out, *settings, "--resume") as killed:
        cluster = descendants(killed.pid)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
    wait_for_the_end_of(cluster)
    assert list(out.glob("trials/*/model.json"))
    result = run("tune", file, "--out", out, *settings, "--resume", "--json")
    assert json.loads(result.stdout)["trials"] == 2, result.stderr
    assert not (out / "ray").exists()
    assert run("tune", file, "--out", tmp_path / "whole", *settings).exit_code == 0
    ours, whole = (pl.read_parquet(folder / "results.parquet") for folder in (out, tmp_path / "whole"))
    assert ours["epochs"].to_list() == [60, 60]
    assert ours.drop("seconds").equals(whole.drop("seconds"))  # as if nothing had happened


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("none.yaml",), 1, "there is no such file"),
        (("FILE", "--resume"), 1, "there is no such sweep"),
        (("FILE", "--name", "../x"), 1, "can't name a run"),
        (("FILE", "--set", "space.beam_widht=[1]"), 1, "did you mean warm.explore.beam_width?"),
        (("FILE", "--set", "data=none.jsonl"), 1, "there is no such file"),
        (("FILE", "--set", "space.gold=[2]"), 1, "gold 2, beam_width 1"),
        (("FILE", "--set", "space={method: [warm, serach]}"), 1, "there is no method serach"),
        (("FILE", "--trials", "0"), 2, "--trials"),
        (("FILE", "--time-budget", "0"), 2, "--time-budget"),
    ],
)
def test_what_is_wrong_is_told_before_ray_starts(arguments, code, words, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("tune", *(file if argument == "FILE" else argument for argument in arguments))
    assert result.exit_code == code, result.output
    assert words in result.output
    assert not (tmp_path / "runs").exists()


def test_a_sweep_in_which_nothing_ended_has_a_page_and_no_best(config, tmp_path):
    sweep = create_sweep(tmp_path / "runs" / "sweep", config())
    figures = write_results(sweep)
    assert (figures["trials"], figures["best"]) == (0, None)
    assert not (sweep.folder / "best.yaml").exists()
