"""A language model in a loop: alone, before a person, as a source of candidates; killed and resumed."""

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from llm.chat_server import Fault, says, unmarked
from tiny import TINY

from toolkit.data import read_problems
from toolkit.equations import search, show
from toolkit.errors import WarmkitError
from toolkit.loop.loop import Loop
from toolkit.loop.results import run_figures
from toolkit.loop.run import load_run

NAME = "llm default"


@pytest.fixture(scope="module")
def problems():
    return read_problems("bundled:en").take(range(60))


@pytest.fixture
def gold(problems):
    """Question → equation, with the marks that the model sees taken away."""
    return {
        text: show(template)
        for text, template in zip(problems.table["text"], problems.gold, strict=True)
        if template is not None
    }


def knowing(gold, knows=lambda text: True):
    """A model that writes the gold equation of what it knows, and N0 of everything else."""

    def script(body, number):
        text = unmarked(body)
        return says(gold[text]) if knows(text) else says("N0")

    return script


def begin(folder, problems, server, annotator="llm", **settings) -> Loop:
    keys = {key: yaml.safe_load(value) for key, value in (one.split("=", 1) for one in TINY)}
    keys |= {"method": "search", "limit": None, "known": 0.4, "active.batch": 12, "stop.rounds": 2}
    keys |= {"solver_each_round": False, "stop.kappa": None, "plain_search.operators": 2}
    keys |= {"llm.url": server.url, "llm.samples": 2, "llm.agree": 2, **settings}
    learnt, test = problems.take(range(50)), problems.take(range(50, 60))
    return Loop.new(folder, learnt, test, annotator=annotator, settings=keys)


def test_what_the_model_settles_joins_d_s_and_the_rest_is_skipped(tmp_path, problems, gold, server):
    server.script = knowing(gold, lambda text: len(text) % 2 == 0)
    loop = begin(tmp_path / "a", problems, server)
    assert loop.run().rule == "rounds"
    texts = dict(problems.table.select("id", "text").iter_rows())
    resolutions = loop.state.resolutions()
    assert resolutions
    for problem_id, resolution in resolutions.items():
        assert (resolution.template is not None) == (len(texts[problem_id]) % 2 == 0)
        assert resolution.annotators == (NAME,)
    figures = run_figures(loop.state)
    cost = figures.model_cost
    assert cost is not None and cost.labels == cost.right == cost.known == figures.labels > 0
    assert cost.spent.requests == len(server.requests)
    assert cost.reasons["verified"] == 2 * (
        cost.labels + sum(len(texts[name]) % 2 == 0 for name in loop.state.team().gold)
    )
    (row,) = figures.annotators
    assert (row.name, row.verdicts["skipped"] > 0, row.gold_right == row.gold_asked > 0) == (NAME, True, True)
    report = (tmp_path / "a" / "report.html").read_text()
    assert "requests" in report and NAME in report
    shown = [len(body["messages"]) for body in server.requests]
    assert max(shown) == 2 + 2 * loop.config.llm.demonstrations  # system, demonstrations, question


def test_demonstrations_are_never_the_problem_itself(tmp_path, problems, gold, server):
    server.script = knowing(gold)
    begin(tmp_path / "a", problems, server).run()
    for body in server.requests:
        *before, question = [one["content"] for one in body["messages"] if one["role"] == "user"]
        assert question not in before


def test_the_rest_goes_to_a_person_who_is_asked_nothing_else(tmp_path, problems, gold, server):
    server.script = knowing(gold, lambda text: len(text) % 2 == 0)
    loop = begin(tmp_path / "a", problems, server, annotator="llm,oracle")
    loop.run()
    texts = dict(problems.table.select("id", "text").iter_rows())
    for problem_id, resolution in loop.state.resolutions().items():
        expected = NAME if len(texts[problem_id]) % 2 == 0 else "oracle"
        assert resolution.template is not None and resolution.annotators == (expected,)
    assert {row.name for row in run_figures(loop.state).annotators} == {NAME, "oracle"}


def test_a_problem_that_wants_two_answers_goes_to_both(tmp_path, problems, gold, server):
    server.script = knowing(gold)
    loop = begin(tmp_path / "a", problems, server, annotator="llm,oracle", **{"annotator.overlap": 2})
    loop.run()
    answered = {}
    for response in loop.ledger.responses():
        answered.setdefault(response.problem_id, set()).add(response.annotator)
    asked = {item.problem_id for item in loop.ledger.batch() if item.kind != "gold"}
    assert asked and all(answered[problem_id] == {NAME, "oracle"} for problem_id in asked)
    assert all(resolution.template is not None for resolution in loop.state.resolutions().values())


def test_a_model_that_fails_gold_questions_is_set_aside(tmp_path, problems, gold, server):
    """What it writes gives the answer and means something else: gold questions alone find that."""
    found = search(problems.numbers, problems.answers, 3, problems.constants, reuse=1)
    wrong = {
        text: next((show(one.template) for one in candidates if one.klass not in classes), "N0")
        for text, candidates, classes in zip(
            problems.table["text"], found, problems.gold_classes, strict=True
        )
    }
    assert sum(equation != "N0" for equation in wrong.values()) > 20
    server.script = knowing(wrong)
    loop = begin(tmp_path / "a", problems, server, annotator="llm,oracle", **{"annotator.gold": 0.5})
    loop.run()
    assert loop.state.set_aside() == {NAME}
    assert all(NAME not in found.annotators for found in loop.state.resolutions().values())
    (row,) = (row for row in run_figures(loop.state).annotators if row.name == NAME)
    assert row.gold_right < row.gold_asked and row.warning


def test_a_second_run_and_a_resumed_one_ask_nothing_twice(tmp_path, problems, gold, server):
    server.script = knowing(gold)
    first = begin(tmp_path / "a", problems, server)
    first.run()
    count = len(server.requests)
    second = begin(tmp_path / "b", problems, server)
    second.run()
    assert len(server.requests) == count
    assert second.ledger.spent().requests == 0
    assert second.state.known(3) == first.state.known(3)


def test_a_budget_ends_the_asking_and_the_loop_goes_on(tmp_path, problems, gold, server):
    server.script = knowing(gold)
    loop = begin(tmp_path / "a", problems, server, **{"llm.budget.requests": 7})
    assert loop.run().rule == "rounds"
    assert loop.ledger.spent().requests == len(server.requests) == 7
    assert loop.state.labels(3) == 3  # two replies each; the seventh alone settles nothing


def test_the_rest_goes_to_a_person_if_the_server_is_down(tmp_path, problems, server, monkeypatch):
    monkeypatch.setattr("annotation.llm.asking.FIRST_PAUSE", 0.001)
    monkeypatch.setattr("annotation.llm.asking.TRIES", 2)
    server.script = lambda body, number: Fault(503)
    loop = begin(tmp_path / "a", problems, server, annotator="llm,oracle")
    assert loop.run().rule == "rounds"
    assert {row.name for row in run_figures(loop.state).annotators} == {"oracle"}


def test_a_refusal_is_one_sentence(tmp_path, problems, server):
    server.script = lambda body, number: Fault(401)
    with pytest.raises(WarmkitError, match="status 401"):
        begin(tmp_path / "a", problems, server).run()


def test_proposals_become_candidates_once_and_stay(tmp_path, problems, gold, server):
    server.script = knowing(gold)
    settings = {"llm.propose": 8, "known": 0.1, "plain_search.operators": 1, "stop.rounds": 2}
    loop = begin(tmp_path / "a", problems, server, annotator="oracle", **settings)
    loop.run()
    proposed = loop.ledger.fact("proposed")
    assert {len(chosen) for chosen in proposed.values()} == {8}
    assert len({name for chosen in proposed.values() for name in chosen}) == 8 * len(proposed)
    assert len(server.requests) == 2 * 8 * len(proposed)
    for round_ in (1, 2, 3):
        table = loop.state.candidates(round_).table
        origins = table.filter(table["origin"] == "llm")
        assert len(origins) > 0
        before = {name for at, chosen in proposed.items() if int(at) <= round_ for name in chosen}
        assert set(origins["problem_id"]) <= before
    classes = loop.state.problems.gold_classes
    top = loop.state.candidates(1).top
    for name in proposed["1"]:
        assert name in top and any(
            klass in classes[loop.state.problems.row[name]] for klass in loop.state.candidates(1).scores[name]
        )


def test_a_loop_that_is_killed_asks_nothing_twice(tmp_path, problems, gold, server):
    """The kill comes while requests are on their way: only these may be sent again."""
    data = tmp_path / "problems.parquet"
    problems.take(range(50)).table.write_parquet(data)
    config = dict(one.split("=", 1) for one in TINY)
    config |= {"method": "search", "limit": "null", "known": "0.4", "active.batch": "12", "stop.rounds": "1"}
    config |= {"solver_each_round": "false", "stop.kappa": "null", "plain_search.operators": "2"}
    config |= {"llm.url": server.url, "llm.samples": "2", "llm.concurrency": "2"}
    settings = [part for key, value in config.items() for part in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "toolkit.cli", "loop", "--runs", str(tmp_path), "--run", "a", "--json"]
    child: list[subprocess.Popen] = []

    def kill(body, number):
        if number == 9:
            os.kill(child[0].pid, signal.SIGKILL)
        return knowing(gold)(body, number)

    server.script = kill
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [*command, str(data), "--annotator", "llm", *settings], cwd=root, stdout=subprocess.PIPE
    ) as process:
        child.append(process)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = len(server.requests)
    server.script = knowing(gold)
    done = subprocess.run([*command, "--resume"], cwd=root, capture_output=True, text=True, check=True)
    with closing(load_run(tmp_path / "a").ledger) as ledger:
        heard, spent = ledger.replies(), ledger.spent()
    asked = {(body["seed"], body["messages"][-1]["content"]) for body in server.requests}
    assert len(asked) == sum(map(len, heard.values()))
    assert 9 <= before <= 10 and len(server.requests) - len(asked) <= 2
    # one is counted before it is sent: the kill may come between the two, for the one beside the ninth
    assert 0 <= spent.requests - len(server.requests) <= 1
    assert json.loads(done.stdout)["labels"] == 12


@pytest.mark.parametrize("name", ["file,llm", "llm,nobody", "label-studio,file", ""])
def test_a_chain_that_cannot_be_is_refused(tmp_path, problems, server, name):
    with pytest.raises(WarmkitError, match=r"annotator\.name"):
        begin(tmp_path / "a", problems, server, annotator=name)


def test_more_replies_than_samples_cannot_agree(tmp_path, problems, server):
    with pytest.raises(WarmkitError, match="3 of 2 replies can't agree"):
        begin(tmp_path / "a", problems, server, **{"llm.agree": 3})
