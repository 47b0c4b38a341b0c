"""`warmkit annotate serve`, really started."""

import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from commands import LONGEST
from integration.annotators import call
from integration.test_webhook import own_address

from annotation.check import who
from annotation.client import Client
from annotation.keys import find_connection
from annotation.server import running
from toolkit.cli.hints import with_hint
from toolkit.errors import WarmkitError


@pytest.fixture
def home(label_studio, tmp_path, monkeypatch):
    """A data folder whose server was started before: its database is there."""
    monkeypatch.setenv("WARMKIT_HOME", str(tmp_path))
    monkeypatch.setenv("WARMKIT_LABEL_STUDIO_ENV", str(label_studio.program.parents[1]))
    for name in ("LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    ignored = shutil.ignore_patterns("lock", "*.log", "*.part")
    shutil.copytree(label_studio.empty, tmp_path / "label-studio", ignore=ignored)
    return tmp_path


@contextmanager
def serving(home, *arguments):
    command = [sys.executable, "-m", "toolkit.cli", "annotate", "serve", "--port", "0", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)


def server_process(home):
    """The process id of the Label Studio of a data folder, once it is started."""
    lock = home / "label-studio" / "lock"
    while not (lock.exists() and (found := re.search(r"process (\d+)", lock.read_text()))):
        time.sleep(0.05)
    return int(found[1])


def alive(session):
    """The processes of a session, with their arguments."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                found.append((folder / "cmdline").read_text())
        except (OSError, IndexError):
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_it_says_where_it_is_keeps_its_secrets_and_ends_with_ctrl_c(home):
    with serving(home, "--json") as process:
        facts = json.loads(process.stdout.readline())
        connection = find_connection()
        password_file = Path(facts["password_file"])
        password = password_file.read_text().strip()
        session = server_process(home)
        assert facts["url"] == connection.url
        assert connection.url.startswith("http://127.0.0.1:")
        with Client(connection) as client:
            assert who(client) == facts["user"]
            assert call(client, "listing", "GET", "api/projects/")["results"] == []
        started = alive(session)
        arguments = [(Path("/proc") / str(process.pid) / "cmdline").read_text(), *started]
        assert started
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LONGEST)
    assert process.returncode == 0
    assert alive(session) == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{facts['url']}/health", trust_env=False)
    texts = [json.dumps(facts), out, err, *arguments, Path(facts["log"]).read_text()]
    for secret in (connection.key, password):
        assert len(secret) == 40
        assert not any(secret in text for text in texts)
    for file in (password_file, Path(facts["connection_file"])):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_stopped_while_it_starts(home, number):
    with serving(home) as process:
        session = server_process(home)
        process.send_signal(number)
        out, err = process.communicate(timeout=LONGEST)
    assert (process.returncode, out, err) == (0, "", "Label Studio was stopped.\n")
    with pytest.raises(ProcessLookupError):
        os.killpg(session, 0)


def test_a_folder_is_served_once_even_after_the_first_was_killed(home, label_studio):
    with serving(home, "--json") as process:
        url = json.loads(process.stdout.readline())["url"]
        session = server_process(home)
        process.kill()
        process.wait()
        try:
            with (
                pytest.raises(WarmkitError, match=f"is already running at {url} .process {session}"),
                running(label_studio.program, home / "label-studio"),
            ):
                pass
        finally:
            os.killpg(session, signal.SIGKILL)


def test_a_port_that_is_taken_is_told_and_no_other_is_used(label_studio, tmp_path):
    port = int(label_studio.url.rpartition(":")[2])
    with (
        pytest.raises(WarmkitError, match=f"Port {port} can't be used") as raised,
        running(label_studio.program, tmp_path / "other", port),
    ):
        pass
    assert f"--port {port + 1}" in with_hint(raised.value)


def test_a_server_that_ends_at_once_is_told_with_its_last_words(tmp_path):
    program = tmp_path / "label-studio"
    program.write_text("#!/bin/sh\necho the disk is full, $LABEL_STUDIO_PASSWORD\nexit 3\n")
    program.chmod(0o755)
    folder = tmp_path / "folder"
    with (
        pytest.raises(WarmkitError, match=r"(?s)ended.*the disk is full, \[key\].*server\.log"),
        running(program, folder),
    ):
        pass
    assert not (folder / "data").exists()
    with pytest.raises(WarmkitError, match="can't be started"), running(tmp_path / "none", folder):
        pass


def test_a_key_that_was_reset_in_its_own_page_is_replaced_and_everything_is_kept(label_studio, tmp_path):
    folder = tmp_path / "folder"
    shutil.copytree(label_studio.empty, folder, ignore=shutil.ignore_patterns("lock"))
    with running(label_studio.program, folder) as server, Client(server.connection) as client:
        made = call(client, "making", "POST", "api/projects/", json={"title": "precious"})["id"]
        before = server.connection.key
        call(client, "resetting the key", "POST", "api/current-user/reset-token/")
    with running(label_studio.program, folder) as server, Client(server.connection) as client:
        assert who(client) == server.user
        assert call(client, "looking", "GET", f"api/projects/{made}/")["title"] == "precious"
        assert server.connection.key != before == (label_studio.empty / "key").read_text().strip()
        assert (folder / "key").read_text().strip() == server.connection.key
        assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
        tokens = {"api_tokens_enabled": True, "legacy_api_tokens_enabled": False}
        client.request("turning legacy tokens off", "POST", "api/jwt/settings", json=tokens)
    with running(label_studio.program, folder) as server, Client(server.connection) as client:
        assert (who(client), server.connection.is_personal) == (server.user, True)
        assert server.connection.key not in server.log.read_text()


def test_a_server_whose_database_has_no_user_is_told(label_studio, tmp_path):
    folder = tmp_path / "folder"
    shutil.copytree(label_studio.empty, folder, ignore=shutil.ignore_patterns("lock", "key"))
    with closing(sqlite3.connect(folder / "data" / "label_studio.sqlite3")) as database, database:
        database.execute("UPDATE htx_user SET email = 'other@example.org', is_superuser = 0")
    with pytest.raises(WarmkitError, match="no new one can be made"), running(label_studio.program, folder):
        pass


def test_nobody_can_sign_up_and_nothing_is_asked_elsewhere(label_studio):
    page = f"{label_studio.url}/user/signup/"
    with httpx.Client(base_url=label_studio.url, headers={"Referer": page}, trust_env=False) as browser:
        browser.get(page)
        form = {"email": "mallory@example.org", "password": "long-enough-1", "allow_newsletters": "false"}
        answer = browser.post(page, data={**form, "csrfmiddlewaretoken": browser.cookies["csrftoken"]})
        assert answer.status_code == 403
        version = browser.get("/api/version").json()
        assert version["label-studio-os-package"]["latest_version_from_pypi"] is None
    assert form["email"] not in [user.email for user in label_studio.sdk.users.list()]


def test_colleagues_reach_it_at_an_address_of_this_machine_and_can_not_sign_up_uninvited(
    label_studio, tmp_path
):
    host, folder = own_address(), tmp_path / "folder"
    shutil.copytree(label_studio.empty, folder, ignore=shutil.ignore_patterns("lock"))
    with running(label_studio.program, folder, host=host) as server, Client(server.connection) as client:
        assert server.url.startswith(f"http://{host}:")
        assert who(client) == server.user
        page = f"{server.url}/user/signup/"
        with httpx.Client(headers={"Referer": page}, trust_env=False) as browser:
            browser.get(page)
            form = {"email": "mallory@example.org", "password": "long-enough-1"}
            token = {"csrfmiddlewaretoken": browser.cookies["csrftoken"]}
            assert browser.post(page, data={**form, **token}).status_code == 403
            invited = call(client, "inviting", "GET", "api/invite")["invite_url"]
            assert browser.get(f"{server.url}{invited}").status_code == 200
        project = call(client, "making", "POST", "api/projects/", json={"title": "any"})["id"]
        backend = {"project": project, "url": "http://127.0.0.1:9/", "title": "inside"}
        with pytest.raises(WarmkitError, match="adding a backend"):  # at an address of this machine
            client.request("adding a backend", "POST", "api/ml/", json=backend)
