"""`warmkit annotate push, pull, status, watch` against a real server."""

import json
import sys
from types import SimpleNamespace

import polars as pl
import pytest
from click.testing import CliRunner
from integration.annotators import Annotators, bad, picked, written
from tiny import TINY

from annotation.keys import KEY, URL
from annotation.store import TaskStore
from toolkit.cli import main
from toolkit.config import load_config
from toolkit.data import Candidates
from toolkit.data.schema import ANNOTATIONS, CANDIDATES
from toolkit.loop.config import LoopConfig
from toolkit.loop.ledger import BatchItem
from toolkit.loop.part import found_part
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


def answer(*arguments):
    return json.loads(annotate(*arguments, "--json").stdout)


@pytest.fixture
def annotators(folder, label_studio):
    sent = answer("push", "mine.jsonl", "--title", "by hand", "--store", "store")
    assert (sent["sent"], sent["already_sent"]) == (4, 0)
    return Annotators(label_studio.client, sent["project"])


def test_a_dry_run_makes_nothing(folder):
    assert answer("push", "mine.jsonl", "--dry-run")["would_send"] == 4
    assert [path.name for path in folder.iterdir()] == ["mine.jsonl"]


def test_push_again_sends_what_is_new_and_asks_again_what_was_rejected(annotators):
    assert answer("push", "mine.jsonl", "--store", "store")["sent"] == 0
    annotators.annotate(annotators.task("p0"), written("76 + 25"))
    answer("pull", "--store", "store")
    assert answer("push", "mine.jsonl", "--store", "store", "--dry-run")["would_send"] == 1
    assert answer("push", "mine.jsonl", "--store", "store")["sent"] == 1
    assert annotators.names()[-1] == ("p0", 1, 1)
    assert "It gives 101" in list(annotators.tasks().values())[-1]["complaint"]


def test_pull_writes_the_annotations_table_and_counts_verdicts(annotators, folder, label_studio):
    annotators.annotate(annotators.task("p0"), written("76 - 25"))
    annotators.annotate(annotators.task("p1"), bad("wrong answer key"))
    annotators.annotate(annotators.task("p2"), [], was_cancelled=True)
    annotators.annotate(annotators.task("p3"), written("1 + 1"))
    done = answer("pull", "--store", "store")
    assert (done["new"], done["annotations"]) == (4, 4)
    assert done["verdicts"] == {"accepted": 1, "rejected": 1, "disputed": 1, "skipped": 1}
    table = pl.read_parquet(folder / "store" / "annotations.parquet")
    assert table.schema == ANNOTATIONS
    first = table.row(0, named=True)
    assert (first["problem_id"], first["equation"], first["verdict"]) == ("p0", "76 - 25", "accepted")
    assert (first["annotator"], first["round"]) == (label_studio.user, 1)
    assert "4 are new" not in annotate("pull", "--store", "store").output


def test_status_shows_who_did_what_and_how_fast(annotators, label_studio):
    annotators.annotate(annotators.task("p0"), written("76 - 25"), lead_time=36)
    annotators.annotate(annotators.task("p1"), [], was_cancelled=True, lead_time=36)
    found = answer("status", "--store", "store")
    assert (found["tasks"], found["answered"], found["open"]) == (4, 2, 2)
    (row,) = found["annotators"]
    assert (row["annotator"], row["accepted"], row["skipped"]) == (label_studio.user, 1, 1)
    assert row["per_hour"] == pytest.approx(100)
    shown = annotate("status", "--store", "store", "--offline").output
    assert "2 of 4 tasks are answered, 2 are open" in shown and "per hour" in shown


def test_watch_shows_what_comes_and_ends_when_all_is_answered(annotators):
    for name in ("p0", "p1", "p2", "p3"):
        annotators.annotate(annotators.task(name), written("76 - 25"))
    lines = annotate("watch", "--store", "store", "--json", "--every", "0.1").stdout.splitlines()
    assert [json.loads(line)["problem_id"] for line in lines] == ["p0", "p1", "p2", "p3"]
    assert [json.loads(line)["verdict"] for line in lines] == ["accepted"] + ["rejected"] * 3
    assert "All 4 tasks are answered." in annotate("watch", "--store", "store").output


def test_watch_says_that_it_waits(annotators, monkeypatch):
    def work(seconds):
        for name in ("p0", "p1", "p2", "p3"):
            annotators.annotate(annotators.task(name), written("76 - 25"))

    watch_module = sys.modules["toolkit.cli.annotate.watch"]  # its package has the command under that name
    monkeypatch.setattr(watch_module, "time", SimpleNamespace(sleep=work))
    watched = annotate("watch", "--store", "store", "--json")
    assert "Waiting for 4 of 4 tasks: " in watched.stderr and len(watched.stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("push",), 2, "Give a problem set"),
        (("push", "nowhere.jsonl"), 1, "nowhere.jsonl"),
        (("pull",), 1, "Begin with: warmkit annotate push"),
        (("status", "--run", "none"), 1, "there is no such run"),
        (("watch", "--store", "a", "--run", "b"), 2, "not both"),
    ],
)
def test_what_is_called_wrongly_is_a_sentence(folder, arguments, code, words):
    assert words in annotate(*arguments, code=code).output
    assert [path.name for path in folder.iterdir()] == ["mine.jsonl"]


def test_with_a_run_push_and_pull_work_on_its_store_and_ledger(folder, label_studio):
    settings = (*TINY, "annotator.name=label-studio", "known=0")
    run = create_run(folder / "runs", "mine", load_config(LoopConfig, None, settings))
    problem = run.problems.table.row(0, named=True)
    nothing = Candidates(pl.DataFrame(schema=CANDIDATES))
    run.found(1).write(iter([found_part(run.problems, {}, nothing)]))
    with run.ledger.transaction():
        run.ledger.add_batch([BatchItem(1, problem["id"], "for a test", "random", ())])
    run.ledger.close()
    sent = answer("push", "--run", "mine")
    assert sent["sent"] == 1
    annotators = Annotators(label_studio.client, sent["project"])
    annotators.annotate(annotators.task(problem["id"]), written(problem["equation"]))
    assert answer("pull", "--run", "mine")["verdicts"]["accepted"] == 1
    again = open_run(folder / "runs", "mine")
    assert [one.equation for one in again.ledger.responses()] == [problem["equation"]]
    again.ledger.close()
    assert TaskStore(folder / "runs" / "mine" / "label-studio").project == sent["project"]


def test_a_picked_candidate_counts(annotators):
    annotators.annotate(annotators.task("p0"), picked("N0 - N1"))
    assert answer("pull", "--store", "store")["verdicts"]["accepted"] == 1
