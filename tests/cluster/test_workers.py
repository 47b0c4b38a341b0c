"""Training and generation on the workers of a real Ray session."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from commands import sets, without_ray
from safetensors.torch import load_file
from tiny import TINY, WARM

from toolkit.cli import main
from toolkit.cluster.session import Session, Where
from toolkit.cluster.train import train_on_workers
from toolkit.compute import Here, Workers
from toolkit.config import load_config
from toolkit.data.write import write_table
from toolkit.equations import DEFAULT_CONSTANTS
from toolkit.errors import WarmkitError
from toolkit.warm.checkpoint import load_trained
from toolkit.warm.config import WarmConfig
from toolkit.warm.train import train

EXACT = (*WARM, "model.dropout=0", "train.batch=16")


def run(*arguments):
    return CliRunner().invoke(main, [str(part) for part in arguments])


def same_weights(one, other):
    before, now = load_file(one / "weights.safetensors"), load_file(other / "weights.safetensors")
    for name in before:
        torch.testing.assert_close(now[name], before[name], atol=1e-5, rtol=1e-4, msg=name)


@pytest.fixture(scope="module")
def alone(problems, tmp_path_factory):
    """The model that this process comes to."""
    out = tmp_path_factory.mktemp("alone")
    train(problems, load_config(WarmConfig, None, EXACT), out, gold=[True] * len(problems))
    return out


def a_worker():
    """The process of a training worker."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"ray::RayTrainWorker" in (folder / "cmdline").read_bytes():
                return int(folder.name)
        except OSError:
            continue
    raise AssertionError("no training worker runs")


def test_workers_come_to_the_model_of_one_process_though_one_is_killed(session, problems, alone, tmp_path):
    epochs = []

    def kill_once(epoch):
        epochs.append(epoch.epoch)
        if epoch.epoch == 1:
            os.kill(a_worker(), signal.SIGKILL)

    config = load_config(WarmConfig, None, EXACT)
    trained = train_on_workers(
        session,
        problems,
        config,
        tmp_path / "model",
        label="killed",
        gold=[True] * len(problems),
        constants=DEFAULT_CONSTANTS,
        on_epoch=kill_once,
    )
    assert epochs == [1, 2, 3]
    assert [figures["epoch"] for figures in trained.history] == [1, 2, 3]
    same_weights(alone, tmp_path / "model")
    assert not (tmp_path / "model" / "ray").exists()


def test_a_driver_that_was_killed_goes_on_from_the_storage(session, problems, alone, tmp_path):
    data, storage = tmp_path / "problems.parquet", tmp_path / "storage"
    write_table(problems, data)
    arguments = ["--gold", "all", "--workers", "2", "--storage", str(storage)]
    arguments += sets(EXACT)
    out = ["--out", str(tmp_path / "first" / "model")]
    with subprocess.Popen(
        [sys.executable, "-m", "toolkit.cli", "train", str(data), *out, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=without_ray(),
    ) as driver:
        for line in driver.stderr:
            if line.startswith("epoch 1:"):
                driver.kill()
                break
        assert driver.wait(timeout=60) == -signal.SIGKILL
    assert not (tmp_path / "first" / "model" / "model.json").exists()
    again = run("train", data, "--out", tmp_path / "second" / "model", *arguments)
    assert again.exit_code == 0, again.output
    assert "epoch 1:" not in again.output
    same_weights(alone, tmp_path / "second" / "model")


def test_a_storage_that_cannot_be_written_is_a_sentence(session, problems, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WarmkitError, match="file: this storage can't be used"):
        train_on_workers(
            session,
            problems,
            load_config(WarmConfig, None, WARM),
            tmp_path / "model",
            label="a",
            storage=str(tmp_path / "file"),
            constants=DEFAULT_CONSTANTS,
        )
    assert not (tmp_path / "model" / "model.json").exists()


def test_workers_find_what_this_process_finds(session, problems, alone):
    trained = load_trained(alone)
    here = Here(torch.device("cpu")).generate(trained, [problems], width=5)
    there = Workers(session).generate(trained, problems.iter_slices(9), width=5)
    found = [of for part in there for of in part]
    expected = [of for part in here for of in part]
    assert [of.problem_id for of in found] == problems["id"].to_list()
    for one, other in zip(expected, found, strict=True):
        assert {s.klass for s in one.scored} == {s.klass for s in other.scored}


def test_the_commands_work_on_workers(session, problems, alone, tmp_path):
    data, out = tmp_path / "problems.parquet", tmp_path / "model"
    write_table(problems, data)
    settings = sets(EXACT)
    trained = run("train", data, "--out", out, "--gold", "all", "--workers", 2, "--json", *settings)
    assert trained.exit_code == 0, trained.output
    assert json.loads(trained.stdout)["epochs"] == 3
    same_weights(alone, out)
    table = tmp_path / "candidates.parquet"
    found = run("generate", data, "--model", out, "--out", table, "--workers", 2, "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["problems"] == len(problems)


def test_a_loop_works_on_workers(session, tmp_path):
    settings = sets(TINY)
    looped = run("loop", "bundled:en", "--rounds", 1, "--workers", 2, "--runs", tmp_path, "--json", *settings)
    assert looped.exit_code == 0, looped.output
    assert json.loads(looped.stdout)["labels"] == 4
    assert not list(tmp_path.rglob("ray"))


def test_more_workers_than_cpus_are_refused_at_once(session, problems, tmp_path):
    with pytest.raises(WarmkitError, match="3 workers need a CPU each, but the cluster has 2"):
        Session(Where(workers=3)).need(3)
    with pytest.raises(WarmkitError, match="need a GPU each, but the cluster has none"):
        Session(Where(workers=1, gpu=True)).need(1)
    data = tmp_path / "problems.parquet"
    write_table(problems, data)
    result = run("train", data, "--out", tmp_path / "model", "--workers", 3)
    assert result.exit_code == 1 and "has 2" in result.output
    assert not (tmp_path / "model" / "model.json").exists()
