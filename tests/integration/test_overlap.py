"""Several people on one problem, in a real Label Studio."""

import polars as pl
import pytest
from integration.annotators import Annotators, call, picked, question
from integration.test_loop import SETTINGS, other_person

from annotation.answers import TaskData
from annotation.client import Gone
from annotation.keys import KEY, URL
from annotation.overlap import set_overlaps
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.store import TaskStore
from toolkit.config import load_config
from toolkit.data import write_table
from toolkit.data.schema import PROBLEMS
from toolkit.equations import show
from toolkit.loop.annotators import annotator_of
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.run import create_run
from toolkit.loop.state import RunState


@pytest.fixture(autouse=True)
def connected(label_studio, monkeypatch):
    monkeypatch.setenv(URL, label_studio.url)
    monkeypatch.setenv(KEY, label_studio.key)


@pytest.fixture(scope="module")
def people(label_studio):
    """Ann, who has the key, and two colleagues."""
    others = [other_person(label_studio, name) for name in ("bob2@example.com", "eve2@example.com")]
    yield [label_studio.client, *others]
    for other in others:
        other.close()


def next_task(client, project):
    """What Label Studio offers a person who labels all tasks."""
    try:
        return call(client, "next", "GET", f"api/projects/{project}/next/")["id"]
    except Gone:
        return None


def test_a_disagreement_is_decided_by_a_third_and_nobody_is_asked_twice(people, tmp_path):
    text = "Ann has {0} pens and Bob has {0} pens. Bob gives 3 away. How many pens has Bob?"
    rows = [(f"p{i}", text.format(5 + i), float(2 + i), None, "en", None) for i in range(24)]
    write_table(pl.DataFrame(rows, schema=PROBLEMS, orient="row"), tmp_path / "pens.jsonl")
    settings = ("stop.rounds=1", "annotator.overlap=2", "active.batch=2", f"data={tmp_path / 'pens.jsonl'}")
    run = create_run(tmp_path, "a", load_config(LoopConfig, None, (*SETTINGS, *settings)))
    annotator = annotator_of(run)
    project = annotator.store.project
    offered, disputed = [], []

    def sleep(seconds):
        """Each person does the next task that Label Studio offers. The second one errs once."""
        for who, client in enumerate(people):
            if (task := next_task(client, project)) is None:
                continue
            data = client.call("reading", TaskData, "GET", f"api/tasks/{task}/").data
            errs = who == 1 and not disputed
            disputed.extend([data["problem_id"]] if errs else [])
            offered.append((data["problem_id"], who))
            Annotators(client, project).annotate(task, picked("N0 - N2" if errs else "N1 - N2"))

    with annotator.client:
        Loop(run, annotator, sleep=sleep).rounds()
    state = RunState(run)
    assert len(offered) == len(set(offered)) == 5  # two people each, and a third about one problem
    assert sorted(who for name, who in offered if name == disputed[0]) == [0, 1, 2]
    assert {show(template) for template in state.known(2).values()} == {"N1 - N2"}
    assert len(state.known(2)) == 2
    shown = {data["problem_id"]: data["verdict"] for data in Annotators(people[0], project).tasks().values()}
    assert set(shown.values()) == {"accepted"}


def test_a_task_waits_for_as_many_people_as_its_question_wants(label_studio, people, tmp_path):
    ann, bob, _ = people
    store = TaskStore(tmp_path / "store")
    project = ensure_project(ann, store, "overlap", overlap=2).id
    push(ann, store, [question("both", wanted=2), question("one", wanted=1)])
    tasks = {key.problem_id: task for key, task in store.sent().items()}
    for client in (ann, bob):
        Annotators(client, project).annotate(tasks["both"], picked("N0 - N1"))
    Annotators(ann, project).annotate(tasks["one"], picked("N0 - N1"))
    assert [next_task(client, project) for client in people] == [None, None, None]
    pull(ann, store)
    push(ann, store, [question("both", wanted=1)])  # they disagree: one more
    assert [next_task(client, project) for client in people] == [None, None, tasks["both"]]
    assert set_overlaps(ann, store, [question("both", wanted=1)]) == []


def test_an_overlap_that_somebody_changes_in_mid_round_is_told_and_set_again(label_studio, people, tmp_path):
    ann, bob, _ = people
    store = TaskStore(tmp_path / "store")
    project = ensure_project(ann, store, "changed", overlap=2).id
    asked = [question("a", wanted=2)]
    push(ann, store, asked)
    (task,) = store.sent().values()
    ann.request("changing it", "PATCH", f"api/projects/{project}/", json={"maximum_annotations": 1})
    (warning,) = push(ann, store, asked).warnings
    assert "now wants 1 annotations of a task, not 2" in warning
    assert push(ann, store, asked).warnings == ()
    Annotators(ann, project).annotate(task, picked("N0 - N1"))
    assert next_task(bob, project) == task


def test_what_a_person_wrote_keeps_their_name_when_they_are_removed(label_studio, people, tmp_path):
    ann = people[0]
    leaver = other_person(label_studio, "leaver@example.com")
    store = TaskStore(tmp_path / "store")
    project = ensure_project(ann, store, "removed").id
    push(ann, store, [question("a")])
    (task,) = store.sent().values()
    with leaver:
        made = Annotators(leaver, project).annotate(task, picked("N0 - N1"))
        who = call(leaver, "asking", "GET", "api/current-user/whoami")["id"]
    pull(ann, store)
    ann.request("removing", "DELETE", f"api/organizations/1/memberships/{who}/")
    Annotators(ann, project).edit(made, lead_time=9.0)
    pull(ann, store)
    (response,) = store.responses()[0]
    assert (response.annotator, response.kind) == ("leaver@example.com", "equation")
