"""Run folders that somebody changed: commands work or say what is wrong, and other runs are listed."""

import json
import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
import yaml
from click.testing import CliRunner
from tamper import NASTY, tamper_file, tamper_json
from tiny import TINY

from toolkit.cli import main
from toolkit.config import load_config
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.run import create_run

SETTINGS = (*TINY, "stop.rounds=1", "annotator.error_rate=0.3")
TYPES = {  # of the columns of a response
    **{"number": int, "external_id": str, "problem_id": str, "round": int, "kind": str},
    **{"equation": (str, type(None)), "note": (str, type(None)), "annotator": str, "updated_at": str},
    **{"seconds": (float, int, type(None)), "template": (str, type(None)), "revoked": int},
}
KINDS = ("equation", "wrong_answer", "skip", "withdrawn")


@pytest.fixture(scope="session")
def original(tmp_path_factory) -> Path:
    """A run that has ended after a round, and one whose last write was not merged when it was killed."""
    root = tmp_path_factory.mktemp("runs")
    torch.set_num_threads(1)
    run = create_run(root, "ended", load_config(LoopConfig, None, SETTINGS))
    Loop(run).run()
    run.ledger.close()
    opened = sqlite3.connect(root / "ended" / "state.sqlite")
    opened.execute("UPDATE stages SET seconds = seconds + 1")
    opened.commit()
    shutil.copytree(root / "ended", root / "killed")
    opened.close()
    shutil.copytree(root / "ended", root / "healthy")
    return root


def tamper_table(rng: random.Random, path: Path) -> str:
    """Another value in a table of the ledger, a row less, or one more."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        table = rng.choice(["facts", "stages", "stages", "asked", "responses", "metrics"])
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        rows = [row[0] for row in database.execute(f"SELECT rowid FROM {table}")]
        if not columns or not rows:
            return "nothing"
        row, column = rng.choice(rows), rng.choice(columns)
        (value,) = database.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()
        how = rng.choice(["delete", "value", "value", "json", "json", "drop", "copy"])
        new: Any = rng.choice([one for one in NASTY if one is None or isinstance(one, int | float | str)])
        if how == "json" and isinstance(value, str) and value[:1] in "[{":
            new = json.dumps(tamper_json(rng, json.loads(value)))
        if isinstance(new, int) and abs(new) >= 2**63:
            new = 2**63 - 1
        if isinstance(new, str):
            new = new.encode("utf-8", "replace").decode()
        with suppress(sqlite3.IntegrityError):
            if how == "delete":
                database.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
            elif how == "drop" and rng.random() < 0.3:
                database.execute(f"DROP TABLE {table}")
            elif how == "copy":
                database.execute(f"INSERT INTO {table} SELECT * FROM {table} WHERE rowid = ?", (row,))
            else:
                database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, row))
        return f"{how} {table}.{column} of row {row}: {new!r:.60}"


def tamper_parquet(rng: random.Random, path: Path) -> str:
    table = pl.read_parquet(path)
    column = rng.choice(table.columns)
    how = rng.choice(["drop", "null", "text", "rows", "none", "zero"])
    changed = {
        "drop": lambda: table.drop(column),
        "null": lambda: table.with_columns(pl.lit(None, table.schema[column]).alias(column)),
        "text": lambda: table.with_columns(
            pl.lit(str(rng.choice(NASTY))[:50].replace("\ud800", "")).alias(column)
        ),
        "rows": lambda: table.sample(fraction=0.5, seed=rng.randrange(100)),
        "none": lambda: table.clear(),
        "zero": lambda: table.with_columns(pl.lit(0).cast(table.schema[column]).alias(column)),
    }[how]()
    changed.write_parquet(path)
    return f"{how} {column} of {path.name}"


def tamper_config(rng: random.Random, path: Path) -> str:
    values = tamper_json(rng, yaml.safe_load(path.read_text(encoding="utf-8")))
    path.write_bytes(yaml.safe_dump(values, allow_unicode=True).encode("utf-8", "replace"))
    return "change config.yaml"


def tamper(rng: random.Random, folder: Path, others: Path) -> list[str]:
    done = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        state = [path for path in files if path.name.startswith("state.sqlite")]
        path = rng.choice(rng.choice([files, state or files]))
        ways = {"state.sqlite": tamper_table, "config.yaml": tamper_config}
        way = ways.get(path.name) or (tamper_parquet if path.suffix == ".parquet" else None)
        if way is not None and rng.random() < 0.6:
            with suppress(Exception):  # it was damaged before, so that nobody can change it any more
                done.append(way(rng, path))
        else:
            same = [file for file in others.rglob(path.name) if file.is_file()] or [path]
            done.append(tamper_file(rng, path, same))
    return done


def responses(folder: Path) -> set[tuple[Any, ...]]:
    """The responses that SQLite can read and that are responses, found without any of our code."""
    found: set[tuple[Any, ...]] = set()
    copy = folder.parent / "copy"
    shutil.copytree(folder, copy)
    with suppress(sqlite3.Error), closing(sqlite3.connect(copy / "state.sqlite")) as database:
        for row in database.execute(f"SELECT {', '.join(TYPES)} FROM responses"):
            fits = all(isinstance(value, kind) for value, kind in zip(row, TYPES.values(), strict=True))
            if fits and row[4] in KINDS and 0 <= row[3] <= 10**6 and 0 <= (row[9] or 0) < float("inf"):
                found.add(row)
    shutil.rmtree(copy)
    return found


def call(folder: Path, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, [*words, "--runs", str(folder.parent)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1), result.output
    assert result.exit_code == 0 or str(folder) in result.output, result.output
    return result.exit_code, result.stdout or result.output


def listed(folder: Path) -> None:
    code, said = call(folder, "runs", "list", "--json")
    states = {entry["run"]: entry["state"] for entry in json.loads(said)["runs"]}
    assert code == 0 and states["healthy"] == "ended"
    assert folder.name in states or not any(
        (folder / name).exists() for name in ("config.yaml", "state.sqlite")
    )


def test_a_tampered_run_works_or_is_a_sentence(original, cases, tmp_path):
    for number, rng in enumerate(cases(16)):
        root = tmp_path / str(number)
        shutil.copytree(original / "healthy", root / "healthy")
        folder = Path(shutil.copytree(original / rng.choice(["ended", "killed"]), root / "run"))
        done = tamper(rng, folder, original / "ended")
        try:
            listed(folder)
            call(folder, "runs", "list")
            call(folder, "runs", "show", "run")
            call(folder, "runs", "compare", "run", "healthy")
            readable = responses(folder)
            code, said = call(folder, "runs", "repair", "run", "--json")
            if code == 0:
                assert readable <= responses(folder)
                again = json.loads(call(folder, "runs", "repair", "run", "--json")[1])
                assert again["damaged_file"] is None
            else:
                assert not readable or "another version of warmkit made this run" in said
            listed(folder)
            # With other settings, a run may well take hours.
            if not any("config.yaml" in what for what in done) and rng.random() < 0.3:
                call(folder, "loop", "--run", "run", "--resume")
        except BaseException as error:
            raise AssertionError(f"{folder}: {done}") from error
        shutil.rmtree(root)
