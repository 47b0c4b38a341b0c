import json
import shutil
from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest
import torch

from toolkit.active.acquire import STRATEGIES
from toolkit.annotators.oracle import Oracle
from toolkit.annotators.questions import Question, Response
from toolkit.compute import LocalCompute
from toolkit.data import read_problems, write_table
from toolkit.data.schema import PROBLEMS
from toolkit.errors import WarmkitError
from toolkit.loop.annotators import annotator_of
from toolkit.loop.loop import Loop
from toolkit.loop.records import FINAL
from toolkit.loop.results import run_figures, write_results
from toolkit.loop.run import create_run, delete_run, locked, open_run, run_names
from toolkit.loop.state import RunState
from toolkit.loop.summary import summary
from toolkit.methods import FitInput
from toolkit.methods.warm import Warm
from toolkit.solvers import load_solver


def finished(root, config, annotator=None, name="a"):
    run = create_run(root, name, config)
    stop = Loop(run, annotator or annotator_of(run), sleep=lambda seconds: None).rounds()
    return run, stop


class Scripted:
    """An annotator that says what a function makes of each question; None is silence."""

    name, location, warnings = "scripted", "somewhere", ()

    def __init__(self, say, waits=False):
        self.say, self.patient, self.open = say, waits, []
        self.submissions = []

    def submit(self, questions: Sequence[Question]) -> None:
        self.open = list(questions)
        self.submissions.append(self.open)

    def collect(self):
        said = [self.say(question) for question in self.open]
        return [one for one in said if one is not None]

    def waits(self) -> bool:
        return self.patient


def response(question: Question, kind="equation", equation=None, note=None, who="ann") -> Response:
    name = f"{who}:{question.round}:{question.problem_id}:{question.attempt}"
    when = "2026-01-01T00:00:00+00:00"
    return Response(question.problem_id, question.round, kind, equation, note, who, name, when, 7.0)


def test_annotated_equations_join_D_s_and_the_figures_follow(tmp_path, tiny):
    run, stop = finished(tmp_path, tiny("stop.rounds=2"))
    assert stop.rule == "rounds"
    state = RunState(run)
    assert [len(state.known(r)) for r in (1, 2, 3)] == [0, 4, 8]
    gold = state.problems.gold_templates
    assert all(gold[name] == template for name, template in state.known(3).items())
    figures = {(r, name): value for r, split, name, value in run.ledger.metrics() if split == "pool"}
    assert [figures[r, "labels"] for r in (1, 2, 3)] == [0, 4, 8]
    asked = [one.problem_id for one in run.ledger.batch()]
    assert len(set(asked)) == 8
    outcome = write_results(state)
    assert outcome == summary(run)
    assert (outcome["rounds"], outcome["labels"], outcome["stopped_by"]) == (2, 8, "rounds")
    assert set(outcome) == {
        *("run", "rounds", "labels", "reached", "gold_equivalent", "answer_accuracy", "stopped_by"),
        *("answer_interval", "constants", "seconds", "report"),
    }
    page = run.report.read_text(encoding="utf-8")
    assert "en-" in page and asked[0] in page
    metrics = pl.read_parquet(run.folder / "metrics.parquet")
    assert metrics.filter(pl.col("name") == "labels")["value"].to_list() == [0, 4, 8]
    equations = pl.read_parquet(run.folder / "equations.parquet")
    assert set(equations.filter(pl.col("origin") == "gold")["id"]) == set(state.known(3))


def test_the_same_seed_asks_the_same_questions_and_another_does_not(tmp_path, tiny):
    asked = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        run, _ = finished(tmp_path, tiny(f"seed={seed}", "solver_each_round=false"), name=name)
        asked.append([one.problem_id for one in run.ledger.batch()])
    assert asked[0] == asked[1] != asked[2]


@pytest.mark.parametrize("strategy", list(STRATEGIES))
def test_every_strategy_fills_a_batch(tmp_path, tiny, strategy):
    config = tiny(
        f"active.strategy={strategy}", "stop.rounds=2", "solver_each_round=false", "active.members=2"
    )
    run, _ = finished(tmp_path, config)
    asked = run.ledger.batch()
    assert [one.round for one in asked] == [1] * 4 + [2] * 4
    assert {one.kind for one in asked} <= {"random", "unsolved", "strategy"}


def test_a_rejected_equation_is_asked_again_with_the_reason_and_at_last_left_aside(tmp_path, tiny):
    annotator = Scripted(lambda question: response(question, equation="1 + 1"))
    run, _ = finished(tmp_path, tiny("annotator.attempts=3", "stop.rounds=1"), annotator)
    assert [len(questions) for questions in annotator.submissions] == [4, 4, 4]
    first, second, third = (questions[0] for questions in annotator.submissions)
    assert first.complaint is None and first.attempt == 0
    assert second.complaint and (second.attempt, third.attempt) == (1, 2)
    assert RunState(run).known(2) == {}
    assert {s.verdict for s in RunState(run).resolutions().values()} == {"rejected"}


@pytest.mark.parametrize(("share", "known"), [(0, 0), (2, 2)])
def test_annotators_who_answer_nothing_or_half_are_not_waited_for_without_end(tmp_path, tiny, share, known):
    gold = {}

    def say(question):
        place = sorted(gold).index(question.problem_id) if question.problem_id in gold else len(gold)
        gold.setdefault(question.problem_id, place)
        chosen = list(gold).index(question.problem_id) < share
        return response(question, equation=truth[question.problem_id]) if chosen else None

    config = tiny("stop.rounds=1", "annotator.patience=5")
    run = create_run(tmp_path, "a", config)
    truth = dict(run.problems.table.select("id", "equation").iter_rows())
    pauses = []
    Loop(run, Scripted(say, waits=True), sleep=pauses.append).rounds()
    assert 5 <= sum(pauses) < 60
    assert len(RunState(run).known(2)) == known
    assert run.ledger.result(1, "annotate") == {"asked": 4, "open": 4 - known}


def test_a_disputed_answer_key_goes_to_the_list_and_not_to_D_s(tmp_path, tiny):
    annotator = Scripted(lambda question: response(question, "wrong_answer", note="It should be 12."))
    run, _ = finished(tmp_path, tiny("stop.rounds=1"), annotator)
    state = RunState(run)
    assert state.known(2) == {}
    assert {s.verdict for s in state.resolutions().values()} == {"disputed"}
    assert not set(state.stored.ids[state.askable(2)]) & set(state.resolutions())
    write_results(state)
    assert "It should be 12." in run.report.read_text(encoding="utf-8")


def test_two_annotators_who_disagree_are_kept_aside(tmp_path, tiny):
    run = create_run(tmp_path, "a", tiny())
    problem = run.problems.table.filter(pl.col("equation").str.contains(r"^\d+ \+ \d+$")).row(0, named=True)
    question = Question(problem["id"], 1, problem["text"], problem["answer"], "en", (), ())
    ann = response(question, equation=problem["equation"], who="ann")
    bob = response(question, "wrong_answer", note="no", who="bob")
    with run.ledger.transaction():
        run.ledger.record([ann])
    assert RunState(run).resolutions()[problem["id"]].verdict == "accepted"
    with run.ledger.transaction():
        run.ledger.record([bob])
    assert RunState(run).resolutions()[problem["id"]].verdict == "disputed"


def test_a_problem_is_asked_until_enough_people_have_answered(tmp_path, tiny):
    asked = []

    def say(question):
        name = names.setdefault(question.problem_id, ["ann", "bob"])
        asked.append((question.problem_id, question.wanted, question.complaint))
        return response(question, equation=truth[question.problem_id], who=name.pop(0))

    names: dict[str, list[str]] = {}
    run = create_run(tmp_path, "a", tiny("annotator.name=python", "annotator.overlap=2", "known=0"))
    truth = dict(run.problems.table.select("id", "equation").iter_rows())
    Loop(run, Scripted(say), sleep=lambda seconds: None).rounds()
    assert [wanted for _, wanted, _ in asked] == [2] * 4 + [1] * 4
    assert {complaint for _, _, complaint in asked} == {None}
    state = RunState(run)
    assert {len(one.annotators) for one in state.resolutions().values()} == {2}
    assert len(state.known(2)) == 4


def test_the_report_counts_every_response(tmp_path, tiny):
    run = create_run(tmp_path, "a", tiny())
    problem = run.problems.table.row(0, named=True)
    asked = Question(problem["id"], 1, problem["text"], problem["answer"], "en", (), ())
    again = replace(asked, attempt=1)
    with run.ledger.transaction():
        run.ledger.record([response(asked, equation="1 + 1"), response(again, equation=problem["equation"])])
    figures = run_figures(RunState(run))
    assert (figures.responses, figures.usable, figures.labels) == (2, 1, 1)


def test_what_an_annotator_said_may_be_edited_revoked_and_rewound_but_is_never_deleted(tmp_path, tiny):
    run, _ = finished(tmp_path, tiny("stop.rounds=2"))
    said = run.ledger.responses()
    edited = Response(**{**said[0].__dict__, "kind": "skip", "equation": None})
    with run.ledger.transaction():
        assert run.ledger.record([edited, edited]) == 1
    assert RunState(run).resolutions()[said[0].problem_id].verdict == "skipped"
    assert run.ledger.revoke(said[1].problem_id) == 1
    assert said[1].problem_id not in RunState(run).resolutions()
    assert run.ledger.revoke("nobody") == 0
    run.rewind(2)
    assert {one.round for one in run.ledger.batch()} == {1}
    assert not run.round_folder(2).exists() and run.round_folder(1).exists()
    kept = run.ledger._db.execute("SELECT count(*) FROM responses").fetchone()[0]
    assert kept == len(said) + 1
    with pytest.raises(WarmkitError, match="no round 7"):
        run.rewind(7)


def test_a_rewound_round_is_done_again_alike(tmp_path, tiny):
    run, _ = finished(tmp_path, tiny("stop.rounds=2"))
    before = run.ledger.batch(), run.ledger.metrics(), RunState(run).known(3)
    run.rewind(2)
    Loop(run, annotator_of(run)).rounds()
    assert (run.ledger.batch(), run.ledger.metrics(), RunState(run).known(3)) == before


def test_a_solver_starts_from_that_of_the_round_before_unless_it_was_undone(tmp_path, tiny):
    run, _ = finished(tmp_path, tiny("stop.rounds=2", "solver.epochs=3", "solver.later_epochs=2"))
    loop = Loop(run, annotator_of(run))
    folders = [run.round_folder(round_) / "solver" for round_ in (1, 2, 3)]
    assert [load_solver(folder).config.epochs for folder in folders] == [3, 2, 2]
    assert load_solver(run.solver_folder(3, FINAL)).config.epochs == 3
    assert [loop._solver_before(round_) for round_ in (1, 2, 3)] == [None, *folders[:2]]
    run.ledger.rewind(2, revoke=False)  # a kill before its folders are deleted
    assert [loop._solver_before(round_) for round_ in (2, 3)] == [folders[0], None]


def test_no_solver_starts_from_another_one_if_that_is_not_wanted(tmp_path, tiny):
    for number, setting in enumerate(("warm_start=false", "solver_each_round=false")):
        run, _ = finished(tmp_path, tiny(setting, "solver.later_epochs=7"), name=f"run-{number}")
        assert load_solver(run.round_folder(2) / "solver").config.epochs == 1


def test_the_final_solver_and_what_it_is_compared_with_are_trained_from_scratch(tmp_path, tiny):
    trained = []

    class Recorded(LocalCompute):
        def fit_solver(self, solver, data, **options):
            trained.append((options["label"], data.config.epochs, data.start is None))
            return super().fit_solver(solver, data, **options)

    run = create_run(tmp_path, "a", tiny("references=true", "solver.epochs=3", "solver.later_epochs=2"))
    Loop(run, compute=Recorded(torch.device("cpu"))).rounds()
    assert trained == [
        ("a-round-01-solver", 3, True),  # also the line without annotations
        ("a-round-02-solver", 2, False),
        ("a-round-02-final-solver", 3, True),
        ("a-round-02-everything-annotated", 3, True),
    ]
    assert not list(run.folder.rglob("*annotat*"))
    measured = {row[2]: row[3] for row in run.ledger.metrics() if row[:2] == (2, "test")}
    final = run.ledger.result(2, FINAL)
    assert measured["answer_accuracy"] == final["answer_accuracy"]
    assert run.ledger.solver_result(2) == final
    assert run.ledger.solver_result(1) == run.ledger.result(1, "solver")


def test_without_solvers_between_the_line_without_annotations_is_trained_at_the_end(tmp_path, tiny):
    run = create_run(tmp_path, "a", tiny("references=true", "solver_each_round=false"))
    Loop(run).rounds()
    assert [stage for round_, stage, _ in run.ledger.stages() if round_ == 2][-3:] == [
        "solver",
        "no annotations",
        "everything annotated",
    ]


def test_budget_cuts_the_last_batch_and_ends_the_run(tmp_path, tiny):
    run, stop = finished(tmp_path, tiny("stop.budget=6", "stop.rounds=null", "stop.kappa=null"))
    assert stop.rule == "budget"
    assert [sum(one.round == r for one in run.ledger.batch()) for r in (1, 2)] == [4, 2]


def test_a_batch_larger_than_the_pool_asks_it_all_and_stops(tmp_path, tiny):
    run, stop = finished(tmp_path, tiny("active.batch=100", "stop.rounds=null"))
    assert stop.rule == "pool"
    assert len(run.ledger.batch()) == 24
    assert len(RunState(run).known(2)) == 24


def test_gold_for_all_leaves_nothing_to_ask_and_gold_for_none_nothing_to_ask_an_oracle(tmp_path, tiny):
    run, stop = finished(tmp_path, tiny("known=1"), name="all")
    assert (stop.rule, run.ledger.batch()) == ("pool", [])
    rows = [(f"p{i}", f"{i} and {i + 3} make", float(2 * i + 3), None, "en", None) for i in range(12)]
    write_table(pl.DataFrame(rows, schema=PROBLEMS, orient="row"), tmp_path / "none.jsonl")
    run, stop = finished(tmp_path, tiny(f"data={tmp_path / 'none.jsonl'}"), name="none")
    assert (stop.rule, run.ledger.batch()) == ("pool", [])
    assert summary(run)["gold_equivalent"] is None
    write_results(RunState(run))
    people = Scripted(lambda question: response(question, "skip"))
    config = tiny(f"data={tmp_path / 'none.jsonl'}", "annotator.name=terminal")
    run, stop = finished(tmp_path, config, people, name="people")
    assert stop.rule == "rounds"
    assert {s.verdict for s in RunState(run).resolutions().values()} == {"skipped"}


def test_errors_of_the_oracle_are_found_where_the_answer_is_wrong(tmp_path, tiny):
    config = tiny("annotator.error_rate=0.9", "annotator.attempts=9", "stop.rounds=1")
    run, _ = finished(tmp_path, config)
    resolutions = RunState(run).resolutions()
    assert sum(s.rejections for s in resolutions.values()) > 0
    assert {s.verdict for s in resolutions.values()} == {"accepted"}


@pytest.mark.parametrize("stage", ["train", "generate", "solver", "choose", "annotate"])
def test_ctrl_c_in_any_stage_keeps_what_is_done_and_resumes_to_the_same_end(tmp_path, tiny, stage):
    class Interrupts:
        def stage(self, round_, name):
            if (round_, name) == (1, stage):
                raise KeyboardInterrupt

        def progress(self, done, total): ...
        def figures(self, **figures): ...
        def say(self, sentence): ...

    whole, _ = finished(tmp_path, tiny(), name="whole")
    run = create_run(tmp_path, "stopped", tiny())
    stop = Loop(run, annotator_of(run), view=Interrupts()).rounds()
    assert stop.rule == "interrupt"
    assert write_results(RunState(run))["stopped_by"] == "interrupt"
    assert "interrupt" in run.report.read_text(encoding="utf-8")
    run.ledger.close()
    again = open_run(tmp_path, "stopped")
    assert Loop(again, annotator_of(again)).rounds().rule == "rounds"
    assert again.ledger.metrics() == whole.ledger.metrics()
    assert again.ledger.batch() == whole.ledger.batch()


def test_a_run_has_one_loop_at_a_time(tmp_path, tiny):
    run = create_run(tmp_path, "a", tiny())
    with locked(run), pytest.raises(WarmkitError, match=r"process \d+ works on this run"), locked(run):
        pass
    with locked(run):
        pass


def test_a_changed_configuration_is_refused_with_the_difference(tmp_path, tiny):
    create_run(tmp_path, "a", tiny())
    with pytest.raises(WarmkitError, match=r"active\.batch: 4 → 5"):
        open_run(tmp_path, "a", tiny("active.batch=5"))
    assert open_run(tmp_path, "a", tiny("stop.rounds=7")).config.stop.rounds == 7


def test_a_run_folder_can_be_moved(tmp_path, tiny):
    run, _ = finished(tmp_path, tiny("stop.rounds=1"))
    run.ledger.close()
    (tmp_path / "elsewhere").mkdir()
    shutil.copytree(run.folder, tmp_path / "elsewhere" / "b")
    moved = open_run(tmp_path / "elsewhere", "b", tiny("stop.rounds=2"))
    assert Loop(moved, annotator_of(moved)).rounds().rule == "rounds"
    assert len(moved.ledger.batch()) == 8


def test_runs_are_named_listed_and_deleted(tmp_path, tiny):
    assert create_run(tmp_path, None, tiny()).name == "run-1"
    assert create_run(tmp_path, None, tiny()).name == "run-2"
    with pytest.raises(WarmkitError, match="this run already exists"):
        create_run(tmp_path, "run-1", tiny())
    for bad in ("../x", "", "a/b", ".hidden"):
        with pytest.raises(WarmkitError, match="can't name a run"):
            create_run(tmp_path, bad or " ", tiny())
    delete_run(tmp_path, "run-1")
    assert run_names(tmp_path) == ["run-2"]
    with pytest.raises(WarmkitError, match="no such run"):
        open_run(tmp_path, "run-1")


def test_late_and_foreign_responses_do_no_harm(tmp_path, tiny):
    class Chatty(Oracle):
        def collect(self):
            said = list(super().collect())
            strange = (
                [Response("nobody", 1, "equation", "1+1", None, "x", "x:1", "2026", None)] if said else []
            )
            return [*said, *said, *strange]

    run = create_run(tmp_path, "a", tiny())
    Loop(run, Chatty(run.problems.table)).rounds()
    assert len(run.ledger.responses()) == 4
    assert json.dumps(summary(run))


@pytest.mark.parametrize(("warm_start", "epochs"), [(True, [2, 3]), (False, [2, 2])])
def test_a_round_goes_on_from_the_model_of_the_round_before_or_begins_anew(
    tmp_path, tiny, warm_start, epochs
):
    begun_with = []

    class Listening(LocalCompute):
        def fit(self, method, data, folder, options, *, label):
            begun_with.append(options.start)
            return super().fit(method, data, folder, options, label=label)

    config = tiny("warm.train.epochs=2", "later_epochs=3", f"warm_start={warm_start}".lower())
    run = create_run(tmp_path, "a", config)
    Loop(run, annotator_of(run), compute=Listening(torch.device("cpu"))).rounds()
    assert [run.ledger.result(round_, "train")["epochs"] for round_ in (1, 2)] == epochs
    assert begun_with == [None, run.round_folder(1) / "model" if warm_start else None]


def test_a_run_can_begin_with_a_model_of_other_problems(tmp_path, tiny):
    model = tmp_path / "model"
    config = tiny("stop.rounds=1", "later_epochs=2")
    Warm.fit(FitInput(read_problems("bundled:en").take(range(100, 150)), {}, config.warm), model)
    run = create_run(tmp_path, "a", config)
    run.begin_with(model)
    shutil.rmtree(model)  # the run has what it needs
    Loop(run, annotator_of(run)).rounds()
    assert [run.ledger.result(round_, "train")["epochs"] for round_ in (1, 2)] == [2, 2]
