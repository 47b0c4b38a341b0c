"""Folders that somebody sent: whatever lies in them, no file outside of them is touched."""

import os
import struct
from pathlib import Path

import pytest
from click.testing import CliRunner
from commands import sets
from tiny import TINY

from toolkit.cli import main
from toolkit.config import load_config
from toolkit.loop.config import LoopConfig
from toolkit.loop.run import create_run, run_names

COMMANDS = {
    "resume": ("loop", "--run", "gift", "--resume"),
    "rewind": ("loop", "--run", "gift", "--rewind", "1"),
    "delete": ("runs", "delete", "gift", "--yes"),
    "show": ("runs", "show", "gift"),
    "repair": ("runs", "repair", "gift"),
    "status": ("annotate", "status", "--run", "gift"),
}


def call(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.fixture
def gift(tmp_path) -> Path:
    run = create_run(tmp_path / "runs", "gift", load_config(LoopConfig, None, (*TINY, "stop.rounds=1")))
    run.ledger.close()
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis").write_text("precious")
    return run.folder


def untouched(gift: Path) -> bool:
    precious = gift.parent.parent / "precious"
    (thesis,) = precious.iterdir()
    return thesis.read_text() == "precious"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "name",
    [
        *("lock", "state.sqlite", "state.sqlite-wal", "state.sqlite-shm", "state.sqlite-journal"),
        *("config.yaml", "problems.parquet", "report.html", "annotate/annotate-round-01.csv"),
        *("label-studio/tasks.sqlite", "round-01/model/weights.safetensors", "solver/solver.json"),
    ],
)
def test_no_link_in_a_run_is_followed_out_of_it(gift, command, name):
    path = gift / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(gift.parent.parent / "precious" / "thesis")
    code, said = call(*COMMANDS[command], "--runs", gift.parent)
    assert code == 1 and f"{path}: this link leads out of {gift}" in said
    assert untouched(gift) and path.is_symlink()


@pytest.mark.parametrize("command", ["resume", "delete"])
@pytest.mark.parametrize("name", ["round-01", "annotate", "label-studio", "solver"])
def test_no_linked_folder_in_a_run_is_followed_out_of_it(gift, command, name):
    (gift / name).symlink_to(gift.parent.parent / "precious")
    code, said = call(*COMMANDS[command], "--runs", gift.parent)
    assert code == 1 and f"{gift / name}: this link leads out of {gift}" in said
    assert untouched(gift)


def test_a_pipe_in_a_run_blocks_nobody(gift):
    (gift / "config.yaml").unlink()
    os.mkfifo(gift / "config.yaml")
    for command in COMMANDS.values():
        code, said = call(*command, "--runs", gift.parent)
        assert code == 1 and f"{gift / 'config.yaml'}: this is not an ordinary file" in said
    assert call("runs", "list", "--runs", gift.parent)[0] == 0


def test_a_forged_journal_does_not_make_sqlite_delete_a_file(gift):
    """A rollback journal may name another journal, which SQLite deletes once it has rolled back."""
    magic, page = bytes.fromhex("d9d505f920a163d7"), 4096
    victim = str(gift.parent.parent / "precious" / "thesis").encode()
    pages = (gift / "state.sqlite").stat().st_size // page
    header = (magic + struct.pack(">5I", 0, 0, pages, 512, page)).ljust(512, b"\0")
    name = struct.pack(">I", 0x40000000 // page + 1) + victim + struct.pack(">2I", len(victim), sum(victim))
    journal = gift / "state.sqlite-journal"
    journal.write_bytes(header + name + magic)
    for command in COMMANDS.values():
        code, said = call(*command, "--runs", gift.parent)
        assert code == 1 and f"{journal}: warmkit does not write such a file." in said
        assert untouched(gift)


@pytest.mark.parametrize("kind", ["trigger", "view"])
def test_a_database_that_acts_by_itself_is_refused(gift, kind):
    import sqlite3

    database = sqlite3.connect(gift / "state.sqlite")
    if kind == "trigger":
        database.execute("CREATE TRIGGER t AFTER INSERT ON stages BEGIN DELETE FROM responses; END")
    else:
        database.execute("DROP TABLE metrics")
        database.execute(
            "CREATE VIEW metrics AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT i AS round, 'pool' AS split, 'x' AS name, i AS value FROM n"
        )
    database.close()
    code, said = call("runs", "show", "gift", "--runs", gift.parent)
    assert code == 1 and "its tables are not those of this version" in said


def test_runs_may_be_links_that_their_owner_made(gift, tmp_path):
    (tmp_path / "mine").symlink_to(gift.parent)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "linked").symlink_to(gift)
    assert call("runs", "show", "gift", "--runs", tmp_path / "mine")[0] == 0
    assert call("runs", "show", "linked", "--runs", tmp_path / "other")[0] == 0
    code, said = call("runs", "delete", "linked", "--yes", "--runs", tmp_path / "other")
    assert code == 1 and "can't be deleted" in said
    assert run_names(gift.parent) == ["gift"]
    assert call("runs", "delete", "gift", "--yes", "--runs", tmp_path / "mine")[0] == 0
    assert run_names(gift.parent) == []


@pytest.mark.parametrize("name", ["tensorboard", "solver", "lock", "weights.safetensors"])
def test_training_does_not_follow_a_link_out_of_its_folder(tmp_path, name):
    (tmp_path / "precious").mkdir()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / name).symlink_to(tmp_path / "precious")
    settings = sets(("train.epochs=1", "model.hidden=8"))
    code, said = call("train", "bundled:en", "--out", tmp_path / "model", *settings, "--then-solver", "gts")
    assert code == 1 and f"{tmp_path / 'model' / name}: this link leads out of" in said
    assert list((tmp_path / "precious").iterdir()) == []


@pytest.mark.parametrize(("verb", "name"), [("solve", "solver.json"), ("generate", "model.json")])
@pytest.mark.parametrize("what", ["link", "pipe"])
def test_a_model_or_solver_of_somebody_else_leads_nowhere(tmp_path, verb, name, what):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / name).write_text("{}")
    if what == "pipe":
        os.mkfifo(folder / "weights.safetensors")
    else:
        (folder / "weights.safetensors").symlink_to("/dev/zero")
    words = (
        ("solve", "5 and 6") if verb == "solve" else ("generate", "bundled:en", "--out", tmp_path / "c.csv")
    )
    code, said = call(*words, "--model", folder)
    assert code == 1 and str(folder / "weights.safetensors") in said
