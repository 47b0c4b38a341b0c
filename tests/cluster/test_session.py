"""What a session does where Ray is not running, or is elsewhere: each in a process of its own."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import LONGEST, without_ray

from toolkit.cluster.folder import session_folder
from toolkit.cluster.session import ClusterSpec, start
from toolkit.errors import WarmkitError

SESSION = """
import json, sys
from toolkit.cluster.session import ClusterSpec, session
from toolkit.errors import WarmkitError

try:
    with session(ClusterSpec(**json.loads(sys.argv[1]))) as started:
        import ray
        print(ray.get(ray.remote(lambda: 6 * 7).remote()), started.dashboard, started.token)
except WarmkitError as error:
    print(f"refused: {error}")
"""


def in_a_session(folder="/tmp", before="", **spec):
    env = without_ray() | {"TMPDIR": str(folder)}
    command = [sys.executable, "-c", before + SESSION, json.dumps(spec)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=LONGEST)
    assert done.returncode == 0, done.stderr
    return done


def test_a_session_of_ones_own_is_quiet_and_leaves_nothing_behind():
    with tempfile.TemporaryDirectory(prefix="") as folder:  # short, for sockets lie in it
        done = in_a_session(folder, workers=1, dashboard=True)
        left = list(Path(folder).glob("warmkit-*"))
    answer, dashboard, token = done.stdout.split()
    assert answer == "42"
    assert dashboard.startswith("http://127.0.0.1:")
    assert not Path(token).exists()
    assert done.stderr == ""
    assert left == []


@pytest.mark.parametrize("address", ["127.0.0.1:9", "127.0.0.1", "nowhere.invalid:6379", "ray://127.0.0.1:x"])
def test_an_address_without_a_cluster_is_a_sentence(address):
    done = in_a_session(address=address)
    assert done.stdout.startswith(f"refused: {address}: there is no Ray cluster at this address")
    assert done.stderr == ""


def test_a_ray_that_was_imported_without_a_token_is_not_started():
    done = in_a_session(before="import ray", workers=1, dashboard=True)
    assert done.stdout.startswith("refused: Ray is imported already, without RAY_AUTH_MODE=token")


FOLDER = """
import time
from toolkit.cluster.folder import session_folder

with session_folder() as folder:
    print(folder, flush=True)
    time.sleep(600)
"""


def test_the_folder_of_a_session_that_was_killed_goes_when_the_next_begins():
    with subprocess.Popen([sys.executable, "-c", FOLDER], stdout=subprocess.PIPE, text=True) as process:
        folder = Path(process.stdout.readline().strip())
        with session_folder() as other:
            assert folder.exists() and other.exists()  # of one that lives, nothing is touched
        process.kill()
    assert folder.exists() and not other.exists()
    with session_folder():
        assert not folder.exists()


def test_without_workers_ray_is_not_imported():
    code = "import sys, toolkit.compute, toolkit.cli.train, toolkit.cli.loop; print('ray' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("slow", [1, 2])
def test_a_node_that_a_busy_machine_starts_too_slowly_is_started_once_more(monkeypatch, tmp_path, slow):
    """Ray can't be made to be slow, so it is not Ray here."""
    calls: list[str] = []

    def init(*arguments, **settings):
        calls.append("init")
        if calls.count("init") <= slow:
            raise Exception("The current node timed out during startup. This could happen because …")
        return "started"

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init, shutdown=lambda: calls.append("end")))
    if slow < 2:
        assert start(ClusterSpec(), tmp_path) == "started"
    else:
        with pytest.raises(WarmkitError, match="Ray: it could not be started: The current node timed out"):
            start(ClusterSpec(), tmp_path)
    assert calls == ["init", "end", "init"]
