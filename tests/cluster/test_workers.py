"""Training and generation on the workers of a real Ray session."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
from click.testing import CliRunner
from commands import a_worker, descendants, sets, wait_for_the_end_of, without_ray
from safetensors.torch import load_file
from tiny import TINY, WARM

from toolkit.cli import main
from toolkit.cluster.fit import fit_on_workers
from toolkit.cluster.session import ClusterSpec, Session
from toolkit.compute import ClusterCompute, LocalCompute
from toolkit.config import load_config
from toolkit.data import read_candidates, write_table
from toolkit.data.prepared import known_share
from toolkit.errors import WarmkitError
from toolkit.methods import FitInput, FitOptions, GenerateConfig, load_model
from toolkit.methods.prepared import PreparedInput
from toolkit.methods.warm import Warm
from toolkit.methods.warm.prepare import prepare

# Training of prepared problems on workers, killed in the moment in which it tells its first epoch.
KILLED = """
import os, signal, sys
from pathlib import Path
from toolkit.cluster.session import ClusterSpec, session
from toolkit.cluster.fit import fit_on_workers
from toolkit.config import load_config
from toolkit.data.prepared import known_share, read_prepared
from toolkit.methods import FitOptions
from toolkit.methods.prepared import PreparedInput
from toolkit.methods.warm import Warm

folder, out, storage, *settings = sys.argv[1:]
ready = read_prepared(Path(folder))
given = PreparedInput(ready, known_share(ready, 1.0, 0), load_config(Warm.Config, None, settings))
options = FitOptions(on_epoch=lambda epoch: os.kill(os.getpid(), signal.SIGKILL))
with session(ClusterSpec(workers=2)) as started:
    fit_on_workers(started, Warm, given, Path(out), options, label="killed", storage=storage)
"""
EPOCHS = 10  # on workers half a second each at least: time to kill something before the last
EXACT = (*WARM, "model.dropout=0", "train.batch=16", f"train.epochs={EPOCHS}")
CPU = torch.device("cpu")


def run(*arguments):
    return CliRunner().invoke(main, [str(part) for part in arguments])


def same_weights(one, other):
    before, now = load_file(one / "weights.safetensors"), load_file(other / "weights.safetensors")
    for name in before:
        torch.testing.assert_close(now[name], before[name], atol=1e-5, rtol=1e-4, msg=name)


def fit_input(problems, settings=EXACT):
    """All equations may be used."""
    return FitInput(problems, problems.gold_templates, load_config(Warm.Config, None, settings))


def prepared_input(problems, folder):
    """The same in parts of 16 problems."""
    for number, part in enumerate(problems.parts(16)):
        write_table(part.table, folder / "parts" / f"{number}.parquet")
    config = load_config(Warm.Config, None, EXACT)
    ready = prepare(folder / "parts", folder / "prepared", problems.constants, config)
    return PreparedInput(ready, known_share(ready, 1.0, 0), config)


@pytest.fixture(scope="module")
def alone(problems, tmp_path_factory):
    """The model that this process comes to."""
    out = tmp_path_factory.mktemp("alone")
    assert Warm.fit(fit_input(problems), out).origin.known == len(problems)
    return out


def test_workers_come_to_the_model_of_one_process_though_one_is_killed(session, problems, alone, tmp_path):
    epochs = []

    def kill_once(epoch):
        epochs.append(epoch.epoch)
        if epoch.epoch == 1:
            os.kill(a_worker(), signal.SIGKILL)

    options = FitOptions(on_epoch=kill_once)
    trained = fit_on_workers(session, Warm, fit_input(problems), tmp_path / "model", options, label="killed")
    assert epochs == list(range(1, EPOCHS + 1))
    assert [epoch.epoch for epoch in trained.history] == epochs
    same_weights(alone, tmp_path / "model")
    assert not (tmp_path / "model" / "ray").exists()


def test_a_driver_that_is_killed_as_it_tells_an_epoch_does_not_train_it_again(
    session, problems, alone, tmp_path
):
    """It goes on with one worker, which takes over what two remembered."""
    data, out, storage = prepared_input(problems, tmp_path), tmp_path / "model", str(tmp_path / "storage")
    command = [sys.executable, "-c", KILLED, str(data.problems.folder), str(out), storage, *EXACT]
    cluster = set()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=without_ray()) as driver:
        while driver.poll() is None:
            cluster.update(descendants(driver.pid))
            time.sleep(0.05)
        assert driver.returncode == -signal.SIGKILL, driver.stderr.read()
    wait_for_the_end_of(cluster)
    assert not (out / "model.json").exists()
    told = []
    fit_on_workers(
        Session(ClusterSpec(workers=1)),
        Warm,
        data,
        out,
        FitOptions(on_epoch=lambda epoch: told.append(epoch.epoch)),
        label="killed",
        storage=storage,
    )
    assert told and 1 not in told
    same_weights(alone, out)
    (remembered,) = out.glob("memory-*")
    before, now = load_file(alone / remembered.name), load_file(remembered)
    assert now["paths"].equal(before["paths"])


def test_a_storage_that_cannot_be_written_is_a_sentence(session, problems, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WarmkitError, match="file: this storage can't be used"):
        fit_on_workers(
            session,
            Warm,
            fit_input(problems, WARM),
            tmp_path / "model",
            FitOptions(),
            label="a",
            storage=str(tmp_path / "file"),
        )
    assert not (tmp_path / "model" / "model.json").exists()


def test_workers_find_what_this_process_finds(session, problems, alone):
    trained, settings = load_model(alone), GenerateConfig(width=5)
    here = LocalCompute(CPU).candidates(trained, [problems], settings)
    there = ClusterCompute(CPU, session).candidates(trained, problems.parts(9), settings)
    found = [of for part in there for of in part]
    expected = [of for part in here for of in part]
    assert [of.problem_id for of in found] == list(problems.ids)
    for one, other in zip(expected, found, strict=True):
        assert {s.klass for s in one.scored} == {s.klass for s in other.scored}


def test_the_commands_work_on_workers(session, problems, alone, tmp_path):
    parts, out, kept = tmp_path / "parts", tmp_path / "model", tmp_path / "prepared"
    write_table(problems.table[:15], parts / "a.parquet")
    write_table(problems.table[15:], parts / "b.jsonl")
    with (parts / "b.jsonl").open("a") as file:
        file.write('{"id": "bad", "text": "no number", "answer": 1}\n')
    settings = (*sets(EXACT), "--constants", "1,π", "--prepared", kept, "--skip-bad", "--json")
    trained = run("train", parts, "--out", out, "--gold", "all", "--workers", 2, *settings)
    assert trained.exit_code == 0, trained.output
    assert json.loads(trained.stdout)["epochs"] == EPOCHS
    same_weights(alone, out)
    names = sorted(path.name for path in out.glob("memory-*"))
    assert names == [f"memory-{EPOCHS:04d}-{rank}-of-2.safetensors" for rank in (0, 1)]
    assert json.loads((out / "bad-rows.jsonl").read_text())["line"] == 27
    table = tmp_path / "candidates"
    found = run("generate", parts, "--model", out, "--out", table, "--workers", 2, "--skip-bad", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["problems"] == len(problems)
    assert len(read_candidates(table, problems)) == json.loads(found.stdout)["candidates"]
    for part in kept.rglob("part-*"):
        part.write_bytes(part.read_bytes()[:-9])
    again = run("train", parts, "--out", tmp_path / "again", "--gold", "all", "--workers", 2, *settings)
    assert again.exit_code == 1 and "it is not what was prepared" in again.output


def test_a_loop_works_on_workers(session, tmp_path):
    settings = sets((*TINY, "solver_each_round=false"))
    looped = run("loop", "bundled:en", "--rounds", 1, "--workers", 2, "--runs", tmp_path, "--json", *settings)
    assert looped.exit_code == 0, looped.output
    assert json.loads(looped.stdout)["labels"] == 4
    assert not list(tmp_path.rglob("ray"))


def test_more_workers_than_cpus_are_refused_at_once(session, problems, tmp_path):
    with pytest.raises(WarmkitError, match="3 workers need a CPU each, but the cluster has 2"):
        Session(ClusterSpec(workers=3)).require(3)
    with pytest.raises(WarmkitError, match="need a GPU each, but the cluster has none"):
        Session(ClusterSpec(workers=1, gpu=True)).require(1)
    data = tmp_path / "problems.parquet"
    write_table(problems.table, data)
    result = run("train", data, "--out", tmp_path / "model", "--workers", 3)
    assert result.exit_code == 1 and "has 2" in result.output
    assert not (tmp_path / "model" / "model.json").exists()
