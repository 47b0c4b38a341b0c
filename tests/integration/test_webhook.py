"""The webhook: called by a real Label Studio, and by nobody who does not know the secret."""

import json
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from commands import LONGEST
from integration.annotators import Annotators, picked, question

from annotation.annotator import LabelStudio
from annotation.client import Client
from annotation.keys import KEY, URL, Connection
from annotation.listener import Listen, authorization, listening
from annotation.webhook import PATH, webhook
from toolkit.annotators.file import FileAnnotator
from toolkit.cli.hints import with_hint
from toolkit.errors import WarmkitError
from toolkit.loop.annotators import webhook_sleep

LARGEST = 1000


@pytest.fixture
def project(label_studio):
    page = (
        '<View><Text name="t" value="$t"/><Choices name="c" toName="t"><Choice value="a"/></Choices></View>'
    )
    sdk = label_studio.sdk
    project = sdk.projects.create(title="webhook", label_config=page)
    sdk.projects.import_tasks(project.id, request=[{"t": "one"}])
    yield project.id
    sdk.projects.delete(project.id)


def hooks(label_studio, project):
    return label_studio.sdk.webhooks.list(project=str(project))


def test_it_wakes_when_somebody_annotates_edits_or_deletes(label_studio, project):
    sdk = label_studio.sdk
    (task,) = sdk.tasks.list(project=project)
    with webhook(label_studio.client, project) as wake_up:
        assert not wake_up.wait(0)
        made = sdk.annotations.create(task.id, result=[])
        assert wake_up.wait(LONGEST)
        assert not wake_up.wait(0)
        sdk.annotations.update(made.id, result=[], lead_time=2)
        assert wake_up.wait(LONGEST)
        sdk.annotations.delete(made.id)
        assert wake_up.wait(LONGEST)
        (hook,) = hooks(label_studio, project)
        assert hook.send_payload is False
    assert hooks(label_studio, project) == []


def test_a_webhook_that_a_kill_left_behind_is_taken_away(label_studio, project):
    sdk = label_studio.sdk
    sdk.webhooks.create(project=project, url=f"http://127.0.0.1:9{PATH}")
    sdk.webhooks.create(project=project, url="http://127.0.0.1:9/somebody-else")
    with webhook(label_studio.client, project):
        assert len(hooks(label_studio, project)) == 2
    assert [hook.url for hook in hooks(label_studio, project)] == ["http://127.0.0.1:9/somebody-else"]


def test_a_loop_sleeps_until_somebody_annotates(label_studio, tmp_path):
    annotator = LabelStudio(label_studio.client, tmp_path / "store", "webhook")
    with closing(annotator.store):
        annotator.submit([question("a")])
        annotators = Annotators(label_studio.client, annotator.project)
        with webhook_sleep(annotator, Listen()) as sleep:
            annotators.annotate(annotators.task("a"), picked("N0 - N1"))
            assert sleep(LONGEST)
        assert [response.equation for response in annotator.collect()] == ["76 - 25"]
    with (
        pytest.raises(WarmkitError, match="Only Label Studio"),
        webhook_sleep(FileAnnotator(tmp_path), Listen()),
    ):
        pass


def test_watch_looks_when_it_is_told_to(label_studio, tmp_path, monkeypatch):
    monkeypatch.setenv(URL, label_studio.url)
    monkeypatch.setenv(KEY, label_studio.key)
    annotator = LabelStudio(label_studio.client, tmp_path / "store", "watched")
    with closing(annotator.store):
        annotator.submit([question("a")])
    annotators = Annotators(label_studio.client, annotator.project)
    command = [sys.executable, "-m", "toolkit.cli", "annotate", "watch", "--webhook", "--every", "3600"]
    with subprocess.Popen(
        [*command, "--store", str(tmp_path / "store"), "--json"],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        while not hooks(label_studio, annotators.project):
            assert process.poll() is None
            time.sleep(0.1)
        annotators.annotate(annotators.task("a"), picked("N0 - N1"))
        out, _ = process.communicate(timeout=LONGEST)
    assert process.returncode == 0
    assert json.loads(out)["verdict"] == "accepted"
    assert hooks(label_studio, annotators.project) == []


def test_a_server_elsewhere_cannot_reach_this_machine():
    client = Client(Connection("https://label.example.org", "key"))
    with pytest.raises(WarmkitError, match="loopback alone"), webhook(client, 1):
        pass


@pytest.fixture
def listener():
    """A listener that notes what it lets in."""
    let_in = []

    def answer(method, path, body):
        if path == "/broken":
            raise ZeroDivisionError("secret words")
        let_in.append((method, path, body))
        return {"ok": True} if path == "/here" else None

    with listening(answer, "sesame", LARGEST) as url, httpx.Client(base_url=url, trust_env=False) as caller:
        caller.headers["Authorization"] = authorization("sesame")
        caller.let_in = let_in
        yield caller


def test_who_knows_the_secret_is_let_in(listener):
    assert listener.post("/here?x=1", json={"a": 1}).json() == {"ok": True}
    assert listener.get("/here").status_code == 200
    assert listener.get("/there").status_code == 404
    assert listener.let_in == [("POST", "/here", {"a": 1}), ("GET", "/here", None), ("GET", "/there", None)]


@pytest.mark.parametrize("given", [None, "", "Basic", authorization("wrong"), "Basic é", "sesame"])
def test_who_does_not_is_not(listener, given):
    del listener.headers["Authorization"]
    headers = {} if given is None else {"Authorization": given.encode("latin-1")}
    assert listener.post("/here", json={}, headers=headers).status_code == 401
    assert listener.let_in == []


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"x" * (LARGEST + 1), 413), (b"{", 400), (b"[" * 900, 400), (iter([b"{}"]), 411)],
)
def test_a_body_that_is_too_large_or_no_json_is_refused(listener, body, status):
    assert listener.post("/here", content=body).status_code == status
    assert listener.let_in == []


def test_what_breaks_inside_is_an_answer_without_its_words(listener):
    answer = listener.get("/broken")
    assert answer.status_code == 500 and "secret" not in answer.text
    assert listener.get("/here").status_code == 200


def test_a_port_that_is_taken_is_a_sentence(listener):
    port = listener.base_url.port
    with (
        pytest.raises(WarmkitError, match=f"Port {port}"),
        listening(lambda *_: None, "x", 1, Listen(port=port)),
    ):
        pass


def own_address():
    """An address of this machine that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            return probe.getsockname()[0]
        except OSError:
            pytest.skip("this machine has no address but loopback")


def test_beyond_loopback_each_request_must_carry_the_secret_and_label_studio_does(label_studio, project):
    host = own_address()
    listen = Listen(host)
    assert "plain http" in listen.warning
    with webhook(label_studio.client, project, listen) as wake_up:
        (hook,) = hooks(label_studio, project)
        assert hook.url.startswith(f"http://{host}:")
        for headers in ({}, {"Authorization": authorization("wrong")}):
            assert httpx.post(hook.url, json={}, headers=headers, trust_env=False).status_code == 401
        assert not wake_up.wait(0)
        (task,) = Annotators(label_studio.client, project).tasks()
        Annotators(label_studio.client, project).annotate(task, [])
        assert wake_up.wait(LONGEST)


@pytest.mark.parametrize(
    ("listen", "words"),
    [
        (Listen(), "loopback alone"),
        (Listen("0.0.0.0"), "every address of this machine"),
        (Listen(public_url="nonsense"), "is not an address"),
    ],
)
def test_an_address_that_reaches_nobody_is_told_with_the_option_that_helps(listen, words):
    with pytest.raises(WarmkitError, match=words) as raised:
        listen.check(Connection("https://label.example.org", "0" * 40))
    assert listen.public_url or "--public-url" in with_hint(raised.value)


def test_a_public_url_is_what_label_studio_is_told():
    listen = Listen(public_url="https://hooks.example.org/warmkit/")
    listen.check(Connection("https://label.example.org", "0" * 40))
    assert listen.warning is None
    with listening(lambda *_: None, "x", 1, listen) as url:
        assert url == "https://hooks.example.org/warmkit"
