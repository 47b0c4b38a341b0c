"""Training on shards, with whatever can be killed, cut off or filled up."""

import json
import os
import resource
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
import torch
from commands import LONGEST, a_worker
from safetensors.torch import load_file
from tiny import WARM

from toolkit.cluster.fit import fit_on_workers
from toolkit.cluster.snapshot import KEPT, SNAPSHOT, keep_snapshot, restore_snapshot
from toolkit.config import load_config
from toolkit.data import write_table
from toolkit.data.prepared import known_share
from toolkit.errors import WarmkitError
from toolkit.methods import FitOptions
from toolkit.methods.prepared import PreparedInput
from toolkit.methods.warm import Warm
from toolkit.methods.warm.prepare import prepare

EPOCHS = 8  # on workers half a second each at least: time to kill something before the last
EXACT = (*WARM, "model.dropout=0", "train.batch=16", f"train.epochs={EPOCHS}")


@pytest.fixture
def data(problems, tmp_path):
    """Prepared problems, with all equations."""
    write_table(problems.table[:20], tmp_path / "parts" / "a.parquet")
    write_table(problems.table[20:], tmp_path / "parts" / "b.parquet")
    config = load_config(Warm.Config, None, EXACT)
    ready = prepare(tmp_path / "parts", tmp_path / "prepared", problems.constants, config)
    return PreparedInput(ready, known_share(ready, 1.0, 0), config)


def kill_as_it_stores(storage: Path, number: int, killed: list[int]) -> None:
    """Kill a worker in the moment in which the folder of so many checkpoints is there, empty or half full."""
    seen: set[Path] = set()
    deadline = time.monotonic() + LONGEST
    while len(seen) < number and time.monotonic() < deadline:
        seen.update(storage.glob("*/checkpoint_*"))
        time.sleep(0.001)
    killed.append(a_worker())
    os.kill(killed[-1], signal.SIGKILL)


def test_workers_that_are_killed_in_an_epoch_and_as_they_store_it_come_to_the_model_of_one_process(
    session, data, tmp_path
):
    alone, out, storage = tmp_path / "alone", tmp_path / "model", tmp_path / "storage"
    Warm.fit_prepared(data, alone)
    told: list[int] = []
    killed: list[int] = []
    killer = Thread(target=kill_as_it_stores, args=(storage, 4, killed))

    def kill_in_the_next_epoch(epoch):
        told.append(epoch.epoch)
        if epoch.epoch == 1:
            os.kill(a_worker(), signal.SIGKILL)
            killer.start()

    options = FitOptions(on_epoch=kill_in_the_next_epoch)
    fit_on_workers(session, Warm, data, out, options, label="killed", storage=str(storage))
    killer.join()
    assert told == list(range(1, EPOCHS + 1)) and len(killed) == 1
    before, now = load_file(alone / "weights.safetensors"), load_file(out / "weights.safetensors")
    for name in before:
        torch.testing.assert_close(now[name], before[name], atol=1e-5, rtol=1e-4, msg=name)
    names = sorted(path.name for path in out.glob("memory-*"))
    assert names == [f"memory-{EPOCHS:04d}-{rank}-of-2.safetensors" for rank in (0, 1)]


def test_a_worker_that_has_no_room_to_save_is_told_at_once_and_the_same_command_goes_on_later(
    session, data, tmp_path
):
    out, storage, told = tmp_path / "model", str(tmp_path / "storage"), []

    def fill(epoch):
        told.append(epoch.epoch)
        if epoch.epoch == 1:  # as if the disk were full, for one of the workers
            resource.prlimit(a_worker(), resource.RLIMIT_FSIZE, (1, 1))

    def train(on_epoch):
        options = FitOptions(on_epoch=on_epoch)
        fit_on_workers(session, Warm, data, out, options, label="full", storage=storage)

    with pytest.raises(WarmkitError, match=r"can't be (written|used): .*File too large"):
        train(fill)
    assert told and max(told) < EPOCHS and not (out / "model.json").exists()
    train(lambda epoch: told.append(epoch.epoch))
    assert told == sorted(set(told)) and told[-1] == EPOCHS  # none is trained again
    assert json.loads((out / "model.json").read_text())["history"][-1]["epoch"] == EPOCHS


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, for what Ray stores."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_storage_that_is_full_when_ray_stores_a_checkpoint_is_told_and_training_goes_on_later(
    session, data, small_disk, tmp_path
):
    out, told, filler = tmp_path / "model", [], small_disk / "filler"

    def fill(epoch):
        told.append(epoch.epoch)
        if epoch.epoch == 1:
            with filler.open("wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(4_096))

    def train(on_epoch):
        options = FitOptions(on_epoch=on_epoch)
        fit_on_workers(session, Warm, data, out, options, label="full", storage=str(small_disk / "storage"))

    with pytest.raises(WarmkitError, match=r"storage: this storage can't be used: .*No space left on device"):
        train(fill)
    assert told and max(told) < EPOCHS and not (out / "model.json").exists()
    filler.unlink()
    train(lambda epoch: told.append(epoch.epoch))
    assert told == sorted(set(told)) and told[-1] == EPOCHS


@pytest.mark.parametrize("cut", [b"", b'{"checkpoint_results": ['])
def test_a_list_of_checkpoints_that_was_cut_off_is_the_last_whole_one_again(tmp_path, cut):
    snapshot = tmp_path / SNAPSHOT
    restore_snapshot(tmp_path)
    assert not snapshot.exists()
    snapshot.write_bytes(cut)
    keep_snapshot(tmp_path)
    restore_snapshot(tmp_path)
    assert not snapshot.exists()  # it begins anew
    snapshot.write_text(json.dumps({"checkpoint_results": [1]}))
    keep_snapshot(tmp_path)
    snapshot.write_bytes(cut)
    restore_snapshot(tmp_path)
    assert json.loads(snapshot.read_text()) == {"checkpoint_results": [1]}
    assert {path.name for path in tmp_path.iterdir()} == {SNAPSHOT, KEPT}
