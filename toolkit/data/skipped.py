"""Bad rows that are skipped: counted, the first ones kept to be shown, all of them written to a file."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import TextIO

from toolkit.data.schema import MOST_SHOWN, BadRow, list_bad
from toolkit.storage.atomic import replacing

MOST_LISTED = 1_000  # rows that are kept in memory, of however many


@dataclass
class SkippedRows:
    """The bad rows of a problem set that is read part by part."""

    file: Path | None = None  # which has all of them, once they are read
    count: int = 0
    first: list[BadRow] = field(default_factory=list)
    _out: TextIO | None = None

    def add(self, rows: Sequence[BadRow]) -> None:
        self.count += len(rows)
        self.first += rows[: MOST_LISTED - len(self.first)]
        if self._out is not None:
            for row in rows:
                self._out.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")

    def __str__(self) -> str:
        """The first of them, one per line, and where the others are."""
        shown = list_bad(self.first[:MOST_SHOWN])
        more = f"\n  … and {self.count - MOST_SHOWN:,} more" if self.count > MOST_SHOWN else ""
        return shown + more + (f"\nAll of them are in {self.file}." if self.file else "")


@contextmanager
def skipping(file: Path | None) -> Iterator[SkippedRows]:
    """Bad rows that go to a file of JSON Lines: file, line, id and reason. Without any there is no file."""
    if file is None:
        yield SkippedRows()
        return
    # half of a character, which JSON can write, becomes an escape of JSON again
    with TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as lines:
        skipped = SkippedRows(file, _out=lines)
        yield skipped
        if skipped.count:
            lines.seek(0)
            with replacing(file) as temporary, temporary.open("w", encoding="utf-8") as out:
                shutil.copyfileobj(lines, out)


def bad_rows_beside(out: Path) -> Path:
    """The file of bad rows beside what a command writes: candidates.bad-rows.jsonl."""
    return out.with_name(f"{out.stem if out.suffix else out.name}.bad-rows.jsonl")
