"""`warmkit annotate push, pull, status, watch` against a real server."""

import json

import polars as pl
import pytest
from click.testing import CliRunner
from integration.people import People, bad, picked, written
from tiny import TINY

from annotation.book import Book
from annotation.keys import KEY, URL
from toolkit.cli import main
from toolkit.config import load_config
from toolkit.data.schema import ANNOTATIONS
from toolkit.loop.config import LoopConfig
from toolkit.loop.ledger import Asked
from toolkit.loop.run import create_run, open_run

PROBLEMS = [
    {
        "id": f"p{i}",
        "text": f"Neha had {76 + i} books. She gave 25 away. How many are left?",
        "answer": 51 + i,
    }
    for i in range(4)
]


@pytest.fixture
def folder(tmp_path, label_studio, monkeypatch):
    monkeypatch.setenv(URL, label_studio.url)
    monkeypatch.setenv(KEY, label_studio.key)
    monkeypatch.chdir(tmp_path)
    lines = (json.dumps(problem) + "\n" for problem in PROBLEMS)
    (tmp_path / "mine.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def annotate(*arguments, code=0):
    done = CliRunner().invoke(main, ["annotate", *arguments])
    assert done.exit_code == code, done.output
    return done


def said(*arguments):
    return json.loads(annotate(*arguments, "--json").stdout)


@pytest.fixture
def people(folder, label_studio):
    sent = said("push", "mine.jsonl", "--project", "by hand", "--book", "book")
    assert (sent["sent"], sent["there"]) == (4, 0)
    return People(label_studio.client, sent["project"])


def test_a_dry_run_makes_nothing(folder):
    assert said("push", "mine.jsonl", "--dry-run")["would_send"] == 4
    assert [path.name for path in folder.iterdir()] == ["mine.jsonl"]


def test_push_again_sends_what_is_new_and_asks_again_what_was_rejected(people):
    assert said("push", "mine.jsonl", "--book", "book")["sent"] == 0
    people.annotate(people.task("p0"), written("76 + 25"))
    said("pull", "--book", "book")
    assert said("push", "mine.jsonl", "--book", "book", "--dry-run")["would_send"] == 1
    assert said("push", "mine.jsonl", "--book", "book")["sent"] == 1
    assert people.names()[-1] == ("p0", 1, 1)
    assert "It gives 101" in list(people.tasks().values())[-1]["complaint"]


def test_pull_writes_the_annotations_table_and_counts_verdicts(people, folder, label_studio):
    people.annotate(people.task("p0"), written("76 - 25"))
    people.annotate(people.task("p1"), bad("wrong answer key"))
    people.annotate(people.task("p2"), [], was_cancelled=True)
    people.annotate(people.task("p3"), written("1 + 1"))
    done = said("pull", "--book", "book")
    assert (done["new"], done["annotations"]) == (4, 4)
    assert done["verdicts"] == {"accepted": 1, "rejected": 1, "disputed": 1, "skipped": 1}
    table = pl.read_parquet(folder / "book" / "annotations.parquet")
    assert table.schema == ANNOTATIONS
    first = table.row(0, named=True)
    assert (first["problem_id"], first["equation"], first["verdict"]) == ("p0", "76 - 25", "accepted")
    assert (first["annotator"], first["round"]) == (label_studio.user, 1)
    assert "4 are new" not in annotate("pull", "--book", "book").output


def test_status_shows_who_did_what_and_how_fast(people, label_studio):
    people.annotate(people.task("p0"), written("76 - 25"), lead_time=36)
    people.annotate(people.task("p1"), [], was_cancelled=True, lead_time=36)
    found = said("status", "--book", "book")
    assert (found["tasks"], found["answered"], found["open"]) == (4, 2, 2)
    (row,) = found["annotators"]
    assert (row["annotator"], row["accepted"], row["skipped"]) == (label_studio.user, 1, 1)
    assert row["per_hour"] == pytest.approx(100)
    shown = annotate("status", "--book", "book", "--offline").output
    assert "2 of 4 tasks are answered, 2 are open" in shown and "per hour" in shown


def test_watch_shows_what_comes_and_ends_when_all_is_answered(people):
    for name in ("p0", "p1", "p2", "p3"):
        people.annotate(people.task(name), written("76 - 25"))
    lines = annotate("watch", "--book", "book", "--json", "--every", "0.1").stdout.splitlines()
    assert [json.loads(line)["problem_id"] for line in lines] == ["p0", "p1", "p2", "p3"]
    assert [json.loads(line)["verdict"] for line in lines] == ["accepted"] + ["rejected"] * 3
    assert "All 4 tasks are answered." in annotate("watch", "--book", "book").output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("push",), 2, "Give a problem set"),
        (("push", "nowhere.jsonl"), 1, "nowhere.jsonl"),
        (("pull",), 1, "Begin with: warmkit annotate push"),
        (("status", "--run", "none"), 1, "there is no such run"),
        (("watch", "--book", "a", "--run", "b"), 2, "not both"),
    ],
)
def test_what_is_called_wrongly_is_a_sentence(folder, arguments, code, words):
    assert words in annotate(*arguments, code=code).output
    assert [path.name for path in folder.iterdir()] == ["mine.jsonl"]


def test_with_a_run_push_and_pull_work_on_its_book_and_ledger(folder, label_studio):
    settings = (*TINY, "annotator.name=label-studio", "known=0")
    run = create_run(folder / "runs", "mine", load_config(LoopConfig, None, settings))
    problem = run.problems().row(0, named=True)
    table = pl.DataFrame(schema={"problem_id": pl.String, "klass": pl.Int64, "posterior": pl.Float64})
    run.round_folder(1).mkdir()
    table.write_parquet(run.round_folder(1) / "candidates.parquet")
    with run.ledger.transaction():
        run.ledger.ask([Asked(1, problem["id"], "for a test", "random", ())])
    run.ledger.close()
    sent = said("push", "--run", "mine")
    assert sent["sent"] == 1
    people = People(label_studio.client, sent["project"])
    people.annotate(people.task(problem["id"]), written(problem["equation"]))
    assert said("pull", "--run", "mine")["verdicts"]["accepted"] == 1
    again = open_run(folder / "runs", "mine")
    assert [one.equation for one in again.ledger.responses()] == [problem["equation"]]
    again.ledger.close()
    assert Book(folder / "runs" / "mine" / "label-studio").project == sent["project"]


def test_a_picked_candidate_counts(people):
    people.annotate(people.task("p0"), picked("76 - 25"))
    assert said("pull", "--book", "book")["verdicts"]["accepted"] == 1
