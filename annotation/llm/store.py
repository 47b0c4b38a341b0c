"""What language models said, for good: a request that was answered once is never sent again.

One SQLite file for all runs of a folder, so that another run with the same questions asks nothing.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from annotation.llm.chat import Reply
from toolkit.storage.database import Database

FILE = "llm.sqlite"
SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, seconds REAL NOT NULL);
"""
_REPLIES = TypeAdapter(list[tuple[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]])


class ReplyStore(Database):
    def __init__(self, path: Path) -> None:
        super().__init__(path, SCHEMA, "the store of what language models said", new=True)

    def reply(self, key: str) -> tuple[str, float] | None:
        """The text and the seconds of a reply; None if there is none yet."""
        query = "SELECT text, seconds FROM replies WHERE key = ?"
        found = self.rows("replies", _REPLIES, query, (key,))
        return found[0] if found else None

    def keep(self, key: str, reply: Reply) -> None:
        with self.transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (key, reply.text, reply.seconds)
            )


def key_of(url: str, body: Mapping[str, Any]) -> str:
    """A digest of a request: everything that its reply depends on."""
    return sha256(json.dumps([url, body], sort_keys=True).encode()).hexdigest()
