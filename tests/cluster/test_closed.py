"""A session of our own is closed to everybody else on the machine and around it, as long as it lasts."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from commands import LONGEST, with_helpers, without_ray

from toolkit.cluster.folder import ray_folder, session_folder, write_secret
from toolkit.cluster.session import LOOPBACK

HERE = Path(__file__).parent
NOBODY = 65534
DRIVER = """
import sys
import ray

try:
    ray.init(address=sys.argv[1], logging_level="ERROR", log_to_driver=False)
    print(ray.get(ray.remote(lambda: "ran").remote()))
except Exception as error:
    print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def opened() -> Iterator[dict[str, Any]]:
    """A session with a dashboard that has trained on two workers: what it says of itself, while it lives."""
    env = with_helpers(without_ray()) | {"TMPDIR": "/tmp"}
    command = [sys.executable, str(HERE / "lives.py")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=env) as process:
        try:
            said = process.stdout.readline()
            assert said, process.stderr.read()
            yield json.loads(said)
        finally:
            process.communicate(timeout=LONGEST)


def as_nobody(opened, marker):
    """What a process of another user achieves."""
    if os.geteuid() != 0:
        pytest.skip("only root can start a process of another user")
    command = [sys.executable, str(HERE / "intruder.py"), str(NOBODY), str(marker)]
    done = subprocess.run(
        command, input=json.dumps(opened), capture_output=True, text=True, env=without_ray(), timeout=LONGEST
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_listens_beyond_loopback(opened):
    names = {name for name, _, _ in opened["listening"]}
    assert {"gcs_server", "raylet", "ray::RayTrainWorker"} <= names
    for name, address, port in opened["listening"]:
        host = ip_address(address)
        assert (getattr(host, "ipv4_mapped", None) or host).is_loopback, (name, address, port)


def test_another_user_gets_nowhere(opened):
    with tempfile.TemporaryDirectory() as shared:
        Path(shared).chmod(0o777)
        marker = Path(shared) / "ran"
        achieved = as_nobody(opened, marker)
        assert not marker.exists()
    assert achieved == {"listed": False, "read": False, "entered": False, "submitted": []}


def as_driver(opened, **auth):
    """What a driver prints that joins the session with this authentication."""
    command = [sys.executable, "-c", DRIVER, opened["gcs"]]
    env = without_ray() | {"RAY_USAGE_STATS_ENABLED": "0", LOOPBACK: "0"} | auth
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=LONGEST)


def test_only_the_token_lets_a_driver_in(opened):
    token = Path(opened["token"]).read_text()
    assert as_driver(opened, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=token).stdout == "ran\n"
    refused = as_driver(opened, RAY_AUTH_MODE="disabled")
    assert refused.stdout == "ConnectionError\n"
    assert "Authentication token is missing or incorrect" in refused.stderr


def test_the_token_is_on_no_command_line(opened):
    token = Path(opened["token"]).read_text()
    assert len(token) >= 24
    assert not [line for line in opened["command_lines"] if token in line]


def test_the_folder_and_the_token_are_closed(opened):
    token = Path(opened["token"])
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert stat.S_IMODE(token.parent.stat().st_mode) == 0o700
    assert {path.name for path in token.parent.iterdir()} == {"owner", "token", "r"}


def test_a_secret_is_never_written_where_somebody_waits_for_it(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "token").symlink_to(elsewhere)
    with pytest.raises(FileExistsError):
        write_secret(tmp_path / "token", "secret")
    assert not elsewhere.exists()


@pytest.fixture
def shared(monkeypatch):
    """A folder for temporary files, with a short path, for sockets lie in it."""
    with tempfile.TemporaryDirectory(prefix="") as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


def test_links_that_others_have_planted_are_not_followed(shared, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "owner").touch()
    (shared / "warmkit-ray-link").symlink_to(mine)
    with session_folder() as folder:
        assert folder.parent == shared
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (mine / "owner").exists()
    assert list(shared.iterdir()) == [shared / "warmkit-ray-link"]


def test_a_folder_that_is_no_session_is_not_touched(shared):
    (shared / "warmkit-ray-other").mkdir()
    with session_folder():
        pass
    assert list((shared / "warmkit-ray-other").iterdir()) == []


def test_folders_of_others_are_not_touched(shared):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")
    for owner in (0, NOBODY):
        planted = shared / f"warmkit-ray-{owner}"
        planted.mkdir()
        (planted / "owner").touch()
        os.chown(planted, owner, owner)
    with session_folder():
        assert not (shared / "warmkit-ray-0").exists()
    assert [path.name for path in shared.iterdir()] == [f"warmkit-ray-{NOBODY}"]
    assert (shared / f"warmkit-ray-{NOBODY}" / "owner").exists()


def test_a_long_path_for_temporary_files_is_left_for_a_short_one(shared, monkeypatch):
    long = shared / ("long" * 20)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with session_folder() as folder:
        session = ray_folder(folder) / "session_2026-01-01_00-00-00_000000_1234567"
        assert len(str(session / "sockets" / "plasma_store")) <= 103
    assert not list(long.iterdir())
    shutil.rmtree(long)
