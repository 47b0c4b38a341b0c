"""The state of a run: which stages are done, what was asked, and every response of annotators.

One SQLite file in WAL mode. A stage is done when its transaction is committed; its files are complete before
that. Responses are only added: an edit is a new row, and a row that no longer counts is marked, not deleted.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from toolkit.annotators.account import Spent
from toolkit.annotators.questions import Response, ShownCandidate
from toolkit.errors import WarmkitError
from toolkit.loop import records
from toolkit.storage.database import TEXTS, Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS stages (
    round INTEGER NOT NULL, stage TEXT NOT NULL, seconds REAL NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (round, stage));
CREATE TABLE IF NOT EXISTS asked (
    round INTEGER NOT NULL, position INTEGER NOT NULL, problem_id TEXT NOT NULL, why TEXT NOT NULL,
    kind TEXT NOT NULL, candidates TEXT NOT NULL, PRIMARY KEY (round, problem_id));
CREATE TABLE IF NOT EXISTS responses (
    number INTEGER PRIMARY KEY, external_id TEXT NOT NULL, problem_id TEXT NOT NULL, round INTEGER NOT NULL,
    kind TEXT NOT NULL, equation TEXT, note TEXT, annotator TEXT NOT NULL, updated_at TEXT NOT NULL,
    seconds REAL, template TEXT, revoked INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS by_external_id ON responses (external_id);
CREATE TABLE IF NOT EXISTS requests (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, question_tokens INTEGER NOT NULL DEFAULT 0,
    reply_tokens INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, problem_id TEXT NOT NULL, text TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS metrics (
    round INTEGER NOT NULL, split TEXT NOT NULL, name TEXT NOT NULL, value REAL NOT NULL,
    PRIMARY KEY (round, split, name));
"""

COLUMNS = ", ".join(field.name for field in fields(Response))
GOLD = "gold"  # the kind of a gold question: its equation is known
# Why a response no longer counts. A revoked one does not come back by itself; one that is undone was given by
# a program, which gives it again when the round is done again.
REVOKED, UNDONE = 1, 2


@dataclass(frozen=True)
class BatchItem:
    """A problem of a batch: why it was chosen, and the candidates shown with it, in the order shown."""

    round: int
    problem_id: str
    why: str
    kind: str  # random, unsolved, strategy or gold
    candidates: tuple[ShownCandidate, ...]


class Ledger(Database):
    facts = records.FACTS

    def __init__(self, path: Path, *, new: bool = False) -> None:
        super().__init__(path, SCHEMA, "the state of the run", new=new)

    def damage(self, message: str) -> WarmkitError:
        return WarmkitError(message, "damaged-run")

    # Stages

    def result(self, round_: int, stage: str) -> dict[str, Any] | None:
        """The result of a stage, None if it is not done."""
        what = f"{stage} of round {round_}"
        query = "SELECT result FROM stages WHERE round = ? AND stage = ?"
        found = self.rows(what, TEXTS, query, (round_, stage))
        return self.from_json(what, records.RESULTS[stage], found[0][0]) if found else None

    def solver_result(self, round_: int) -> dict[str, Any] | None:
        """The result of the last solver of a round, None if it has none."""
        return self.result(round_, records.FINAL) or self.result(round_, "solver")

    def finish(self, round_: int, stage: str, seconds: float, result: Mapping[str, Any]) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO stages VALUES (?, ?, ?, ?)", (round_, stage, seconds, json.dumps(result))
        )

    def stages(self) -> list[tuple[int, str, float]]:
        """Stages that are done, in order: round, name, seconds."""
        query = "SELECT round, stage, seconds FROM stages ORDER BY rowid"
        return self.rows("stages", records.STAGES, query)

    # Batches

    def add_batch(self, batch: Sequence[BatchItem]) -> None:
        self._db.executemany(
            "INSERT INTO asked VALUES (?, ?, ?, ?, ?, ?)",
            [
                (item.round, position, item.problem_id, item.why, item.kind, json.dumps(item.candidates))
                for position, item in enumerate(batch)
            ],
        )

    def batch(self, round_: int | None = None) -> list[BatchItem]:
        """The batch of a round, or of all rounds."""
        query = (
            "SELECT round, problem_id, why, kind, candidates FROM asked "
            "WHERE ? IS NULL OR round = ? ORDER BY round, position"
        )
        return [
            BatchItem(
                number, problem_id, why, kind, self.from_json(problem_id[:60], records.CANDIDATES, shown)
            )
            for number, problem_id, why, kind, shown in self.rows(
                "asked", records.ASKED, query, (round_, round_)
            )
        ]

    # Responses

    def record(self, responses: Iterable[Response]) -> int:
        """Record the new responses, and count them. The same response twice counts once.

        A revoked response stays revoked until its annotator changes or submits it again. A response that
        was undone is new again.
        """
        new = 0
        for response in responses:
            last = self._db.execute(
                "SELECT kind, equation, template, note, revoked, updated_at FROM responses "
                f"WHERE external_id = ? AND revoked != {UNDONE} ORDER BY number DESC LIMIT 1",
                (response.external_id,),
            ).fetchone()
            if last is not None:
                *content, revoked, updated_at = last
                same = content == [response.kind, response.equation, response.template, response.note]
                if same and (not revoked or updated_at == response.updated_at):
                    continue
            row = asdict(response)
            names = ", ".join(row)
            marks = ", ".join(f":{name}" for name in row)
            self._db.execute(f"INSERT INTO responses ({names}) VALUES ({marks})", row)
            new += 1
        return new

    def responses(self) -> list[Response]:
        """The latest response of each external id that was not revoked, in the order they came."""
        return self._latest("NOT revoked")

    def recorded(self) -> list[Response]:
        """Like `responses`, with the revoked ones: what `record` already knows."""
        return self._latest(f"revoked != {UNDONE}")

    def _latest(self, condition: str) -> list[Response]:
        query = (
            f"SELECT {COLUMNS} FROM responses WHERE number IN "
            f"(SELECT max(number) FROM responses WHERE {condition} GROUP BY external_id) ORDER BY number"
        )
        return [Response(*row) for row in self.rows("responses", records.RESPONSES, query)]

    def responses_version(self) -> tuple[int, ...]:
        """A value that changes whenever the result of `responses` changes."""
        query = "SELECT count(*), coalesce(sum(revoked), 0) FROM responses"
        return self.rows("responses", records.VERSION, query)[0]

    def revoke(self, problem_id: str) -> int:
        """Revoke all responses to a problem, and count them."""
        with self.transaction():
            return self._db.execute(
                f"UPDATE responses SET revoked = {REVOKED} WHERE problem_id = ? AND NOT revoked",
                (problem_id,),
            ).rowcount

    def revoked(self) -> dict[tuple[str, int], int]:
        """How many responses to a problem were revoked in a round: it has to be asked that often again."""
        query = (
            f"SELECT problem_id, round, count(*) FROM responses WHERE revoked = {REVOKED} "
            "GROUP BY problem_id, round"
        )
        return {(name, at): count for name, at, count in self.rows("responses", records.REVOKED, query)}

    def rewind(self, round_: int, *, revoke: bool) -> None:
        """Undo a round and all after it. Responses to them stay in the ledger, but no longer count.

        `revoke` is for people: what they said is still where they said it, and must not come back from there.
        """
        mark = REVOKED if revoke else UNDONE
        with self.transaction():
            for table in ("stages", "asked", "metrics"):
                self._db.execute(f"DELETE FROM {table} WHERE round >= ?", (round_,))
            self._db.execute(
                f"UPDATE responses SET revoked = {mark} WHERE round >= ? AND NOT revoked", (round_,)
            )
            self._db.execute("DELETE FROM facts WHERE name = 'end'")

    # Language models (`toolkit.annotators.account.Account`)

    def begin_request(self, key: str) -> int:
        with self.transaction():
            number = self._db.execute("INSERT INTO requests (key) VALUES (?)", (key,)).lastrowid
        assert number is not None
        return number

    def finish_request(self, number: int, question_tokens: int, reply_tokens: int) -> None:
        with self.transaction():
            self._db.execute(
                "UPDATE requests SET question_tokens = ?, reply_tokens = ? WHERE number = ?",
                (question_tokens, reply_tokens, number),
            )

    def hear(self, key: str, problem_id: str, text: str, reason: str) -> None:
        with self.transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)", (key, problem_id, text, reason)
            )

    def spent(self) -> Spent:
        query = (
            "SELECT count(*), coalesce(sum(question_tokens), 0), coalesce(sum(reply_tokens), 0) FROM requests"
        )
        return Spent(*self.rows("requests", records.SPENT, query)[0])

    def replies(self) -> dict[str, list[str]]:
        """What was said of each problem."""
        found: dict[str, list[str]] = {}
        query = "SELECT problem_id, text FROM replies ORDER BY key"
        for problem_id, text in self.rows("replies", records.REPLIES, query):
            found.setdefault(problem_id, []).append(text)
        return found

    def reasons(self) -> dict[str, int]:
        query = "SELECT reason, count(*) FROM replies GROUP BY reason ORDER BY reason"
        found = self.rows("replies", records.REASONS, query)
        return dict(found)

    # Figures

    def measure(self, round_: int, split: str, figures: Mapping[str, float | None]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?)",
            [(round_, split, name, float(value)) for name, value in figures.items() if value is not None],
        )

    def metrics(self) -> list[tuple[int, str, str, float]]:
        query = "SELECT round, split, name, value FROM metrics ORDER BY round, split, name"
        return self.rows("metrics", records.METRICS, query)

    # Repair

    def insert(self, table: str, columns: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert whole rows, as they were read from another ledger."""
        marks = ", ".join("?" for _ in columns.split(","))
        self._db.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)


def last_opened(ledger: Ledger) -> int:
    """The last round that was opened; 0 if there is none."""
    return max((round_ for round_, stage, _ in ledger.stages() if stage == "open"), default=0)
