"""`warmkit generate --llm`: what a model proposes, checked, as a candidates table."""

import json

import polars as pl
import pytest
from click.testing import CliRunner
from llm.chat_server import Fault, says, unmarked

from toolkit.cli import main
from toolkit.data import read_problems, write_table
from toolkit.equations import klass, parse_template, show
from toolkit.loop.proposals import generated, merged
from toolkit.methods import FitInput, Generated
from toolkit.methods.base import Scored
from toolkit.methods.search import Search


def run(*arguments):
    return CliRunner().invoke(main, ["generate", *map(str, arguments)])


@pytest.fixture
def problems():
    return read_problems("bundled:en").take(range(12))


@pytest.fixture
def data(problems, tmp_path):
    path = tmp_path / "problems.parquet"
    write_table(problems.table, path)
    return path


def half_knowing(problems):
    """The gold equation of every other problem; the second sample of it is no JSON."""
    gold = {
        text: show(template)
        for text, template in zip(problems.table["text"], problems.gold, strict=True)
        if template is not None
    }
    known = [text for i, text in enumerate(gold) if i % 2 == 0]

    def script(body, number):
        text = unmarked(body)
        if text not in known:
            return says("N0 + 1000")
        return says(gold[text]) if body["seed"] == 0 else "I am sure that it is 7."

    return script


def test_what_verifies_is_a_candidate_and_what_does_not_is_counted(server, problems, data, tmp_path):
    server.script = half_knowing(problems)
    out = tmp_path / "candidates.parquet"
    options = ("--llm", server.url, data, "--set", "samples=2", "--set", "agree=1", "--set", "price.reply=3")
    done = run(*options, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    figures = json.loads(done.stdout)
    assert figures["reached"] == 6 and figures["gold_equivalent"] == 6
    assert figures["llm"]["replies"] == {"verified": 6, "no JSON": 6, "another answer": 12}
    assert (figures["llm"]["requests"], figures["llm"]["reply_tokens"]) == (24, 240)
    assert figures["llm"]["money"] == pytest.approx(240 * 3 / 1e6)
    table = pl.read_parquet(out)
    assert set(table["origin"]) == {"llm"} and len(table) == 6
    again = run(*options, "--out", tmp_path / "again.csv")
    assert again.exit_code == 0 and len(server.requests) == 24
    assert "Of its 24 replies 6 verified" in again.stdout
    assert "6 of its 6 labels are of the class of the hidden gold equation" in again.stdout


def test_a_method_and_a_model_together(server, problems, data, tmp_path):
    server.script = half_knowing(problems)
    model = tmp_path / "model"
    config = Search.Config.model_validate({"operators": 1})
    Search.fit(FitInput(problems, {}, config), model)
    out = tmp_path / "candidates.parquet"
    done = run("--model", model, "--llm", server.url, data, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    alone = run("--model", model, data, "--out", tmp_path / "alone.parquet", "--json")
    assert json.loads(done.stdout)["reached"] >= json.loads(alone.stdout)["reached"]
    assert "llm" not in json.loads(alone.stdout)
    assert {"llm", "search"} == set(pl.read_parquet(out)["origin"])


def test_both_count_half():
    first, second = (parse_template(text) for text in ("N0 + N1", "N0 * N1"))
    found = Generated("a", (Scored(first, klass(first), -9.0, "warm"),))
    proposed = Generated("a", (Scored(second, klass(second), -0.5, "llm"),))
    both = merged(found, proposed)
    assert [one.origin for one in both.scored] in (["warm", "llm"], ["llm", "warm"])
    assert len({round(one.log_prob, 9) for one in both.scored}) == 1
    assert merged(found, Generated("a", ())) == found
    assert merged(Generated("a", ()), proposed) == proposed
    assert generated("a", []).scored == ()


def test_a_budget_that_is_spent_is_said_once(server, data, tmp_path):
    done = run("--llm", server.url, data, "--set", "budget.requests=3", "--out", tmp_path / "c.csv", "--json")
    assert done.exit_code == 0, done.output
    assert done.stderr.count("the budget of 3 requests is spent") == 1
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 2, "Name a model"),
        (("--set", "samples=2"), 2, "Name a model"),
        (("--model", "m", "--set", "samples=2"), 2, "--llm URL"),
        (("--llm", "nowhere"), 1, "is not an address"),
        (("--llm", "http://127.0.0.1:9/v1", "--set", "samples=0"), 2, "samples"),
        (("--llm", "http://127.0.0.1:9/v1", "--set", "sample=2"), 2, "sample"),
    ],
)
def test_what_is_called_wrongly_is_a_sentence(data, tmp_path, options, code, message):
    done = run(*options, data, "--out", tmp_path / "c.csv")
    assert done.exit_code in (1, 2) and message in done.output
    assert "Traceback" not in done.output and not (tmp_path / "c.csv").exists()
    assert done.exit_code == code or done.exit_code == 1


def test_a_refusal_leaves_nothing(server, data, tmp_path):
    server.script = lambda body, number: Fault(404, body=b'{"error": {"message": "no model default"}}')
    done = run("--llm", server.url, data, "--out", tmp_path / "c.csv")
    assert done.exit_code == 1 and "no model default" in done.stderr
    assert not (tmp_path / "c.csv").exists()
