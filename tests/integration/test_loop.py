"""A loop whose annotators work in a real Label Studio."""

import http.cookiejar
import json
import re
import urllib.parse
import urllib.request

import pytest
from click.testing import CliRunner
from integration.annotators import Annotators, bad, call, picked, written
from integration.proxy import Proxy
from tiny import TINY

from annotation.annotator import LabelStudio
from annotation.answers import AnnotatedTask
from annotation.api import list_tasks
from annotation.client import Client
from annotation.keys import KEY, URL, Connection
from toolkit.cli import main
from toolkit.config import load_config
from toolkit.equations import show
from toolkit.errors import WarmkitError
from toolkit.loop.annotators import annotator_of
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.results import write_results
from toolkit.loop.run import create_run, open_run
from toolkit.loop.state import RunState

SETTINGS = (*TINY, "annotator.name=label-studio", "known=0", "solver_each_round=false")


@pytest.fixture(autouse=True)
def connected(label_studio, monkeypatch):
    monkeypatch.setenv(URL, label_studio.url)
    monkeypatch.setenv(KEY, label_studio.key)


@pytest.fixture
def start(tmp_path):
    """Makes a run: start("stop.rounds=2")."""

    def make(*settings, name="a"):
        return create_run(tmp_path, name, load_config(LoopConfig, None, (*SETTINGS, *settings)))

    return make


class Office:
    """Annotators who work whenever the loop sleeps: `work` is called with each task that is new."""

    def __init__(self, run, annotators, work):
        self.gold = dict(run.problems.table.select("id", "equation").iter_rows())
        self.annotators, self.work, self.seen, self.made = annotators, work, set(), []

    def sleep(self, seconds):
        for number, data in self.annotators.tasks().items():
            if number not in self.seen:
                self.seen.add(number)
                self.work(self, number, data)


def gold(office, number, data):
    """Everybody writes the right equation."""
    office.made.append(office.annotators.annotate(number, written(office.gold[data["problem_id"]])))


@pytest.fixture
def looped(label_studio):
    """Runs the loop of a run, whose annotators do that work: the office, and what ended the run."""

    def go(run, work):
        annotator = annotator_of(run)
        office = Office(run, Annotators(label_studio.client, annotator.store.project), work)
        with annotator.client:
            return office, Loop(run, annotator, sleep=office.sleep).rounds()

    return go


def accounts(run, annotators):
    """Ledger and server say the same: the annotations of each, by id."""
    ledger = {
        int(one.external_id.rpartition("/")[2]): one.kind
        for one in run.ledger.responses()
        if one.kind != "withdrawn"
    }
    listed = list_tasks(annotators.client, annotators.project, AnnotatedTask)
    server = {one["id"] for task in listed for one in task.annotations}
    return set(ledger), server


def test_a_loop_of_two_rounds_learns_what_annotators_say(start, looped):
    run = start("stop.rounds=2")
    office, stop = looped(run, gold)
    assert stop.rule == "rounds"
    state = RunState(run)
    assert [len(state.known(r)) for r in (1, 2, 3)] == [0, 4, 8]
    gold_templates = run.problems.gold_templates
    assert len(gold_templates) == len(run.problems)
    assert all(gold_templates[name] == template for name, template in state.known(3).items())
    assert sorted(name for name, _, _ in office.annotators.names()) == sorted(state.known(3))
    assert {one.seconds for one in run.ledger.responses()} == {5.5}
    ours, theirs = accounts(run, office.annotators)
    assert ours == theirs and len(ours) == 8
    assert {data["round"] for data in office.annotators.tasks().values()} == {1, 2}
    assert write_results(state)["labels"] == 8


def test_what_is_rejected_comes_back_bad_and_skipped_are_recorded(start, looped):
    def work(office, number, data):
        name = data["problem_id"]
        position = sorted({one["problem_id"] for one in office.annotators.tasks().values()}).index(name)
        if data["attempt"] == 0 and position == 0:
            office.annotators.annotate(number, written("1 + 1"))
        elif position == 1:
            office.annotators.annotate(number, bad("unclear text"))
        elif position == 2:
            office.annotators.annotate(number, [], was_cancelled=True)
        else:
            gold(office, number, data)

    run = start("stop.rounds=1")
    office, _ = looped(run, work)
    resolutions = RunState(run).resolutions()
    first, second, third, fourth = (resolutions[name] for name in sorted(resolutions))
    assert (first.verdict, first.rejections) == ("accepted", 1)
    assert (second.verdict, "unclear text" in second.reason) == ("disputed", True)
    assert (third.verdict, fourth.verdict) == ("skipped", "accepted")
    again = [data for data in office.annotators.tasks().values() if data["attempt"] == 1]
    assert len(again) == 1 and "none of the problem's numbers" in again[0]["complaint"]
    assert set(RunState(run).known(2)) == {
        name for name in resolutions if resolutions[name].verdict == "accepted"
    }


def test_what_annotators_change_after_its_use_revises_D_s_of_the_next_round(start, looped):
    def work(office, number, data):
        gold(office, number, data)
        if data["round"] == 2 and len(office.made) == 8:  # they think better of what round 1 has used
            office.annotators.edit(office.made[0], was_cancelled=True)
            office.annotators.delete(f"annotations/{office.made[1]}")
            tasks = list(office.annotators.tasks())
            office.annotators.delete(f"tasks/{tasks[2]}")

    run = start("stop.rounds=2")
    office, _ = looped(run, work)
    state = RunState(run)
    first = [one.problem_id for one in run.ledger.batch(1)]
    assert set(state.known(2)) == set(first)
    assert len(set(state.known(3)) & set(first)) == 1
    assert len(state.known(3)) == 5
    ours, theirs = accounts(run, office.annotators)
    assert ours == theirs
    verdicts = sorted(one.verdict for one in state.resolutions().values())
    assert verdicts == ["accepted"] * 5 + ["skipped"]


def test_several_annotators_agree_by_class_and_those_who_do_not_are_kept_aside(start, label_studio):
    run = start("stop.rounds=1")
    annotator = annotator_of(run)
    other = other_person(label_studio)
    work_done = []

    def work(office, number, data):
        gold(office, number, data)
        work_done.append(data["problem_id"])
        colleague = Annotators(other, office.annotators.project)
        if len(work_done) == 1:
            colleague.annotate(number, written(office.gold[data["problem_id"]]))
        elif len(work_done) == 2:
            colleague.annotate(number, bad("wrong answer key"))

    office = Office(run, Annotators(label_studio.client, annotator.store.project), work)
    with annotator.client, other:
        Loop(run, annotator, sleep=office.sleep).rounds()
    resolutions = RunState(run).resolutions()
    agreed, disputed = (resolutions[name] for name in work_done[:2])
    assert (agreed.verdict, len(agreed.annotators)) == ("accepted", 2)
    assert disputed.verdict == "disputed"
    assert work_done[1] not in RunState(run).known(2)


def other_person(label_studio, email="bob@example.com"):
    """A second user, who signed up by the invitation link."""
    invite = call(label_studio.client, "asking for an invitation", "GET", "api/invite")
    jar = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(jar)
    )
    address = label_studio.url + invite["invite_url"]
    with browser.open(address) as answer:
        form = answer.read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form).group(1)
    fields = {"csrfmiddlewaretoken": token, "email": email, "password": "annotate-456"}
    sent = urllib.request.Request(address, urllib.parse.urlencode(fields).encode(), {"Referer": address})
    browser.open(sent).close()
    with browser.open(f"{label_studio.url}/api/current-user/token") as answer:
        key = json.loads(answer.read())["token"]
    return Client(Connection(label_studio.url, key))


def test_a_server_that_is_away_while_the_loop_waits_is_told_and_waited_for(start, label_studio):
    messages = []

    class View:
        def stage(self, round_, name): ...
        def progress(self, done, total): ...
        def figures(self, **figures): ...
        def say(self, sentence):
            messages.append(sentence)

    run = start("stop.rounds=1")
    with Proxy(label_studio.url) as proxy, Client(Connection(proxy.url, label_studio.key)) as client:
        annotator = LabelStudio(client, run.store, "away")
        office = Office(run, Annotators(label_studio.client, annotator.store.project), gold)
        pauses = []

        def sleep(seconds):
            pauses.append(seconds)
            if len(pauses) == 3:
                proxy.heal()
            if len(pauses) > 3:
                office.sleep(seconds)

        proxy.fail("502", times=1_000)
        stop = Loop(run, annotator, view=View(), sleep=sleep).rounds()
    assert stop.rule == "rounds"
    assert pauses == sorted(pauses)
    assert any("the server failed (502)" in sentence and "tried again" in sentence for sentence in messages)
    assert any("Waiting for 4 of 4" in sentence for sentence in messages)
    assert len(RunState(run).known(2)) == 4
    assert len(office.annotators.tasks()) == 4


def test_a_loop_that_is_stopped_while_it_waits_comes_back_and_finds_what_was_said(start, tmp_path, looped):
    def leave(office, number, data):
        gold(office, number, data)
        if len(office.made) == 2:
            raise KeyboardInterrupt

    run = start("stop.rounds=1")
    office, stop = looped(run, leave)
    assert stop.rule == "interrupt"
    for number, data in office.annotators.tasks().items():
        if number not in office.seen:
            gold(office, number, data)
    run.ledger.close()
    again = open_run(tmp_path, "a")
    later, stop = looped(again, gold_never)
    assert stop.rule == "rounds"
    assert len(RunState(again).known(2)) == 4
    assert later.annotators.names() == office.annotators.names()


def gold_never(office, number, data):
    raise AssertionError(f"task {number} is new")


def test_what_is_revoked_stays_revoked_until_somebody_speaks_again(start, tmp_path, looped):
    run = start("stop.rounds=1")
    looped(run, gold)
    name = run.ledger.batch()[0].problem_id
    assert run.ledger.revoke(name) == 1
    run.ledger.close()
    again = open_run(tmp_path, "a", load_config(LoopConfig, None, (*SETTINGS, "stop.rounds=2")))
    looped(again, lambda office, number, data: data["round"] == 1 or gold(office, number, data))
    assert all(one.round == 2 for one in again.ledger.responses() if one.problem_id == name)


def test_what_is_rewound_does_not_come_back_from_the_server_but_is_asked_anew(start, tmp_path, looped):
    run = start("stop.rounds=2")
    office, _ = looped(run, gold)
    first = [one.problem_id for one in run.ledger.batch(1)]
    run.rewind(2)
    run.ledger.close()
    again = open_run(tmp_path, "a")
    tasks = set(office.annotators.tasks())
    later, stop = looped(again, lambda office, number, data: number in tasks or gold(office, number, data))
    assert stop.rule == "rounds"
    state = RunState(again)
    assert set(state.known(2)) == set(first)
    assert len(state.known(3)) == 8
    assert len(later.annotators.tasks()) == 12  # what was said before is still on the server
    assert len(later.made) == 4


def test_an_undone_annotation_counts_once_it_is_submitted_again(start, tmp_path, looped):
    run = start("stop.rounds=1")
    office, _ = looped(run, gold)
    run.rewind(1)
    run.ledger.close()
    again = open_run(tmp_path, "a")
    for made in office.made:
        (annotation,) = [
            one
            for task in list_tasks(office.annotators.client, office.annotators.project, AnnotatedTask)
            for one in task.annotations
            if one["id"] == made
        ]
        office.annotators.edit(made, result=annotation["result"])
    looped(again, gold)
    assert {int(one.external_id.rpartition("/")[2]) for one in again.ledger.responses()} >= set(office.made)


def test_without_a_server_nothing_begins(tmp_path, monkeypatch):
    monkeypatch.setenv(URL, "http://127.0.0.1:9")
    command = ["loop", "--annotator", "label-studio", "--runs", str(tmp_path), "--run", "a"]
    done = CliRunner().invoke(main, command)
    assert (done.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert "can't be reached" in done.output


def test_where_all_equations_are_known_no_project_is_made(tmp_path, label_studio):
    before = call(label_studio.client, "listing", "GET", "api/projects/")["count"]
    command = ["loop", "--annotator", "label-studio", "--runs", str(tmp_path), "--set", "limit=24"]
    done = CliRunner().invoke(main, command)
    assert (done.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert "there is nothing to ask. Hide them with --set known=0" in done.output
    assert call(label_studio.client, "listing", "GET", "api/projects/")["count"] == before


def test_a_wrong_key_is_told_before_anything_begins(tmp_path, monkeypatch):
    monkeypatch.setenv(KEY, "0" * 40)
    done = CliRunner().invoke(main, ["loop", "--annotator", "label-studio", "--runs", str(tmp_path)])
    assert (done.exit_code, list(tmp_path.iterdir())) == (1, [])
    assert "the key is wrong or expired" in done.output and "0" * 40 not in done.output


def test_a_project_deleted_while_the_loop_waits_ends_it_with_a_sentence(start, label_studio):
    run = start("stop.rounds=1")
    annotator = annotator_of(run)
    annotators = Annotators(label_studio.client, annotator.store.project)
    with annotator.client, pytest.raises(WarmkitError, match=r"project \d+ was deleted"):
        Loop(
            run, annotator, sleep=lambda seconds: annotators.delete(f"projects/{annotators.project}")
        ).rounds()
    assert run.ledger.batch(1) != []


def test_the_key_is_in_no_file_of_the_run(start, label_studio, looped):
    run = start("stop.rounds=1")
    looped(run, gold)
    write_results(RunState(run))
    for path in run.folder.rglob("*"):
        if path.is_file():
            assert label_studio.key.encode() not in path.read_bytes(), path


def test_candidates_are_offered_and_picked(start, looped):
    def work(office, number, data):
        aliases = [choice["alias"] for choice in data["candidates"]]
        offered = [alias for alias in aliases if alias not in ("own", "bad")]
        if offered:
            office.annotators.annotate(number, picked(offered[0]))
        else:
            gold(office, number, data)

    run = start("stop.rounds=1")
    looped(run, work)
    assert {one.verdict for one in RunState(run).resolutions().values()} == {"accepted"}
    templates = {one.problem_id: one.template for one in run.ledger.responses() if one.template}
    assert templates
    known = RunState(run).known(2)
    assert all(show(known[name]) == template for name, template in templates.items())
    equations = {one.problem_id: one.equation for one in run.ledger.responses() if one.template}
    asked = {one.problem_id: one.candidates for one in run.ledger.batch()}
    assert all((equations[name], templates[name]) in asked[name] for name in templates)
