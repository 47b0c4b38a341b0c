"""Clusters that `ray start` starts, as on real machines: jobs sent to one, and nodes that don't fit."""

import json
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import LONGEST, sets, without_ray
from s3_server import S3, serving
from tiny import TINY, WARM

from toolkit.data.read import BUNDLED

RAY = Path(sys.executable).with_name("ray")
WARMKIT = Path(sys.executable).with_name("warmkit")
STARTED = "Ray runtime started"
NAMESPACE = ("unshare", "--mount", "--map-root-user")  # in it, what is mounted is seen by nobody else


@dataclass(frozen=True)
class Head:
    folder: Path  # short, and seen by all nodes; closed, for Ray opens its own to everybody
    address: str
    dashboard: str
    env: dict[str, str]

    def warmkit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(WARMKIT), *arguments, "--address", self.address]
        return subprocess.run(command, capture_output=True, text=True, env=self.env, timeout=LONGEST)

    def train(self, out: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.warmkit("train", "bundled:en", "--out", str(self.folder / out), *sets(WARM), *arguments)


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


@contextmanager
def running(command: list[str], log: Path, env: dict[str, str]) -> Iterator[None]:
    """A node, until the end of the block."""
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=env)
    try:
        deadline = time.monotonic() + LONGEST
        while STARTED not in log.read_text():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(LONGEST)


@contextmanager
def head(python: str = "from ray.scripts.scripts import main; main()", **more: str) -> Iterator[Head]:
    """The head of a new cluster, with one CPU, and `more` in its environment."""
    gcs, dashboard, agent, client = free_ports(4)
    env = without_ray() | more
    env |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_urlsafe(24)}
    env |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0"}
    with tempfile.TemporaryDirectory(prefix="warmkit-ray-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        ports = [f"--port={gcs}", f"--dashboard-port={dashboard}", f"--ray-client-server-port={client}"]
        start = [sys.executable, "-c", python, "start", "--head", "--block", "--num-cpus=1", *ports]
        rest = [f"--dashboard-agent-listen-port={agent}", f"--temp-dir={folder / 'r'}"]
        with running([*start, *rest, "--object-store-memory=100000000"], folder / "head.log", env):
            yield Head(folder, f"127.0.0.1:{gcs}", f"http://127.0.0.1:{dashboard}", env)


@contextmanager
def node(of: Head, before: tuple[str, ...] = (), **env: str) -> Iterator[None]:
    """Another node, with one CPU."""
    start = [str(RAY), "start", f"--address={of.address}", "--block", "--num-cpus=1"]
    command = [*before, *start, "--object-store-memory=100000000"]
    with running(command, of.folder / "node.log", of.env | env):
        yield


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    with serving(S3("warmkit")) as server:
        yield server


@pytest.fixture(scope="module")
def cluster(s3) -> Iterator[Head]:
    with head(**s3.env) as started:
        yield started


def test_a_job_sent_to_the_cluster_trains_there_with_problems_and_checkpoints_in_s3(cluster, s3, tmp_path):
    out = tmp_path / "model"
    s3.put("warmkit/parts/en.jsonl", (BUNDLED / "en.jsonl").read_bytes())
    submit = [str(RAY), "job", "submit", f"--address={cluster.dashboard}", "--working-dir=.", "--"]
    train = [str(WARMKIT), "train", "s3://warmkit/parts", "--out", str(out), "--workers=1", "--address=auto"]
    done = subprocess.run(
        [*submit, *train, "--storage=s3://warmkit/storage", *sets(WARM)],
        capture_output=True,
        text=True,
        env=cluster.env,
        cwd=tmp_path,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((out / "model.json").read_text())["problems"] == 1200
    stored = "\n".join(s3.files)
    assert re.search(
        r"^warmkit/storage/model-\w+/checkpoint_[^/]+/weights\.safetensors$", stored, re.MULTILINE
    )
    for folder in (out, cluster.folder):  # Ray's logs are in it
        for path in folder.rglob("*"):
            assert not path.is_file() or s3.secret.encode() not in path.read_bytes(), path


def test_a_sweep_runs_on_the_cluster(cluster, tmp_path):
    file, out = tmp_path / "sweep.yaml", cluster.folder / "sweep"
    file.write_text("space: {gold: [0, 0.5]}\nmeasure_solver: false\n")
    small = sets(TINY)
    done = cluster.warmkit("tune", str(file), "--out", str(out), "--json", *small)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["trials"] == 2
    assert not list(out.glob(".warmkit-*"))


def test_a_node_that_does_not_see_the_storage_is_named(cluster):
    if shutil.which("unshare") is None or subprocess.run([*NAMESPACE, "true"], check=False).returncode:
        pytest.skip("this machine does not let its users have mounts of their own (unshare)")
    storage = cluster.folder / "unseen"
    storage.mkdir()
    hides = (*NAMESPACE, "sh", "-c", f'mount -t tmpfs tmpfs {storage} && exec "$@"', "sh")
    with node(cluster, hides):
        done = cluster.train("unseen-model", "--workers", "2", "--storage", str(storage))
    assert done.returncode == 1
    assert f"{storage / 'prepared'}: node " in done.stderr and "does not see this folder" in done.stderr
    assert "Traceback" not in done.stderr and not list(storage.iterdir())


def test_a_node_with_another_warmkit_is_named(cluster, tmp_path):
    other = tmp_path / "warmkit-9.9.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: warmkit\nVersion: 9.9\n")
    (tmp_path / "toolkit.py").write_text("raise ImportError")  # none of ours is needed to find out
    with node(cluster, PYTHONPATH=str(tmp_path)):
        done = cluster.train("other-model", "--workers", "2")
    assert done.returncode == 1
    assert "has warmkit 9.9, this machine" in done.stderr and "Traceback" not in done.stderr


def test_a_cluster_of_another_ray_is_told_with_both_versions():
    with head("import ray; ray.__version__ = '2.0.1'; from ray.scripts.scripts import main; main()") as old:
        done = old.train("model", "--workers", "1")
    assert done.returncode == 1
    assert "the cluster has other versions than this machine" in done.stderr
    assert "Ray: 2.0.1" in done.stderr and "Traceback" not in done.stderr
