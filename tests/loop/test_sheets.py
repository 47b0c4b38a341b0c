"""A loop whose annotators fill in sheets, and change their minds about earlier ones."""

import csv
import os

import pytest

from toolkit.loop.annotators import annotator_of
from toolkit.loop.loop import Loop
from toolkit.loop.results import write_results
from toolkit.loop.run import create_run, open_run
from toolkit.loop.state import RunState
from toolkit.loop.summary import summary
from toolkit.loop.view import Quiet


def fill_in(run, round_, **changed):
    """Fill in the sheet of a round: the gold equation in each row; `changed` are cells of the first."""
    path = run.folder / "annotate" / f"annotate-round-{round_:02d}.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    gold = dict(run.problems.table.select("id", "equation").iter_rows())
    for row in rows:
        row["equation"] = gold[row["problem_id"]]
    rows[0] |= changed
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    os.utime(path, (round_ + len(changed), round_ + len(changed)))  # the same time in every run


def change_mind(run):
    fill_in(run, 1, equation="", verdict="skip", note="unclear")


class Moment(Quiet):
    """Calls a function when a stage begins."""

    def __init__(self, at, then) -> None:
        self.at, self.then = at, then

    def stage(self, round_, name) -> None:
        if (round_, name) == self.at:
            self.then()


def stop() -> None:
    raise KeyboardInterrupt


def work(run, at, then):
    """The rounds of a run, whose annotators fill in the newest sheet whenever they are waited for."""

    def sleep(seconds):
        fill_in(run, max(item.round for item in run.ledger.batch()))

    return Loop(run, annotator_of(run), view=Moment(at, then), sleep=sleep).rounds().rule


@pytest.mark.parametrize("at", [(2, "train"), (2, "annotate"), (3, "open")])
def test_a_resumed_run_sees_what_was_changed_in_an_earlier_sheet_as_one_that_was_not_stopped(
    tmp_path, tiny, at
):
    config = tiny("annotator.name=file", "known=0", "stop.rounds=2", "solver_each_round=false")
    whole = create_run(tmp_path, "whole", config)
    assert work(whole, at, lambda: change_mind(whole)) == "rounds"
    stopped = create_run(tmp_path, "stopped", config)
    assert work(stopped, at, stop) == "interrupt"
    stopped.ledger.close()
    change_mind(stopped)
    resumed = open_run(tmp_path, "stopped")
    assert work(resumed, None, stop) == "rounds"
    changed = whole.ledger.batch(1)[0].problem_id
    for run in (whole, resumed):
        state = RunState(run)
        assert changed in state.known(2) and changed not in state.known(3)
        assert state.resolutions()[changed].verdict == "skipped"
        assert len(state.known(3)) == 7
    assert resumed.ledger.responses() == whole.ledger.responses()
    assert resumed.ledger.batch() == whole.ledger.batch()
    assert resumed.ledger.metrics() == whole.ledger.metrics()
    assert RunState(resumed).known(3) == RunState(whole).known(3)
    assert resumed.ledger.result(3, "open") == whole.ledger.result(3, "open")


@pytest.fixture
def stopped_in_a_round(tmp_path, tiny):
    """A run that asks about all of its problems in one round, stopped when all but one are answered."""
    config = tiny(
        "annotator.name=file", "known=0", "limit=10", "active.batch=10", "stop.rounds=2", "references=false"
    )
    run = create_run(tmp_path, "a", config)

    def sleep(seconds):
        if not run.ledger.responses():
            return fill_in(run, 1, equation="1 + 1")
        raise KeyboardInterrupt

    assert Loop(run, annotator_of(run), sleep=sleep).rounds().rule == "interrupt"
    return run


def test_a_run_stopped_in_a_round_tells_the_labels_of_that_round_too(stopped_in_a_round):
    run = stopped_in_a_round
    labels = len(run.problems) - 1
    assert write_results(RunState(run))["labels"] == labels == summary(run)["labels"]
    assert f"{labels} of {len(run.problems)} problems" in run.report.read_text(encoding="utf-8")


def test_no_rule_ends_a_resumed_run_before_its_open_round_is_finished(stopped_in_a_round, tmp_path):
    run = stopped_in_a_round
    run.ledger.close()
    resumed = open_run(tmp_path, "a")
    asked_again = []

    def sleep(seconds):
        again = sorted(run.folder.glob("annotate/*-again-*.csv"))
        asked_again.extend(again)
        with again[-1].open(encoding="utf-8-sig", newline="") as file:
            (row,) = csv.DictReader(file)
        row["verdict"] = "skip"
        with again[-1].open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
            writer.writerow(row)

    assert Loop(resumed, annotator_of(resumed), sleep=sleep).rounds().rule == "pool"
    assert asked_again
    assert len(RunState(resumed).known(2)) == len(run.problems) - 1
    assert write_results(RunState(resumed))["labels"] == len(run.problems) - 1


def test_a_rewound_sheet_does_not_count_and_its_problems_are_asked_in_a_new_one(tmp_path, tiny):
    run = create_run(tmp_path, "a", tiny("annotator.name=file", "known=0", "solver_each_round=false"))
    assert work(run, None, stop) == "rounds"
    run.rewind(1)
    assert RunState(run).snapshot()["templates"] == {}
    sheets = []

    def sleep(seconds):
        sheets[:] = sorted(path.name for path in run.folder.glob("annotate/annotate-*.csv"))
        raise KeyboardInterrupt

    Loop(run, annotator_of(run), sleep=sleep).rounds()
    assert run.ledger.responses() == []
    assert sheets == ["annotate-round-01-again-1.csv", "annotate-round-01.csv"]
