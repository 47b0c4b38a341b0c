"""The state of a run: which stages are done, what was asked, and every word that annotators said.

One SQLite file in WAL mode. A stage is done when its transaction is; the files it wrote are whole before
that. The ledger only grows: an edit is a new row, a row that no longer counts is marked, never deleted.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from toolkit.data.store import Store
from toolkit.loop.annotator import Response

SCHEMA = """
CREATE TABLE IF NOT EXISTS stages (
    round INTEGER NOT NULL, stage TEXT NOT NULL, seconds REAL NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (round, stage));
CREATE TABLE IF NOT EXISTS asked (
    round INTEGER NOT NULL, place INTEGER NOT NULL, problem_id TEXT NOT NULL, why TEXT NOT NULL,
    kind TEXT NOT NULL, candidates TEXT NOT NULL, PRIMARY KEY (round, problem_id));
CREATE TABLE IF NOT EXISTS responses (
    number INTEGER PRIMARY KEY, external_id TEXT NOT NULL, problem_id TEXT NOT NULL, round INTEGER NOT NULL,
    kind TEXT NOT NULL, equation TEXT, note TEXT, annotator TEXT NOT NULL, updated_at TEXT NOT NULL,
    seconds REAL, revoked INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS by_external_id ON responses (external_id);
CREATE TABLE IF NOT EXISTS metrics (
    round INTEGER NOT NULL, split TEXT NOT NULL, name TEXT NOT NULL, value REAL NOT NULL,
    PRIMARY KEY (round, split, name));
"""

REVOKED, UNDONE = 1, 2  # why a response no longer counts: it was taken back, or its round was


@dataclass(frozen=True)
class Asked:
    """A problem of a batch: why it is in it, and the candidates shown with it, in the order shown."""

    round: int
    problem_id: str
    why: str
    kind: str  # random, unsolved or strategy
    candidates: tuple[str, ...]


class Ledger(Store):
    def __init__(self, path: Path) -> None:
        super().__init__(path, SCHEMA, "the state of the run")

    # Stages

    def result(self, round_: int, stage: str) -> dict[str, Any] | None:
        """What a stage came to, None where it is not done."""
        row = self._db.execute(
            "SELECT result FROM stages WHERE round = ? AND stage = ?", (round_, stage)
        ).fetchone()
        return None if row is None else json.loads(row[0])

    def finish(self, round_: int, stage: str, seconds: float, result: Mapping[str, Any]) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO stages VALUES (?, ?, ?, ?)", (round_, stage, seconds, json.dumps(result))
        )

    def stages(self) -> list[tuple[int, str, float]]:
        """Stages that are done, in order: round, name, seconds."""
        return list(self._db.execute("SELECT round, stage, seconds FROM stages ORDER BY rowid"))

    # What was asked

    def ask(self, asked: Sequence[Asked]) -> None:
        self._db.executemany(
            "INSERT INTO asked VALUES (?, ?, ?, ?, ?, ?)",
            [
                (one.round, place, one.problem_id, one.why, one.kind, json.dumps(one.candidates))
                for place, one in enumerate(asked)
            ],
        )

    def asked(self, round_: int | None = None) -> list[Asked]:
        """The batch of a round, or of all rounds."""
        rows = self._db.execute(
            "SELECT round, problem_id, why, kind, candidates FROM asked "
            "WHERE ? IS NULL OR round = ? ORDER BY round, place",
            (round_, round_),
        )
        return [
            Asked(its_round, name, why, kind, tuple(json.loads(shown)))
            for its_round, name, why, kind, shown in rows
        ]

    # What was said

    def record(self, responses: Iterable[Response]) -> int:
        """Write down what is new; the same response twice counts once. How many were new.

        What was revoked stays so until its annotator says something anew; a round that was undone is
        answered again by what was said then.
        """
        new = 0
        for response in responses:
            last = self._db.execute(
                "SELECT kind, equation, note, revoked, updated_at FROM responses "
                f"WHERE external_id = ? AND revoked != {UNDONE} ORDER BY number DESC LIMIT 1",
                (response.external_id,),
            ).fetchone()
            same = last is not None and last[:3] == (response.kind, response.equation, response.note)
            if same and (not last[3] or last[4] == response.updated_at):
                continue
            row = asdict(response)
            names = ", ".join(row)
            marks = ", ".join(f":{name}" for name in row)
            self._db.execute(f"INSERT INTO responses ({names}) VALUES ({marks})", row)
            new += 1
        return new

    def responses(self) -> list[Response]:
        """The latest of each external id that was not revoked, in the order they came."""
        rows = self._db.execute(
            "SELECT problem_id, round, kind, equation, note, annotator, external_id, updated_at, seconds "
            "FROM responses WHERE number IN (SELECT max(number) FROM responses WHERE NOT revoked "
            "GROUP BY external_id) ORDER BY number"
        )
        return [Response(*row) for row in rows]

    def revoke(self, problem_id: str) -> int:
        """What was said of a problem counts no more; how many responses that were."""
        with self.transaction():
            return self._db.execute(
                f"UPDATE responses SET revoked = {REVOKED} WHERE problem_id = ? AND NOT revoked",
                (problem_id,),
            ).rowcount

    def rewind(self, round_: int) -> None:
        """Undo a round and all after it: as if they had not been, but what was said stays in the ledger."""
        with self.transaction():
            for table in ("stages", "asked", "metrics"):
                self._db.execute(f"DELETE FROM {table} WHERE round >= ?", (round_,))
            self._db.execute(
                f"UPDATE responses SET revoked = {UNDONE} WHERE round >= ? AND NOT revoked", (round_,)
            )
            self._db.execute("DELETE FROM facts WHERE name = 'end'")

    # Figures

    def measure(self, round_: int, split: str, figures: Mapping[str, float | None]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?)",
            [(round_, split, name, float(value)) for name, value in figures.items() if value is not None],
        )

    def metrics(self) -> list[tuple[int, str, str, float]]:
        return list(
            self._db.execute("SELECT round, split, name, value FROM metrics ORDER BY round, split, name")
        )
