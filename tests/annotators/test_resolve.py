"""What annotators agree on, and that it is what a run learns from."""

import csv
import io
from contextlib import ExitStack, closing

import polars as pl
import pytest
import torch
from tiny import TINY

from toolkit.annotators.overlap import Overlap
from toolkit.annotators.questions import Response, ShownCandidate
from toolkit.annotators.resolve import Resolver
from toolkit.config import load_config
from toolkit.data import ProblemSet, write_table
from toolkit.data.schema import PROBLEMS
from toolkit.equations import klass, parse, show
from toolkit.errors import WarmkitError
from toolkit.loop.annotators import annotator_of
from toolkit.loop.config import LoopConfig
from toolkit.loop.ledger import BatchItem
from toolkit.loop.loop import Loop
from toolkit.loop.run import create_run, open_run
from toolkit.loop.state import RunState

TEXT = "Ann has 5 pens and Bob has 5 pens. Bob gives 3 away. How many pens has Bob?"
TABLE = pl.DataFrame([("p", TEXT, 2.0, None, "en", None)], schema=PROBLEMS, orient="row")
N1_N2 = parse("N1 - N2")


def said(equation, who="ann", template=None, kind="equation", seconds=None):
    when = "2026-01-01T00:00:00+00:00"
    return Response("p", 1, kind, equation, None, who, f"{who}:1:p", when, seconds, template)


def resolution(*responses):
    return Resolver(ProblemSet(TABLE)).resolve(responses)["p"]


def test_the_template_is_what_all_annotators_may_mean():
    for first, second in (("ann", "bob"), ("bob", "ann")):
        found = resolution(said("5 - 3", first), said("N1 - N2", second))
        assert (found.verdict, found.template) == ("accepted", N1_N2)
        assert found.klasses == {klass(N1_N2)}


def test_a_written_equation_alone_means_the_likeliest_template():
    found = resolution(said("5 - 3"))
    assert (found.equation, found.template) == ("5 - 3", parse("N0 - N2"))
    assert len(found.klasses) == 2


def test_two_who_pick_candidates_that_read_the_same_disagree():
    found = resolution(said("5 - 3", "ann", "N0 - N2"), said("5 - 3", "bob", "N1 - N2"))
    assert (found.verdict, found.template, found.klasses) == ("disputed", None, frozenset())
    assert found.disagreement
    assert not resolution(said("5 - 3"), said(None, "bob", kind="wrong_answer")).disagreement


def test_what_is_not_accepted_has_no_template():
    assert resolution(said("5 + 3")).template is None
    assert resolution(said(None, kind="skip")).template is None
    assert resolution(said("5 - 3"), said(None, "bob", kind="wrong_answer")).template is None


N0, N1 = "N0 - N2", "N1 - N2"  # two candidates that give the answer and mean different things


def picked(template, who):
    return said("5 - 3", who, template)


def of_several(*responses, **settings):
    overlap = Overlap(**{"people": 2, **settings})
    return Resolver(ProblemSet(TABLE), overlap).resolve(responses)["p"]


def test_a_problem_waits_for_as_many_people_as_are_wanted():
    one = of_several(picked(N0, "ann"))
    assert (one.verdict, one.missing) == ("accepted", 1)
    assert of_several(picked(N0, "ann"), picked(N0, "ann")).missing == 1  # the same person again
    assert of_several(picked(N0, "ann"), picked(N0, "bob")).missing == 0
    assert of_several(picked(N0, "ann"), said(None, "bob", kind="skip")).missing == 0
    assert of_several(picked(N0, "ann"), people=1).missing == 0


def test_on_disagreement_a_third_is_asked_and_then_most_decide():
    both = (picked(N0, "ann"), picked(N1, "bob"))
    two = of_several(*both)
    assert (two.verdict, two.disagreement, two.missing, two.template) == ("disputed", True, 1, None)
    three = of_several(*both, picked(N1, "eve"))
    assert (three.verdict, three.missing, three.template) == ("accepted", 0, N1_N2)
    none = of_several(*both, said(None, "eve", kind="skip"))
    assert (none.verdict, none.disagreement, none.missing) == ("disputed", True, 0)


def test_without_a_third_they_are_set_aside_or_most_decide():
    both = (picked(N0, "ann"), picked(N1, "bob"))
    for how in ("majority", "set aside"):
        two = of_several(*both, adjudicate=how)
        assert (two.verdict, two.disagreement, two.missing) == ("disputed", True, 0)
    three = (*both, picked(N1, "eve"))
    assert of_several(*three, people=3, adjudicate="majority").template == N1_N2
    aside = of_several(*three, people=3, adjudicate="set aside")
    assert (aside.verdict, aside.disagreement, aside.template) == ("disputed", True, None)


def test_who_was_rejected_is_asked_again_and_no_one_elses_answer_is_shown():
    found = of_several(said("5 + 3", "ann"), picked(N0, "bob"))
    assert (found.verdict, found.missing, found.rejections) == ("accepted", 1, 1)
    assert found.rejected.equation == "5 + 3"
    better = of_several(said("5 + 3", "ann"), picked(N0, "bob"), picked(N0, "ann"))
    assert (better.missing, better.rejected) == (0, None)


def test_a_share_of_problems_is_for_several_people():
    half = Overlap(people=2, share=0.5, seed=3)
    wanted = [half.wanted(f"p{i}") for i in range(400)]
    assert set(wanted) == {1, 2} and 150 < wanted.count(2) < 250
    assert wanted == [half.wanted(f"p{i}") for i in range(400)]
    assert {Overlap(people=2, share=0).wanted(f"p{i}") for i in range(40)} == {1}


@pytest.mark.parametrize("name", ["oracle", "terminal", "file"])
def test_one_person_can_not_be_several(name):
    with pytest.raises(WarmkitError, match="overlap needs several people"):
        load_config(LoopConfig, None, (f"annotator.name={name}", "annotator.overlap=2"))


@pytest.fixture
def start(tmp_path):
    """Makes a run whose problems are like that one: Ann has as many pens as Bob. start("stop.rounds=2")"""
    rows = []
    for i in range(24):
        mine, gone = 5 + i, 3 + i % 2
        text = TEXT.replace("5", str(mine)).replace("3", str(gone))
        rows.append((f"p{i}", text, float(mine - gone), None, "en", None))
    write_table(pl.DataFrame(rows, schema=PROBLEMS, orient="row"), tmp_path / "pens.jsonl")
    common = (*TINY, f"data={tmp_path / 'pens.jsonl'}", "annotator.name=file", "solver_each_round=false")
    torch.set_num_threads(1)
    with ExitStack() as stack:

        def make(*settings):
            run = create_run(tmp_path, "a", load_config(LoopConfig, None, (*common, *settings)))
            stack.callback(run.ledger.close)
            return run

        yield make


def test_D_s_keeps_what_annotators_agreed_on(start):
    run = start()
    problem = run.problems.table.row(0, named=True)
    mine, gone = (int(operand) for operand in run.problems.numbers[0][1:])
    when = "2026-01-01T00:00:00+00:00"
    with run.ledger.transaction():
        run.ledger.record(
            Response(problem["id"], 1, "equation", equation, None, who, f"{who}:1", when, None)
            for who, equation in (("ann", f"{mine} - {gone}"), ("bob", "N1 - N2"))
        )
    snapshot = RunState(run).snapshot()
    assert snapshot == {"templates": {problem["id"]: "N1 - N2"}, "answered": 1, "set_aside": []}


def test_the_ledger_keeps_templates_and_another_pick_is_another_response(start):
    run = start()
    pairs = (ShownCandidate("5 - 3", "N0 - N2"), ShownCandidate("5 - 3", "N1 - N2"))
    with run.ledger.transaction():
        run.ledger.add_batch([BatchItem(1, "p", "why", "random", pairs)])
        assert run.ledger.record([said("5 - 3", template="N0 - N2")]) == 1
        assert run.ledger.record([said("5 - 3", template="N0 - N2")]) == 0
        assert run.ledger.record([said("5 - 3", template="N1 - N2")]) == 1
    assert run.ledger.batch() == [BatchItem(1, "p", "why", "random", pairs)]
    assert run.ledger.responses() == [said("5 - 3", template="N1 - N2")]
    run.ledger.revoke("p")
    assert (run.ledger.responses(), len(run.ledger.recorded())) == ([], 1)
    run.ledger._db.execute("UPDATE responses SET revoked = 2")
    assert run.ledger.recorded() == []


class Sheets:
    """Annotators who fill in all open rows of a round's sheet whenever the loop sleeps."""

    def __init__(self, run, equation="N1 - N2"):
        self.folder, self.equation = run.folder / "annotate", equation

    def rewrite(self, number, change):
        """Saves the sheet of a round with the cells that `change` gives for each row."""
        path = self.folder / f"annotate-round-{number:02d}.csv"
        rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows([row | change(row) for row in rows])
        path.write_bytes(out.getvalue().encode())

    def fill(self, number):
        self.rewrite(number, lambda row: {"equation": self.equation})


class Stops:
    """A view that stops the run when a stage of a round begins."""

    def __init__(self, round_, name):
        self.stage_to_stop = (round_, name)

    def stage(self, round_, name):
        if (round_, name) == self.stage_to_stop:
            raise KeyboardInterrupt

    def progress(self, done, total): ...
    def figures(self, **figures): ...
    def say(self, sentence): ...


def edited(sheets, name):
    """The sheet of round 1 with another equation for one problem."""
    sheets.rewrite(1, lambda row: {"equation": "N0 - N2"} if row["problem_id"] == name else {})


@pytest.mark.parametrize("stopped", [False, True])
def test_what_is_edited_in_an_old_sheet_counts_also_if_the_run_was_stopped(start, stopped):
    run = start("stop.rounds=2")
    sheets = Sheets(run)
    edits = []

    def sleep(seconds):
        number = max(asked.round for asked in run.ledger.batch())
        if number == 2 and not edits:
            if stopped:
                raise KeyboardInterrupt
            edits.append(run.ledger.batch(1)[0].problem_id)
            edited(sheets, edits[0])
        sheets.fill(number)

    stop = Loop(run, annotator_of(run), sleep=sleep).rounds()
    assert stop.rule == ("interrupt" if stopped else "rounds")
    if stopped:
        edits.append(run.ledger.batch(1)[0].problem_id)
        edited(sheets, edits[0])
        sheets.fill(2)
        stop = Loop(run, annotator_of(run), sleep=sleep).rounds()
        assert stop.rule == "rounds"
    state = RunState(run)
    assert {show(template) for template in state.known(2).values()} == {"N1 - N2"}
    assert {name: show(state.known(3)[name]) for name in edits} == dict.fromkeys(edits, "N0 - N2")
    assert len(state.known(3)) == 8


def test_a_revoked_response_stays_revoked_when_its_sheet_is_saved_again(start):
    run = start("stop.rounds=2")
    sheets = Sheets(run)
    Loop(run, annotator_of(run), view=Stops(1, "annotate")).rounds()
    annotator = annotator_of(run)
    annotator.submit(RunState(run).questions(run.ledger.batch(1)))
    sheets.fill(1)
    Loop(run, annotator, view=Stops(2, "open")).rounds()
    first, second = (asked.problem_id for asked in run.ledger.batch(1)[:2])
    assert run.ledger.revoke(first) == 1
    sheets.rewrite(1, lambda row: {"equation": "N0 - N2"} if row["problem_id"] == second else {})
    again = annotator_of(run)
    assert [response.problem_id for response in again.collect()] == [second]
    sheets.rewrite(1, lambda row: {"note": "I mean it"} if row["problem_id"] == first else {})
    assert [response.problem_id for response in again.collect()] == [first]


def test_the_sheets_of_a_rewound_round_are_not_read(start, tmp_path):
    run = start("stop.rounds=2", "annotator.patience=0")
    sheets = Sheets(run)
    Loop(run, annotator_of(run), sleep=lambda seconds: None).rounds()
    run.rewind(2)
    sheets.fill(1)
    sheets.fill(2)
    run.ledger.close()
    reopened = open_run(tmp_path, "a")
    with closing(reopened.ledger):
        assert {response.round for response in annotator_of(reopened).collect()} == {1}
