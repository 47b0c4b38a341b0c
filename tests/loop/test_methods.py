"""Loops with any method, and with a strategy and an annotator of one's own."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from commands import sets
from tiny import TINY

import warmkit
from toolkit.annotators.oracle import Oracle
from toolkit.cli import main
from toolkit.data import read_problems
from toolkit.errors import WarmkitError
from toolkit.loop.loop import Loop
from toolkit.loop.run import load_run
from toolkit.methods import METHODS
from toolkit.solvers import SOLVERS

SMALL = {
    **dict(setting.split("=", 1) for setting in TINY),
    "stop.rounds": 2,
    "plain_search.operators": 2,
    "random_sampling.paths": 20,
    **{"seq2seq.epochs": 1, "seq2seq.hidden": 8, "seq2seq.embedding": 8},
    **{"lbf.epochs": 1, "lbf.hidden": 8, "lbf.embedding": 8, "lbf.fixes": 5},
}


@pytest.fixture(scope="module")
def problems():
    return read_problems("bundled:en").take(range(40))


@pytest.fixture
def begin(problems, tmp_path):
    """A new loop: begin({"method": "search"}, annotator=...)."""

    def new(settings=None, **given):
        return Loop.new(tmp_path / "a", problems, settings={**SMALL, **(settings or {})}, **given)

    return new


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_through_a_loop(begin, method):
    loop = begin({"method": method})
    assert loop.run().rule == "rounds"
    run = load_run(loop.state.run.folder)
    assert run.config.method == method
    assert [len(loop.state.known(round_)) for round_ in (1, 2, 3)] == [0, 4, 8]
    for round_ in (1, 2, 3):
        model = warmkit.load_model(run.round_folder(round_) / "model")
        assert type(model) is METHODS[method]
        assert model.origin.known == len(loop.state.known(round_))
        assert set(run.candidates(round_).table["origin"]) <= {method, "search"}
    assert run.metrics.filter(pl.col("name") == "labels")["value"].to_list() == [0, 4, 8]
    assert set(run.equations.filter(pl.col("origin") == "gold")["id"]) == set(loop.state.known(3))
    assert run.solver().name == "ensemble" and run.report.exists()


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_ends_a_loop(begin, solver):
    loop = begin({"method": "search", "solver_kind": solver, "stop.rounds": 1, "solver_each_round": False})
    assert loop.run().rule == "rounds"
    assert load_run(loop.state.run.folder).solver().name == solver


def test_a_strategy_of_ones_own_chooses(begin):
    def most_numbers(pool, rows, count, rng):
        assert pool.states is not None and len(pool.states) == len(pool.operands)
        return rows[np.argsort(-pool.operands[rows], kind="stable")][:count]

    strategy = warmkit.Strategy(
        "most numbers",
        most_numbers,
        lambda pool, row: f"it has {pool.operands[row]} numbers",
        needs=frozenset({"states"}),
    )
    loop = begin({"active.random_share": 0, "active.unsolved_quota": 0}, strategy=strategy)
    assert loop.run().rule == "rounds"
    batch = loop.ledger.batch()
    assert len(batch) == 8 and {item.kind for item in batch} == {"strategy"}
    problems = loop.state.problems
    numbers = {name: len(found) for name, found in zip(problems.ids, problems.numbers, strict=True)}
    for round_ in (1, 2):
        solved = [name for name in loop.state.candidates(round_).top if name not in loop.state.known(round_)]
        asked = [item for item in batch if item.round == round_]
        most = sorted((numbers[name] for name in solved), reverse=True)[:4]
        assert [numbers[item.problem_id] for item in asked] == most
        assert [item.why for item in asked] == [f"it has {count} numbers" for count in most]
    assert loop.config.active.strategy == "python"
    with pytest.raises(WarmkitError, match="the strategy of this run is a Python object"):
        Loop(load_run(loop.state.run.folder))
    again = Loop(load_run(loop.state.run.folder), strategy=strategy)
    assert again.run().rule == "rounds"
    assert again.ledger.batch() == batch


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        ("hybrid", "The method search has no encoder states, which the strategy needs."),
        ("dropout", "The method search has no dropout, which the strategy needs."),
    ],
)
def test_a_strategy_that_needs_what_a_method_has_not_is_a_sentence(begin, strategy, words):
    loop = begin({"method": "search", "solver_each_round": False}, strategy=strategy)
    with pytest.raises(WarmkitError, match=words):
        loop.run()


class Colleague:
    """An annotator as anybody might write one: it knows half of the answers, and skips the rest."""

    name, location, warnings = "colleague", "", ()

    def __init__(self, problems):
        self.oracle, self.asked = Oracle(problems.table), []

    def submit(self, questions):
        self.asked += [question.problem_id for question in questions]
        self.oracle.submit(questions)

    def collect(self):
        said = []
        for response in self.oracle.collect():
            position = self.asked.index(response.problem_id)
            known = {} if position % 2 else {"kind": "skip", "equation": None}
            said.append(warmkit.Response(**{**vars(response), **known, "annotator": "colleague"}))
        return said

    def waits(self):
        return False


def test_an_annotator_of_ones_own_is_asked(begin, problems):
    colleague = Colleague(problems)
    loop = begin({"known": 0}, annotator=colleague)
    assert loop.run().rule == "rounds"
    assert [item.problem_id for item in loop.ledger.batch()] == colleague.asked
    assert len(colleague.asked) == 8
    assert [len(loop.state.known(round_)) for round_ in (1, 2, 3)] == [0, 2, 4]
    assert {response.annotator for response in loop.ledger.responses()} == {"colleague"}
    assert loop.config.annotator.name == "python"
    with pytest.raises(WarmkitError, match="the annotator of this run is a Python object"):
        Loop(load_run(loop.state.run.folder))
    again = Loop(load_run(loop.state.run.folder), colleague)
    assert again.run().rule == "rounds"
    assert len(colleague.asked) == 8


def test_a_name_that_is_taken_or_unknown_is_a_sentence(begin):
    begin()
    with pytest.raises(WarmkitError, match="this run already exists") as raised:
        begin()
    assert raised.value.code == "run-exists" and "--" not in str(raised.value)
    for settings, given, words in (
        ({"method": "wram"}, {}, "there is no method wram. Did you mean warm?"),
        ({"warm.train.seed": 3}, {}, "there is no key warm.train.seed. Did you mean seed?"),
        ({"solver.seed": 3}, {}, "there is no key solver.seed. Did you mean seed?"),
        ({}, {"strategy": "entrpy"}, "there is no strategy entrpy. Did you mean entropy?"),
        ({}, {"annotator": "orcale"}, "there is no annotator orcale. Did you mean oracle?"),
    ):
        with pytest.raises(WarmkitError) as raised:
            begin(settings, **given)
        assert words in str(raised.value)


def command(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout.splitlines()[-1])


def test_a_method_is_named_at_the_command_line(problems, tmp_path):
    data, model, found = tmp_path / "data.jsonl", tmp_path / "model", tmp_path / "found.parquet"
    problems.table.write_ndjson(data)
    trained = command("train", data, "--out", model, "--method", "search", "--set", "operators=2", "--json")
    assert (trained["method"], trained["loss"], trained["epochs"]) == ("search", None, 1)
    assert json.loads((model / "model.json").read_text(encoding="utf-8"))["config"]["operators"] == 2
    generated = command("generate", data, "--model", model, "--out", found, "--json")
    table = pl.read_parquet(found)
    assert set(table["origin"]) == {"search"} and table["steps"].max() == 2
    assert generated["reached"] == table["problem_id"].n_unique() == round(trained["reached"] * 40)
    looped = command(
        *("loop", data, "--method", "search", "--rounds", 1, "--run", "a", "--runs", tmp_path, "--json"),
        *sets(TINY),
    )
    assert looped["labels"] == 4
    run = load_run(tmp_path / "a")
    assert run.config.method == "search"
    assert json.loads((run.round_folder(1) / "model" / "model.json").read_text())["method"] == "search"
