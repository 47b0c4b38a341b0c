"""Prepare a problem set that does not fit in one process: data-parallel, stored, and reused.

The records of each part are checked and masked, and their gold equations become templates; a method may
add paths to begin with. Whoever prepares a part writes it to the folder: this process sees only its ids,
words and bad rows. A digest of the files and of the settings that matter names the folder.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from toolkit.data.part import PartFile
from toolkit.data.prepared import (
    DESCRIPTION,
    FORMAT,
    PREPARED,
    PreparedFile,
    PreparedSet,
    describe_words,
    description,
    read_prepared,
    readable_columns,
    write_prepared_table,
)
from toolkit.data.problems import ProblemSet
from toolkit.data.read import check_records, format_name, part_files
from toolkit.data.records import Record
from toolkit.data.schema import BadRow, refuse_bad
from toolkit.data.seen import SeenIds
from toolkit.data.skipped import SkippedRows
from toolkit.equations import Constant, as_float, show, tolerance
from toolkit.errors import WarmkitError
from toolkit.storage.atomic import remove_empty
from toolkit.storage.description import write_description
from toolkit.storage.files import unreadable
from toolkit.storage.folder import new_folder
from toolkit.storage.lock import turn

PART = 4_096  # problems of a prepared part, which is prepared at a time
BLOCK = 2**20  # bytes of a file that are read at a time


@dataclass(frozen=True)
class Unprepared:
    """The records of a part."""

    number: int
    file: PartFile
    several: bool  # whether the set has more files
    records: Sequence[Record]
    format: str | None  # of the records before


@dataclass(frozen=True)
class PreparedPart:
    """What the process that prepares a set gets to know of a part."""

    part: PreparedFile
    ids: tuple[str, ...]
    lines: tuple[int, ...]
    source: PartFile
    words: Counter[str]
    bad: tuple[BadRow, ...]
    format: str


@dataclass(frozen=True)
class Preparation:
    """How parts are prepared; sent to whoever does it."""

    folder: Path  # where prepared sets are; of the one that is made, once it is
    constants: tuple[Constant, ...]

    def settings(self) -> str:
        """What decides the result, apart from the problems."""
        return " ".join([FORMAT, f"{PART}", *(show(constant) for constant in self.constants)])

    def paths(self, problems: ProblemSet) -> list[list[int]]:
        """The paths of each problem that training begins with, as codes, most probable first."""
        return [[] for _ in problems.ids]

    def __call__(self, given: Unprepared) -> PreparedPart:
        """Prepare a part, and write it to the folder."""
        read = check_records(
            given.file, given.records, {}, None, SeenIds(), given.several, given.format
        ).with_constants(self.constants)
        path = self.folder / f"part-{given.number:06d}.parquet"
        refused = {row.line for row in read.bad}
        lines = tuple(line for line, _ in given.records if line not in refused)
        if len(lines) != len(read):  # JSON may have several records in a line
            lines = (given.records[0][0],) * len(read)
        return PreparedPart(
            write_prepared_table(self._table(read), path),
            read.ids,
            lines,
            given.file,
            Counter(token for masked in read.masked for token in masked.tokens),
            read.bad,
            read.format,
        )

    def _table(self, problems: ProblemSet) -> pl.DataFrame:
        columns = {
            **readable_columns(problems),
            "length": [len(masked.tokens) for masked in problems.masked],
            "values": [[as_float(number) for number in numbers] for numbers in problems.numbers],
            "tolerance": [tolerance(answer) for answer in problems.answers],
            "has_equation": problems.table["equation"].is_not_null().to_list(),
            "gold": [None if template is None else show(template) for template in problems.gold],
            "paths": self.paths(problems),
        }
        return pl.DataFrame(columns, schema=PREPARED)


Run = Callable[[Preparation, Iterable[Unprepared]], Iterator[PreparedPart]]


def prepare_here(preparation: Preparation, parts: Iterable[Unprepared]) -> Iterator[PreparedPart]:
    """Prepare in this process."""
    return map(preparation, parts)


def prepare(
    path: Path | str,
    preparation: Preparation,
    *,
    skipped: SkippedRows | None = None,
    run: Run = prepare_here,
    advance: Callable[[int], object] = lambda count: None,
    on_wait: Callable[[], object] = lambda: None,
) -> PreparedSet:
    """The prepared set of these problems in the folder of `preparation`: one that is there, or a new one.

    Bad rows are an error, or go to `skipped`: only if the set is new, otherwise they are counted alone. If
    another process prepares the same set, `on_wait` is called, and its result is used.
    """
    files, root = part_files(path), preparation.folder
    before = {file: file.state() for file in files}
    digest = digest_of(files, f"{preparation.settings()} {skipped is not None}")
    folder = root / digest[:16]
    made = [each for each in (root, *root.parents) if not each.exists()]
    try:
        with turn(root / f".{folder.name}.lock", on_wait):
            if not (folder / DESCRIPTION).exists():
                with new_folder(folder) as built:
                    here = replace(preparation, folder=built.absolute())
                    described = _prepared(here, files, digest, skipped, run, advance)
                    if not described["problems"]:
                        raise WarmkitError(f"{path}: there are no problems to train on.")
                    check_unchanged(before)
                    write_description(built / DESCRIPTION, described)
    finally:
        remove_empty(made)
    ready = read_prepared(folder)
    ready.check()
    return ready


def _prepared(
    preparation: Preparation,
    files: Sequence[PartFile],
    digest: str,
    skipped: SkippedRows | None,
    run: Run,
    advance: Callable[[int], object],
) -> dict[str, Any]:
    """Prepare all parts; return the content of prepared.json."""
    parts: list[PreparedFile] = []
    words: Counter[str] = Counter()
    bad_rows, seen = 0, SeenIds()
    for done in run(preparation, _unprepared(files)):
        bad, part = _without_repeated(done, seen, preparation.folder)
        if skipped is None:
            refuse_bad(str(done.source), part.rows, bad)
        else:
            skipped.add(bad)
        bad_rows += len(bad)
        parts.append(part)
        words += done.words
        advance(part.rows + len(bad))
    names = [show(constant) for constant in preparation.constants]
    return description(digest, names, describe_words(words, preparation.folder), parts, bad_rows)


def _unprepared(files: Sequence[PartFile]) -> Iterator[Unprepared]:
    number = 0
    for file in files:
        records = file.stream()
        known: str | None = None
        while some := list(islice(records, PART)):
            given = Unprepared(number, file, len(files) > 1, some, known)
            known = known or format_name(file, some)
            yield given
            number += 1


def _without_repeated(done: PreparedPart, seen: SeenIds, folder: Path) -> tuple[list[BadRow], PreparedFile]:
    """The bad rows of a part, and the part, without rows whose ids another row has."""
    repeated: list[BadRow] = []
    for name, line in zip(done.ids, done.lines, strict=True):
        if used := seen.first_use(name, str(done.source), line):
            reason = f"the id is already used at {used}: ids must be unique"
            repeated.append(BadRow(str(done.source), line, name[:40], reason))
    if not repeated:
        return [*done.bad], done.part
    path, lines = folder / done.part.name, {row.line for row in repeated}
    kept = pl.Series([line not in lines for line in done.lines])
    return [*done.bad, *repeated], write_prepared_table(pl.read_parquet(path).filter(kept), path)


def check_unchanged(before: Mapping[PartFile, tuple[int, int]]) -> None:
    """Refuse files that changed while they were prepared: the digest would be that of other problems."""
    for file, state in before.items():
        if file.state() != state:
            raise WarmkitError(f"{file}: it changed while it was prepared. Give the command again.")


def digest_of(files: Sequence[PartFile], settings: str) -> str:
    """Of the content of all files, and of the settings."""
    digest = sha256(settings.encode())
    for file in files:
        digest.update(f"\n{file.name}\n".encode())
        with file.here() as path:
            try:
                with path.open("rb") as opened:
                    while block := opened.read(BLOCK):
                        digest.update(block)
            except OSError as error:
                raise unreadable(path, error) from None
    return digest.hexdigest()
