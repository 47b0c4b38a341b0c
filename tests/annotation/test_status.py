"""`warmkit annotate status` without a server: what each annotator did."""

import json

import pytest
from click.testing import CliRunner

from annotation.store import TaskStore
from annotation.tasks import Key, RawAnnotation
from toolkit.annotators.questions import Question
from toolkit.cli import main
from toolkit.data.numbers import find_numbers

TEXT = "Each pack costs {} dollars, with 25 off."


def written(equation):
    values = {"pick": {"choices": ["own"]}, "equation": {"text": [equation]}}
    return json.dumps([{"from_name": name, "value": value} for name, value in values.items()])


@pytest.fixture
def store(tmp_path):
    """Six problems that two people answered: bob is wrong in one, and is refused in another."""
    store = TaskStore(tmp_path / "store")
    asked = []
    for i in range(6):
        text = TEXT.format(50 + 10 * i)
        numbers = tuple(operand.value for operand in find_numbers(text, "en"))
        asked.append(Question(f"p{i}", 1, text, 25.0 + 10 * i, "en", numbers, ()))
    store.ask(asked)
    store.add_tasks({i + 1: Key(f"p{i}", 1, 0) for i in range(6)})
    when = "2026-01-01T00:00:00+00:00"
    rows = []
    for i in range(6):
        right = f"{50 + 10 * i} - 25"
        theirs = {0: "25 * 1", 1: "60 + 25"}.get(i, right)  # 25 is the answer of the first
        for who, equation, seconds in (("ann", right, 20.0), ("bob", theirs, 10.0)):
            number, result = len(rows) + 1, written(equation)
            rows.append(RawAnnotation(number, i + 1, who, when, when, seconds, False, result))
    store.add(rows)
    store.close()
    return tmp_path / "store"


def status(store, *options):
    done = CliRunner().invoke(main, ["annotate", "status", "--store", str(store), "--offline", *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_status_says_who_is_how_good(store):
    ann, bob = json.loads(status(store, "--json"))["team"]
    assert (ann["name"], ann["tasks"], ann["seconds"]) == ("ann", 6, 20.0)
    assert (ann["verdicts"], bob["verdicts"]) == ({"accepted": 6}, {"accepted": 5, "rejected": 1})
    assert ann["agreement"]["pairs"] == bob["agreement"]["pairs"] == 5
    assert ann["agreement"]["low"] <= ann["agreement"]["value"] <= ann["agreement"]["high"]
    assert (ann["gold_asked"], ann["warning"]) == (0, "")
    shown = status(store)
    assert "agreement κ" in shown and "reliability" in shown
