"""What can still be read of a ledger, whatever happened to its file.

A copy of the file is read, so that SQLite changes nothing of the original. If a page is damaged, the rows
before and after it are found by halving the range of row numbers that can't be read.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from toolkit.loop import records
from toolkit.loop.ledger import SCHEMA, Ledger
from toolkit.storage.database import check_files, has_tables
from toolkit.storage.folder import check_file

PAGE = 4096  # bytes; SQLite's default, which all ledgers have
MOST_RANGES = 2_000  # that are tried before the rest of a table is given up
LOWEST, HIGHEST = -(2**63), 2**63 - 1

Row = tuple[Any, ...]


def _result(row: Row) -> None:
    records.RESULTS[row[1]].validate_json(row[3], strict=True)


def _candidates(row: Row) -> None:
    records.CANDIDATES.validate_json(row[5], strict=True)


def _fact(row: Row) -> None:
    records.FACTS[row[0]].validate_json(row[1], strict=True)


@dataclass(frozen=True)
class Table:
    columns: str
    shape: TypeAdapter[Any]  # of a row
    check: Callable[[Row], object] = lambda row: None  # what is written in it as JSON


TABLES = {
    "facts": Table("name, value", TypeAdapter(tuple[str, str]), _fact),
    "stages": Table("round, stage, seconds, result", TypeAdapter(records.WholeStage), _result),
    "asked": Table(
        "round, position, problem_id, why, kind, candidates", TypeAdapter(records.WholeAsked), _candidates
    ),
    "responses": Table(
        "number, external_id, problem_id, round, kind, equation, note, annotator, updated_at, seconds, "
        "template, revoked",
        TypeAdapter(records.WholeResponse),
    ),
    "requests": Table("number, key, question_tokens, reply_tokens", TypeAdapter(records.WholeRequest)),
    "replies": Table("key, problem_id, text, reason", TypeAdapter(records.WholeReply)),
    "metrics": Table("round, split, name, value", TypeAdapter(records.MetricRow)),
}


@dataclass(frozen=True)
class Salvage:
    """The rows of each table that can be read and are whole, and how many rows are known to be lost."""

    rows: dict[str, list[Row]]
    lost: dict[str, int]
    is_whole: bool  # neither a page nor a row is damaged

    def __str__(self) -> str:
        if not any(self.rows.values()):
            return "Nothing of it can be read."
        counts = [
            f"{len(self.rows[name])} of {len(self.rows[name]) + self.lost[name]} {name}"
            for name in ("responses", "stages")
        ]
        return f"{' and '.join(counts)} can be read."


def salvage(path: Path, journal: Path | None = None) -> Salvage:
    """What can be read of a ledger and its write-ahead journal; by default the one beside it."""
    journal = journal or path.with_name(f"{path.name}-wal")
    check_files(path)
    check_file(journal)
    with tempfile.TemporaryDirectory(prefix="warmkit-") as folder:
        copy = Path(folder) / "state.sqlite"
        for first_page in (False, True):
            with suppress(OSError):  # there is none, or nobody may read it
                shutil.copyfile(path, copy)
                shutil.copyfile(journal, Path(folder) / "state.sqlite-wal")
            if not copy.exists() or not copy.stat().st_size:
                break
            if first_page:
                _replace_first_page(copy)
            with closing(sqlite3.connect(copy, isolation_level=None)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                if _is_ledger(database):
                    return _read(database, copy.stat().st_size, repaired=first_page)
    return Salvage({name: [] for name in TABLES}, dict.fromkeys(TABLES, 0), False)


def _is_ledger(database: sqlite3.Connection) -> bool:
    try:
        return has_tables(database, SCHEMA)
    except sqlite3.Error:
        return False


def _replace_first_page(copy: Path) -> None:
    """The first page says where each table begins, and is the same in all ledgers, except for some counts."""
    with tempfile.TemporaryDirectory(prefix="warmkit-") as folder:
        Ledger(Path(folder) / "new.sqlite", new=True).close()
        page = bytearray((Path(folder) / "new.sqlite").read_bytes()[:PAGE])
    pages = copy.stat().st_size // PAGE
    page[28:40] = pages.to_bytes(4, "big") + bytes(8)  # how many pages there are, and that none is free
    with copy.open("rb+") as file:
        file.write(page)


def _read(database: sqlite3.Connection, size: int, repaired: bool) -> Salvage:
    rows: dict[str, list[Row]] = {}
    lost = {}
    is_whole = not repaired and _is_sound(database)
    for name, table in TABLES.items():
        found = _rows(database, name, table.columns, size)
        known = found.keys() | _numbers(database, name, size)
        rows[name] = [row for _, row in sorted(found.items()) if _is_row(table, row)]
        is_whole = is_whole and len(known) == len(rows[name])
        if name == "responses" and known:  # they are numbered from 1 on, and none is ever deleted
            known |= set(range(1, min(max(known), size) + 1))
        lost[name] = len(known) - len(rows[name])
    return Salvage(rows, dict.fromkeys(TABLES, 0) if is_whole else lost, is_whole)


def _is_sound(database: sqlite3.Connection) -> bool:
    try:
        return bool(database.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except sqlite3.Error:
        return False


def _is_row(table: Table, row: Row) -> bool:
    try:
        table.shape.validate_python(row, strict=True)
        table.check(row)
    except (ValidationError, LookupError):
        return False
    return True


def _rows(database: sqlite3.Connection, table: str, columns: str, most: int) -> dict[int, Row]:
    """The rows of a table by their numbers, as far as they can be read."""
    found: dict[int, Row] = {}
    ranges = [(LOWEST, HIGHEST)]
    for _ in range(MOST_RANGES):
        if not ranges:
            break
        low, high = ranges.pop()
        for order in ("ASC", "DESC"):
            query = (
                f"SELECT rowid, {columns} FROM {table} NOT INDEXED "
                f"WHERE rowid BETWEEN ? AND ? ORDER BY rowid {order}"
            )
            rows, is_whole = _fetched(database, query, (low, high), most)
            found |= {row[0]: row[1:] for row in rows}
            if is_whole:
                break
            if rows:
                low, high = (rows[-1][0] + 1, high) if order == "ASC" else (low, rows[-1][0] - 1)
        else:
            middle = (low + high) // 2
            ranges += [
                part for part in ((middle + 1, high), (low, middle)) if low < high and part[0] <= part[1]
            ]
    return found


def _numbers(database: sqlite3.Connection, table: str, most: int) -> set[int]:
    """The numbers of the rows of a table, which its index may know where the table itself is damaged."""
    rows, _ = _fetched(database, f"SELECT rowid FROM {table}", (), most)
    return {row[0] for row in rows}


def _fetched(
    database: sqlite3.Connection, query: str, parameters: Sequence[int], most: int
) -> tuple[list[Row], bool]:
    """Rows up to the first that can't be read, and whether these are all.

    No more than `most` are fetched, the bytes of the file: one with more rows than that goes in a circle.
    """
    rows: list[Row] = []
    try:
        for row in islice(database.execute(query, parameters), most):
            rows.append(row)
    except (sqlite3.Error, OverflowError):
        return rows, False
    return rows, True
