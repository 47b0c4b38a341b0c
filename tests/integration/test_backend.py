"""Live suggestions: the ML backend protocol, asked by a real Label Studio."""

import json
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from commands import LONGEST
from tiny import TINY

from annotation.backend import LARGEST, TITLE, Backend, attached
from annotation.interface import choices, page, reasons
from annotation.keys import KEY, URL
from annotation.listener import authorization, listening
from annotation.project import ensure_project
from annotation.store import TaskStore
from toolkit.annotators.questions import ShownCandidate
from toolkit.config import load_config
from toolkit.errors import WarmkitError
from toolkit.loop.annotators import annotator_of
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.run import create_run

SECRET = "sesame"


class StubSuggester:
    """Suggests the sum of the answer and nothing; a newer model is there once it looks for one."""

    def __init__(self):
        self.version, self.asked = "live-0", []

    def refresh(self):
        self.version = "live-1"

    def __call__(self, texts, answers):
        self.asked.append((texts, answers))
        return [
            (f"{answer:g} + 0", 0.75) if "none" not in text else None
            for text, answer in zip(texts, answers, strict=True)
        ]


def data(candidates=(), **fields):
    shown = {"candidates": choices("en", candidates), "reasons": reasons("en"), "facts": "", "complaint": ""}
    text = {"problem": "Ann has 76 apples.", "marked": "Ann has <b>76</b> apples."}
    return {"problem_id": "a", "round": 1, "attempt": 0, **text, **shown, **fields}


@pytest.fixture
def suggester():
    return StubSuggester()


@pytest.fixture
def url(suggester):
    with listening(Backend(suggester, {"a": 51.0}).answer, SECRET, LARGEST) as url:
        yield url


@pytest.fixture
def caller(url):
    headers = {"Authorization": authorization(SECRET)}
    with httpx.Client(base_url=url, headers=headers, trust_env=False) as caller:
        yield caller


def predict(caller, *tasks):
    answer = caller.post(
        "/predict", json={"tasks": [{"id": 1, "data": fields} for fields in tasks], "project": "1.2"}
    )
    assert answer.status_code == 200
    return answer.json()["results"]


def test_it_says_who_it_is(caller):
    assert caller.get("/health").json()["status"] == "UP"
    assert caller.get("/").json()["status"] == "UP"
    assert caller.get("/versions").json() == {"versions": ["live-0"]}
    assert caller.post("/webhook", json={"action": "START_TRAINING"}).status_code == 200
    assert caller.get("/elsewhere").status_code == 404
    assert caller.post("/health", json={}).status_code == 404


def test_setting_up_takes_the_newest_model_and_says_nothing_of_the_key_it_is_sent(caller):
    answer = caller.post("/setup", json={"access_token": "0123456789abcdef", "project": "1.2"})
    assert answer.json() == {"model_version": "live-1"}


def test_a_task_without_candidates_gets_an_equation_and_one_with_them_the_score_alone(caller, suggester):
    bare, shown, none = predict(
        caller,
        data(),
        data([ShownCandidate("76 - 25", "N0 - N1")]),
        data(problem="none", problem_id="?", answer=3),
    )
    assert [part["value"] for part in bare["result"]] == [{"choices": ["own"]}, {"text": ["51 + 0"]}]
    assert (bare["score"], bare["model_version"]) == (0.75, "live-0")
    assert (shown["result"], shown["score"]) == ([], 0.75)
    assert (none["result"], none["score"]) == ([], 0.0)
    ((texts, answers),) = suggester.asked
    assert (len(texts), answers) == (3, [51.0, 51.0, 3.0])


@pytest.mark.parametrize(
    "bad",
    [
        *(None, [], "x", {}, data(problem_id="unknown"), data(problem=""), data(problem=7)),
        *(data(problem="x" * 30_000), data(problem_id=["a"], answer=True), data(problem_id=None, answer="3")),
        data(problem_id=None, answer=10**400),
    ],
)
def test_a_task_that_cannot_be_read_gets_nothing_and_the_others_are_answered(caller, bad):
    first, second = predict(caller, bad, data())
    assert (first["result"], first["score"]) == ([], 0.0)
    assert second["result"]


@pytest.mark.parametrize("body", [None, [], {"tasks": None}, {"tasks": {"a": 1}}])
def test_a_request_without_tasks_is_refused(caller, body):
    assert caller.post("/predict", json=body).status_code == 400


def retrieve(label_studio, project):
    """What "Retrieve Predictions" of the Data Manager does; the predictions by their version."""
    headers = {"Authorization": f"Token {label_studio.key}"}
    with httpx.Client(base_url=label_studio.url, headers=headers, trust_env=False, timeout=900) as browser:
        where = {"id": "retrieve_tasks_predictions", "project": project}
        done = browser.post(
            "/api/dm/actions", params=where, json={"selectedItems": {"all": True, "excluded": []}}
        )
        assert done.status_code == 200, done.text
    found = label_studio.sdk.predictions.list(project=project)
    return {one.model_version: one for one in found}


def test_label_studio_asks_it_and_shows_what_it_says(label_studio, url, suggester):
    sdk = label_studio.sdk
    project = sdk.projects.create(title="live", label_config=page()).id
    sdk.projects.import_tasks(project, request=[data()])
    for _ in range(2):  # the second finds what a kill would have left
        with attached(label_studio.client, project, url, SECRET):
            (backend,) = sdk.ml.list(project=project)
            assert (backend.title, backend.state) == (TITLE, "CO")
            found = retrieve(label_studio, project)
    assert sdk.ml.list(project=project) == []
    prediction = found[suggester.version]
    assert (prediction.score, prediction.result[1]["value"]) == (0.75, {"text": ["51 + 0"]})
    with (
        pytest.raises(WarmkitError, match="adding the backend"),
        attached(label_studio.client, project, url, "wrong"),
    ):
        pass
    sdk.projects.delete(project)


def test_the_command_serves_the_newest_model_of_a_run(label_studio, tmp_path, monkeypatch):
    monkeypatch.setenv(URL, label_studio.url)
    monkeypatch.setenv(KEY, label_studio.key)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    root = Path(__file__).parents[2]
    backend = [sys.executable, "-m", "toolkit.cli", "annotate", "backend", "--json"]
    backend += ["--run", "a", "--runs", str(tmp_path)]
    settings = (*TINY, "stop.rounds=1", "solver_each_round=false")
    run = create_run(tmp_path, "a", load_config(LoopConfig, None, settings))
    with closing(run.ledger):
        Loop(run, annotator_of(run)).rounds()
    early = subprocess.run(backend, cwd=root, check=False, capture_output=True, text=True)
    assert early.returncode == 1 and "no project in Label Studio yet" in early.stderr
    with closing(TaskStore(tmp_path / "a" / "label-studio")) as store:
        project = ensure_project(label_studio.client, store, "live").id
    task = data(
        problem="Ann had 76 apples and ate 25 of them. How many has she?", answer=51, problem_id="new"
    )
    label_studio.sdk.projects.import_tasks(project, request=[task])
    with subprocess.Popen(
        backend, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        facts = json.loads(process.stdout.readline())
        found = retrieve(label_studio, project)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LONGEST)
    assert (process.returncode, out, err) == (0, "", "The backend was stopped.\n")
    prediction = found[facts["model_version"]]
    assert prediction.result[1]["value"]["text"] == ["76 - 25"]
    assert 0 < prediction.score <= 1
    assert label_studio.sdk.ml.list(project=project) == []
    assert httpx.get(label_studio.url, trust_env=False).status_code == 302
    with pytest.raises(httpx.ConnectError):
        httpx.get(facts["url"], trust_env=False)
