"""`warmkit runs repair`: what can be read of a damaged ledger is saved."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from toolkit.annotators.questions import Response, ShownCandidate
from toolkit.cli import main
from toolkit.config import load_config
from toolkit.loop import repair
from toolkit.loop.config import LoopConfig
from toolkit.loop.ledger import BatchItem, Ledger
from toolkit.loop.run import create_run, open_run

ROUNDS, BATCH = 4, 40
FIGURES = {
    **{"temperature": 1.0, "labels": 3, "known": 3, "reached": 0.5, "gold_equivalent": None},
    **{"random_error": None, "confidence": 0.5, "uncertainty": 0.5},
}


def call(folder: Path, *words: str) -> Result:
    result = CliRunner().invoke(main, [*words, "--runs", str(folder.parent)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def repaired(folder: Path) -> dict:
    result = call(folder, "runs", "repair", folder.name, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    """A run with many responses, so that its ledger has many pages."""
    config = load_config(LoopConfig, None, ["limit=200"])
    run = create_run(tmp_path_factory.mktemp("runs"), "a", config)
    problems = iter(run.problems.ids)
    with run.ledger.transaction():
        for round_ in range(1, ROUNDS + 1):
            chosen = [next(problems) for _ in range(BATCH)]
            shown = (ShownCandidate("5 - 3", "N1 - N2"),)
            batch = [BatchItem(round_, name, "why", "random", shown) for name in chosen]
            templates = dict.fromkeys(run.problems.ids[: BATCH * (round_ - 1)], "N0 + N1")
            run.ledger.finish(round_, "open", 1.0, {"templates": templates, "answered": 0, "set_aside": []})
            run.ledger.finish(round_, "train", 1.0, {"epochs": 1})
            run.ledger.finish(round_, "generate", 1.0, FIGURES)
            run.ledger.measure(round_, "pool", FIGURES)
            solved = {"answer_accuracy": 0.5, "class_accuracy": None, "right": "10"}
            run.ledger.finish(round_, "solver", 1.0, solved)
            run.ledger.measure(round_, "test", solved)
            result = {"batch": [(item.problem_id, item.why, item.kind, item.candidates) for item in batch]}
            run.ledger.finish(round_, "choose", 1.0, result)
            run.ledger.add_batch(batch)
            run.ledger.record(
                Response(name, round_, "equation", "1 + 2", "x" * 300, "ann", f"{round_}:{name}", "2026", 1.0)
                for name in chosen
            )
            run.ledger.finish(round_, "annotate", 1.0, {"asked": BATCH, "open": 0})
        run.ledger.set_fact("end", {"rule": "rounds", "sentence": "It ended.", "round": 5})
    number = run.ledger.begin_request("key")
    run.ledger.finish_request(number, 50, 10)
    run.ledger.hear("key", run.problems.ids[0], '{"equation": "N0"}', "another answer")
    run.ledger.close()
    return run.folder


@pytest.fixture
def folder(original, tmp_path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "a"))


def content(folder: Path) -> dict[str, list]:
    with closing(sqlite3.connect(folder / "state.sqlite")) as database:
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def overwrite(path: Path, at: int, content: bytes) -> None:
    with path.open("rb+") as file:
        file.seek(at)
        file.write(content)


def pages_of(path: Path, table: str) -> list[int]:
    """The leaf pages of a table, but for the first and the last."""
    with closing(sqlite3.connect(path)) as database:
        (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    raw = path.read_bytes()
    page = raw[4096 * (root - 1) : 4096 * root]
    assert page[0] == 5, "the table has one page alone"
    cells = int.from_bytes(page[3:5], "big")
    offsets = [int.from_bytes(page[12 + 2 * i : 14 + 2 * i], "big") for i in range(cells)]
    return [int.from_bytes(page[offset : offset + 4], "big") for offset in offsets[1:]]


def test_a_whole_run_is_not_changed(folder):
    before = (folder / "state.sqlite").read_bytes()
    assert repaired(folder)["damaged_file"] is None
    assert "its state is whole. Nothing was changed." in call(folder, "runs", "repair", "a").output
    assert (folder / "state.sqlite").read_bytes() == before


def test_a_damaged_page_costs_its_responses_and_no_others(folder):
    whole, state = content(folder), folder / "state.sqlite"
    overwrite(state, 4096 * (pages_of(state, "responses")[3] - 1), b"\xff" * 4096)
    damaged = state.read_bytes()
    shown = call(folder, "runs", "show", "a")
    assert shown.exit_code == 1 and "`warmkit runs repair` saves what can be read." in shown.output
    done = repaired(folder)
    lost = done["lost"]["responses"]
    assert 0 < lost < 20 and done["saved"]["responses"] == ROUNDS * BATCH - lost
    assert f"{ROUNDS * BATCH - lost} of {ROUNDS * BATCH} responses" in shown.output
    assert Path(done["damaged_file"]).read_bytes() == damaged
    after = content(folder)
    assert set(after["responses"]) < set(whole["responses"])
    assert {name: rows for name, rows in after.items() if name != "responses"} == {
        name: rows for name, rows in whole.items() if name != "responses"
    }
    assert call(folder, "runs", "show", "a").exit_code == 0
    assert repaired(folder)["damaged_file"] is None  # once is enough


@pytest.mark.parametrize("damage", ["header", "first page", "zeros"])
def test_the_first_page_can_be_lost_without_a_loss(folder, damage):
    whole = content(folder)
    ruin = {"header": b"not a database", "first page": b"\xff" * 4096, "zeros": bytes(4096)}
    overwrite(folder / "state.sqlite", 0, ruin[damage])
    done = repaired(folder)
    assert not any(done["lost"].values()) and done["again"] == []
    assert content(folder) == whole


def test_batches_and_figures_that_are_lost_are_taken_from_their_stages(folder):
    whole = content(folder)
    with closing(sqlite3.connect(folder / "state.sqlite", isolation_level=None)) as database:
        database.execute("UPDATE asked SET candidates = '[[1' WHERE round = 2")
        database.execute("UPDATE metrics SET value = 'much' WHERE name = 'reached'")
        database.execute("DELETE FROM stages WHERE round = 3 AND stage = 'choose'")
    done = repaired(folder)
    assert done["lost"] == dict.fromkeys(done["lost"], 0)
    after = content(folder)
    for name in ("asked", "metrics", "responses", "facts"):
        assert sorted(after[name]) == sorted(whole[name])
    assert {row[:2] for row in after["stages"]} == {row[:2] for row in whole["stages"]}


def test_stages_after_a_lost_one_are_done_again_and_responses_to_them_still_count(folder):
    whole = content(folder)
    with closing(sqlite3.connect(folder / "state.sqlite", isolation_level=None)) as database:
        database.execute("UPDATE stages SET result = '{' WHERE round = 2 AND stage = 'generate'")
    done = repaired(folder)
    assert done["again"][0] == {"round": 2, "stage": "generate"}
    with closing(Ledger(folder / "state.sqlite")) as ledger:
        last = [(round_, stage) for round_, stage, _ in ledger.stages()][-2:]
        assert last == [(2, "open"), (2, "train")]
        assert {item.round for item in ledger.batch()} == {1}
        assert {round_ for round_, *_ in ledger.metrics()} == {1}
        assert ledger.fact("end") is None and len(ledger.responses()) == ROUNDS * BATCH
    assert content(folder)["responses"] == whole["responses"]
    said = call(folder, "runs", "list").stdout
    assert "stopped" in said


def test_a_journal_that_was_not_merged_is_saved_too(folder):
    run = open_run(folder.parent, "a")
    with run.ledger.transaction():
        run.ledger.record([Response("p", 4, "skip", None, None, "bob", "late", "2026", None)])
    killed = Path(shutil.copytree(folder, folder.parent / "killed"))  # before it was merged
    run.ledger.close()
    assert (killed / "state.sqlite-wal").stat().st_size > 0
    overwrite(killed / "state.sqlite", 0, b"\xff" * 100)
    done = repaired(killed)
    assert done["saved"]["responses"] == ROUNDS * BATCH + 1
    assert Path(f"{done['damaged_file']}-wal").exists()


@pytest.mark.parametrize("stop", range(1, 5))
def test_a_repair_that_is_killed_goes_on(folder, stop, monkeypatch):
    whole = content(folder)
    overwrite(folder / "state.sqlite", 0, bytes(100))
    (folder / "state.sqlite-wal").write_bytes(b"")
    moves = 0

    class Killed(BaseException):
        pass

    def counted(move):
        def moved(*arguments, **options):
            nonlocal moves
            moves += 1
            if moves == stop:
                raise Killed
            return move(*arguments, **options)

        return moved

    with monkeypatch.context() as patch:
        for name in ("rename", "replace", "unlink"):
            patch.setattr(Path, name, counted(getattr(Path, name)))
        with pytest.raises(Killed):
            repair.repair_run(folder.parent, "a")
    assert repaired(folder)["saved"]["responses"] == ROUNDS * BATCH
    assert content(folder) == whole
    assert [path.name for path in folder.glob("*.damaged-*")].count("state.sqlite.damaged-1") == 1


@pytest.mark.parametrize("damage", ["missing", "empty", "noise"])
def test_if_nothing_can_be_read_nothing_is_changed(folder, damage):
    state = folder / "state.sqlite"
    state.unlink()
    if damage != "missing":
        state.write_bytes(b"" if damage == "empty" else b"noise" * 10_000)
    before = sorted(path.name for path in folder.iterdir())
    for words in (("runs", "repair", "a"), ("runs", "show", "a"), ("loop", "--run", "a", "--resume")):
        result = call(folder, *words)
        assert result.exit_code == 1 and str(state) in result.output
    assert sorted({path.name for path in folder.iterdir()} - {"lock"}) == before


def test_a_run_of_another_version_or_no_run_at_all_is_not_repaired(folder):
    with closing(Ledger(folder / "state.sqlite")) as ledger, ledger.transaction():
        ledger.set_fact("format", 1)
    assert "another version of warmkit made this run" in call(folder, "runs", "repair", "a").output
    assert "there is no such run" in call(folder, "runs", "repair", "b").output
    assert not list(folder.glob("*damaged*"))


def test_a_repaired_run_says_what_it_saved_and_how_to_go_on(folder):
    with closing(sqlite3.connect(folder / "state.sqlite", isolation_level=None)) as database:
        database.execute("UPDATE stages SET seconds = 'long' WHERE round = 4 AND stage = 'annotate'")
    lines = call(folder, "runs", "repair", "a").stdout.splitlines()
    assert ["responses", "160", "0"] in [line.split() for line in lines]
    assert lines[-2].startswith("From annotate in round 4 on, stages are done again: warmkit loop --run a")
    assert lines[-1] == f"The damaged file is {folder / 'state.sqlite.damaged-1'}"
