"""A SQLite file that keeps facts by name, and the tables of a schema."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolkit.errors import WarmkitError

FACTS = "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);"


class Database:
    """`content` names what it holds in error messages: "the state of the run"."""

    def __init__(self, path: Path, schema: str, content: str) -> None:
        self._path, self._content = path, content
        try:
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
        except sqlite3.Error as error:
            raise WarmkitError(f"{path}: {content} can't be opened: {error}.") from None
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")  # committed data survive a power cut
            self._db.executescript(FACTS + schema)
        except sqlite3.Error as error:
            self._db.close()
            raise WarmkitError(f"{path}: {content} can't be opened: {error}.") from None

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything in the block is written, or nothing. A full disk is a `WarmkitError`."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._commit()
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise WarmkitError(f"{self._path}: {self._content} can't be written: {error}.") from None

    def _commit(self) -> None:
        self._db.execute("COMMIT")

    def fact(self, name: str) -> Any:
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def set_fact(self, name: str, value: Any) -> None:
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))
