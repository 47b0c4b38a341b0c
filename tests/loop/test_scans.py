"""Loops on more problems than are kept in memory: everything is scanned, and comes to the same."""

import shutil

import polars as pl
import pytest
from click.testing import CliRunner
from commands import sets
from tiny import TINY

from toolkit.cli import main
from toolkit.config import load_config
from toolkit.data import read_problems, write_table
from toolkit.data import stored as storing
from toolkit.data.stored import StoredProblems
from toolkit.errors import WarmkitError
from toolkit.loop import found as finding
from toolkit.loop import run as running
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.results import run_figures, write_results
from toolkit.loop.run import create_run, open_run
from toolkit.loop.state import RunState
from toolkit.loop.summary import right_answers, summary

SETTINGS = ("limit=60", "active.batch=6", "stop.rounds=2", "stop.kappa=null", "annotator.error_rate=0.2")


@pytest.fixture(autouse=True, scope="module")
def small_parts():
    """A part, and a file, has the candidates of sixteen problems."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finding, "FILE", 16)
        patch.setattr("toolkit.loop.loop.PART", 16)
        yield


@pytest.fixture
def nothing_held(monkeypatch):
    """No problem is kept in memory."""
    monkeypatch.setattr(storing, "MOST_HELD", 0)
    monkeypatch.setattr(running, "MOST_HELD", 0)


def decided(root, config):
    """Everything that a run decides and finds out, and the run."""
    run = create_run(root, "a", config)
    loop = Loop(run)
    stop = loop.rounds()
    write_results(loop.state)
    figures, ledger = run_figures(loop.state), run.ledger
    return {
        "stop": stop,
        "problems": pl.read_parquet(run.folder / "problems.parquet").rows(),
        "test": pl.read_parquet(run.folder / "test.parquet").rows(),
        "asked": ledger.batch(),
        "said": ledger.responses(),
        "results": [ledger.result(round_, stage) for round_, stage, _ in ledger.stages()],
        "candidates": [run.candidates(round_).table.rows() for round_ in (1, 2, 3)],
        "equations": run.equations.rows(),
        "calibration": (figures.before, figures.after),
        "chance": figures.spurious,
        "cards": figures.asked,
    }, run


def solver_weights(run):
    return {
        str(path.relative_to(run.folder)): path.read_bytes()
        for stage in ("solver", "final-solver")
        for path in run.folder.glob(f"round-*/{stage}/weights.safetensors")
    }


@pytest.mark.parametrize("strategy", ["entropy", "cost_aware"])
def test_a_scanned_run_decides_what_one_in_memory_does_bit_for_bit(
    tmp_path, tiny, request, strategy, monkeypatch
):
    config = tiny(*SETTINGS, f"active.strategy={strategy}", "known=0.1", "references=true")
    in_memory, run = decided(tmp_path / "memory", config)
    assert run.stored.is_held and not (run.folder / "prepared").exists()
    solvers = solver_weights(run)
    assert len(solvers) == 4
    request.getfixturevalue("nothing_held")
    monkeypatch.delattr(RunState, "lessons")  # solvers learn in parts, too
    scanned, run = decided(tmp_path / "scanned", config)
    assert solver_weights(run) == solvers
    assert not list(run.folder.glob("round-*/lessons"))
    assert not run.stored.is_held and len(list((run.folder / "prepared").iterdir())) == 1
    assert len(list((run.round_folder(1) / "candidates").iterdir())) == 4
    for name, value in in_memory.items():
        assert scanned[name] == value, name
    assert summary(run)["labels"] == summary(open_run(tmp_path / "memory", "a"))["labels"] > 0
    assert right_answers(run).keys() == set(run.test.ids)


def test_a_loop_whose_solver_finds_nothing_to_learn_in_parts_ends(tmp_path, tiny, nothing_held):
    """Annotators say nothing, and no candidate is certain."""
    nothing = ("annotator.skip_rate=1", "solver.threshold=1")
    config = tiny("limit=30", "stop.rounds=1", "active.batch=4", "references=true", *nothing)
    loop = Loop(create_run(tmp_path, "a", config))
    assert loop.rounds().rule == "rounds"
    assert loop.ledger.result(1, "solver")["answer_accuracy"] == 0.0


def test_solvers_learn_from_D_s_and_so_many_other_problems(tmp_path, tiny, nothing_held):
    loop = Loop(create_run(tmp_path, "a", tiny(*SETTINGS, "solver_limit=20", "references=true")))
    assert loop.rounds().rule == "rounds"
    learnt, candidates = loop.state.lessons(3, loop.compute)
    assert len(learnt.problems) == 20 and set(loop.state.known(3)) <= set(learnt.problems.ids)
    assert set(candidates.top) <= set(learnt.problems.ids)
    assert loop.ledger.result(3, "everything annotated") is not None


def test_the_command_learns_from_a_folder_of_parts(tmp_path, nothing_held):
    problems = read_problems("bundled:en").table
    write_table(problems[:30], tmp_path / "parts" / "a.parquet")
    write_table(problems[30:60], tmp_path / "parts" / "b.jsonl")
    write_table(problems[60:70], tmp_path / "test.jsonl")
    write_table(problems[70:80], tmp_path / "gold.jsonl")
    words = ["loop", tmp_path / "parts", "--test", tmp_path / "test.jsonl", "--rounds", "1", "--run", "a"]
    words += ["--runs", tmp_path / "runs", *sets(TINY), "--set", "limit=null"]
    words += ["--set", f"annotator.gold_file={tmp_path / 'gold.jsonl'}"]
    done = CliRunner().invoke(main, [*map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    run = open_run(tmp_path / "runs", "a")
    assert run.stored.ids.to_list() == [*problems["id"][:60], *problems["id"][70:80]]
    assert run.test.ids == tuple(problems["id"][60:70])
    assert run.stored.columns("split")["split"].to_list()[-10:] == ["gold"] * 10
    assert set(run.known(1)) <= set(problems["id"][70:80]) and run.known(1)
    run.ledger.close()
    again = CliRunner().invoke(main, ["runs", "show", "a", "--runs", str(tmp_path / "runs")])
    assert again.exit_code == 0 and "labels used" in again.output


def test_a_problem_of_the_test_set_is_told_before_anything_is_written(tmp_path, tiny, nothing_held):
    problems = read_problems("bundled:en").table
    write_table(problems[:30], tmp_path / "a.parquet")
    write_table(problems[20:40], tmp_path / "test.parquet")
    config = tiny(f"data={tmp_path / 'a.parquet'}", f"test={tmp_path / 'test.parquet'}")
    with pytest.raises(WarmkitError, match=f"Problem {problems['id'][20]} is in .* they must not overlap"):
        create_run(tmp_path / "runs", "a", config)
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that ended."""
    config = load_config(LoopConfig, None, (*TINY, "limit=40", "stop.rounds=1"))
    run = create_run(tmp_path_factory.mktemp("runs"), "a", config)
    Loop(run).rounds()
    return run.folder


@pytest.mark.parametrize("table", ["candidates", "tops"])
@pytest.mark.parametrize("damage", ["gone", "emptied", "halved", "cut off"])
def test_damaged_parts_are_a_sentence(tmp_path, finished, nothing_held, table, damage):
    shutil.copytree(finished, tmp_path / "a")
    part = tmp_path / "a" / "round-02" / table / "part-00000001.parquet"
    if damage == "gone":
        part.unlink()
    elif damage == "cut off":
        part.write_bytes(part.read_bytes()[:-50])
    else:
        rows = pl.read_parquet(part)
        changed = rows.drop("posterior") if damage == "emptied" else rows.head(len(rows) // 2)
        changed.write_parquet(part)
    state = RunState(open_run(tmp_path, "a"))
    with pytest.raises(WarmkitError, match=str(tmp_path / "a" / "round-02")):
        scan(state)
    state.ledger.close()


def scan(state):
    state.found(2).posteriors()
    state.measured(2)


def test_no_more_problems_are_read_than_those_that_are_asked_for(tmp_path, monkeypatch, nothing_held):
    problems = read_problems("bundled:en").take(range(50))
    write_table(problems.table, tmp_path / "p.parquet")
    stored = StoredProblems(tmp_path / "p.parquet", problems.constants)
    checked = []
    check = storing.check_rows
    monkeypatch.setattr(storing, "check_rows", lambda rows, file: checked.append(1) or check(rows, file))
    assert len(stored) == 50 and stored.ids.to_list() == list(problems.ids) and not checked
    few = stored.few({problems.ids[7], "nobody"})
    assert few.ids == (problems.ids[7],) and few.numbers[0] == problems.numbers[7]
    assert stored.few({problems.ids[7]}) is few and checked == [1]
    assert set(stored.few({problems.ids[3]}).ids) == {problems.ids[7], problems.ids[3]}
    assert [part.ids for part in stored.parts(20)] == [part.ids for part in problems.parts(20)]
    assert stored.rows(40, 20).ids == problems.ids[40:]
    assert stored.chosen({problems.ids[9], problems.ids[2]}).ids == (problems.ids[2], problems.ids[9])


def test_a_bad_row_of_stored_problems_is_named(tmp_path, nothing_held):
    table = read_problems("bundled:en").table.head(30)
    bad = pl.when(pl.col("id") == table["id"][24]).then(pl.lit("no number")).otherwise(pl.col("text"))
    table.with_columns(text=bad).write_parquet(tmp_path / "p.parquet")
    stored = StoredProblems(tmp_path / "p.parquet", ())
    with pytest.raises(WarmkitError, match=r"p\.parquet, line 25, id .*: its text has no number"):
        list(stored.parts(10))
