"""D_s keeps the meaning that annotators agreed on, where what they wrote may mean several things."""

from collections.abc import Callable, Iterator

import polars as pl
import pytest
from tiny import TINY

from toolkit.annotators.questions import Question, Response
from toolkit.data.schema import PROBLEMS
from toolkit.equations import parse_template, show, verify
from toolkit.loop.loop import Loop
from toolkit.methods.warm import shards

SETTINGS = {**dict(setting.split("=", 1) for setting in TINY), "stop.rounds": 1, "active.batch": 20}
SECOND = parse_template("N1 - N2")


class People:
    """Annotators who all answer at once: `say` gives who writes what, with the template of a pick."""

    name, location, warnings = "people", "", ()

    def __init__(self, say: Callable[[Question], Iterator[tuple[str, str, str | None]]]) -> None:
        self.say, self.asked = say, []

    def submit(self, questions) -> None:
        self.asked = list(questions)

    def collect(self) -> list[Response]:
        asked, self.asked = self.asked, []
        return [
            Response(
                problem_id=question.problem_id,
                round=question.round,
                kind="equation",
                equation=equation,
                note=None,
                annotator=who,
                external_id=f"{who}/{question.problem_id}/{question.attempt}",
                updated_at="2026-01-01T00:00:00+00:00",
                seconds=None,
                template=template,
            )
            for question in asked
            for who, equation, template in self.say(question)
        ]

    def waits(self) -> bool:
        return False


def both_write(question):
    first, _, lost = question.numbers
    yield "ann", f"{first} - {lost}", None  # may mean N0 - N2 as well
    yield "bob", "N1 - N2", None


def ann_clicks(question):
    first, _, lost = question.numbers
    (clicked,) = [shown for shown in question.candidates if shown.template == "N1 - N2"]
    assert clicked.equation == f"{first} - {lost}"
    yield "ann", clicked.equation, clicked.template


@pytest.fixture
def problems():
    """In each, one number is there twice: 5, 5, 3."""
    rows = []
    for i in range(14):
        pens, lost = 5 + i, 3
        text = (
            f"A box has {pens} red pens and {pens} green pens. {lost} green pens are lost. How many are left?"
        )
        split = "train" if i < 12 else "test"
        rows.append((f"p{i}", text, float(pens - lost), None, "en", split))
    return pl.DataFrame(rows, schema=PROBLEMS, orient="row")


@pytest.mark.parametrize("say", [both_write, ann_clicks])
def test_D_s_training_and_export_have_what_was_agreed_on(problems, say, tmp_path, monkeypatch):
    # The text alone is taken for the first of both numbers: whoever binds it again finds another template.
    assert show(verify("5 - 3", (5, 5, 3), 2.0).templates[0]) == "N0 - N2"
    trained = []
    gold_paths = shards.gold_paths

    def listening(data, layout, longest):
        paths = gold_paths(data, layout, longest)
        trained.append(
            {
                problem_id: layout.template(path.tolist())
                for problem_id, path in zip(data.problems.ids, paths, strict=True)
                if path[0, 0] >= 0
            }
        )
        return paths

    monkeypatch.setattr(shards, "gold_paths", listening)
    loop = Loop.new(tmp_path / "a", problems, annotator=People(say), settings=SETTINGS)
    assert loop.run().rule == "pool"  # all were asked
    agreed = {f"p{i}": SECOND for i in range(12)}
    assert loop.state.known(1) == {}
    assert loop.state.known(2) == agreed
    assert trained == [{}, agreed]
    table = pl.read_parquet(tmp_path / "a" / "equations.parquet")
    assert dict(table.select("id", "template").iter_rows()) == dict.fromkeys(agreed, "N1 - N2")
    assert table["equation"][0] == "5 - 3" and set(table["origin"]) == {"gold"}
