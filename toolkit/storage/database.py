"""A SQLite file that keeps facts by name, and the tables of a schema.

The file may be damaged, or come from somebody else. It is opened only if its tables are those of the schema,
and everything that is read from it is checked against a type.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import TypeAdapter, ValidationError

from toolkit.errors import WarmkitError
from toolkit.storage.description import first_problem
from toolkit.storage.folder import check_file

FACTS = "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
ELSEWHERE = (  # errors of SQLite whose reason is not in the file
    *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY),
    *(sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM),
)

Value = TypeVar("Value")


class Database:
    """`content` names what it holds in error messages: "the state of the run".

    The file must exist and hold something, unless it may be `new`.
    """

    facts: ClassVar[Mapping[str, TypeAdapter[Any]]] = {}  # the type of each fact

    def __init__(self, path: Path, schema: str, content: str, *, new: bool = False) -> None:
        self._path, self._content = path, content
        exists = check_files(path)
        if not exists and not new:
            state = "is empty" if path.exists() else "is missing"
            raise self.damage(f"{path}: {content} {state}.")
        try:
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
        except sqlite3.Error as error:
            raise WarmkitError(f"{path}: {content} can't be opened: {error}.") from None
        try:
            self._db.execute("PRAGMA trusted_schema = OFF")
            if exists and not has_tables(self._db, schema):
                raise self._damaged("its tables are not those of this version")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")  # committed data survive a power cut
            self._db.executescript(FACTS + schema)
        except sqlite3.Error as error:
            self._db.close()
            raise self._failure(f"can't be opened: {error}", error) from None
        except WarmkitError:
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    def check(self) -> None:
        """Raise an error if a page of the file is damaged."""
        ((result,),) = self.rows("pages", TypeAdapter(list[tuple[str]]), "PRAGMA integrity_check(1)")
        if result != "ok":
            raise self._damaged(" ".join(result.removeprefix("*** in database main ***").split()))

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
            raise self._failure(f"can't be written: {error}", error) from None

    def _commit(self) -> None:
        self._db.execute("COMMIT")

    def rows(
        self, what: str, shape: TypeAdapter[Value], query: str, parameters: Sequence[object] = ()
    ) -> Value:
        """The rows of a query, as a list of tuples of a shape. `what` they are is part of an error."""
        try:
            return shape.validate_python(self._db.execute(query, parameters).fetchall(), strict=True)
        except sqlite3.Error as error:
            raise self._failure(f"can't be read ({what}): {error}", error) from None
        except ValidationError as error:
            raise self._damaged(f"{what}: {first_problem(error)}") from None

    def from_json(self, what: str, shape: TypeAdapter[Value], text: str) -> Value:
        """What a JSON text of a row holds, checked like a row."""
        try:
            return shape.validate_json(text, strict=True)
        except ValidationError as error:
            raise self._damaged(f"{what}: {first_problem(error)}") from None

    def _failure(self, problem: str, error: sqlite3.Error) -> WarmkitError:
        """A database that is locked, or on a disk that is full, is not damaged."""
        message = f"{self._path}: {self._content} {problem}."
        reason = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)  # none: a text is not UTF-8
        return WarmkitError(message) if reason & 0xFF in ELSEWHERE else self.damage(message)

    def _damaged(self, problem: str) -> WarmkitError:
        return self.damage(f"{self._path}: {self._content} is damaged: {problem}.")

    def damage(self, message: str) -> WarmkitError:
        """The error for a file that is damaged."""
        return WarmkitError(message)

    def fact(self, name: str) -> Any:
        """The value of a fact; None if it has none."""
        found = self.rows(name, TEXTS, "SELECT value FROM facts WHERE name = ?", (name,))
        return self.from_json(name, self.facts[name], found[0][0]) if found else None

    def set_fact(self, name: str, value: Any) -> None:
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))


TEXTS = TypeAdapter(list[tuple[str]])


def check_files(path: Path) -> bool:
    """Whether the file exists and holds anything. What SQLite would open with it must be ordinary files.

    Beside a database in WAL mode there is no rollback journal. SQLite would believe a forged one, and delete
    the file of any name that it mentions.
    """
    for suffix in ("", "-wal", "-shm", "-journal"):
        check_file(path.with_name(path.name + suffix))
    journal = path.with_name(f"{path.name}-journal")
    if journal.exists():
        raise WarmkitError(f"{journal}: warmkit does not write such a file. Delete it.")
    return path.exists() and path.stat().st_size > 0


def has_tables(database: sqlite3.Connection, schema: str) -> bool:
    """Whether it has the tables of a schema, and nothing that acts by itself or poses as a table."""
    found = set(database.execute("SELECT type, name, sql FROM sqlite_master"))
    return _tables(FACTS + schema) <= found and not any(kind in ("trigger", "view") for kind, *_ in found)


@cache
def _tables(schema: str) -> set[tuple[str, str, str | None]]:
    """Tables and indices of a schema, as SQLite writes them down: type, name, definition."""
    database = sqlite3.connect(":memory:")
    try:
        database.executescript(schema)
        return set(database.execute("SELECT type, name, sql FROM sqlite_master"))
    finally:
        database.close()
