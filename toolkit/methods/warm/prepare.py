"""Prepare a problem set that does not fit in one process: data-parallel, stored, and reused.

The records of each part are checked and masked, their gold equations become templates, and exhaustive search
finds what training begins with. Whoever prepares a part writes it to the folder: this process sees only its
ids, words and bad rows. A digest of the files and of the settings that matter names the folder.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
import torch

from toolkit.data import ProblemSet
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
    write_prepared_table,
)
from toolkit.data.read import check_records, format_name, part_files
from toolkit.data.records import Record
from toolkit.data.schema import BadRow, refuse_bad
from toolkit.data.seen import SeenIds
from toolkit.data.skipped import SkippedRows
from toolkit.equations import Constant, as_float, show, tolerance
from toolkit.errors import WarmkitError
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.paths import Layout
from toolkit.methods.warm.shards import search_paths
from toolkit.storage.atomic import remove_empty
from toolkit.storage.description import write_description
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

    folder: Path  # of the prepared set
    constants: tuple[Constant, ...]
    config: WarmConfig

    def settings(self) -> str:
        """What decides the result, apart from the problems."""
        model, train = self.config.model, self.config.train
        sizes = f"{PART} {model.operators} {model.max_steps} {train.search} {train.memory}"
        return " ".join([FORMAT, sizes, *(show(constant) for constant in self.constants)])

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
            "id": problems.ids,
            "tokens": [" ".join(masked.tokens) for masked in problems.masked],
            "length": [len(masked.tokens) for masked in problems.masked],
            "lang": problems.langs,
            "numbers": [" ".join(map(str, numbers)) for numbers in problems.numbers],
            "values": [[as_float(number) for number in numbers] for numbers in problems.numbers],
            "written": [[operand.written for operand in masked.operands] for masked in problems.masked],
            "answer": problems.answers,
            "tolerance": [tolerance(answer) for answer in problems.answers],
            "has_equation": problems.table["equation"].is_not_null().to_list(),
            "gold": [None if template is None else show(template) for template in problems.gold],
            "paths": self._paths(problems),
        }
        return pl.DataFrame(columns, schema=PREPARED)

    def _paths(self, problems: ProblemSet) -> list[list[int]]:
        """The paths that training begins with, most probable first."""
        model, train = self.config.model, self.config.train
        if not train.search or not len(problems):
            return [[] for _ in problems.ids]
        layout = Layout(self.constants, model.operators)
        memory = Memory(len(problems), max(train.memory, 1), model.max_steps, torch.device("cpu"))
        rows = torch.arange(len(problems))
        memory.add(rows, search_paths(problems, layout, self.config))
        return [
            paths[there].flatten().tolist()
            for paths, there in zip(memory.recall(rows), memory.scores.isfinite(), strict=True)
        ]


Run = Callable[[Preparation, Iterable[Unprepared]], Iterator[PreparedPart]]


def prepare_here(preparation: Preparation, parts: Iterable[Unprepared]) -> Iterator[PreparedPart]:
    """Prepare in this process."""
    return map(preparation, parts)


def prepare(
    path: Path | str,
    root: Path,
    constants: tuple[Constant, ...],
    config: WarmConfig,
    *,
    skipped: SkippedRows | None = None,
    run: Run = prepare_here,
    advance: Callable[[int], object] = lambda count: None,
    on_wait: Callable[[], object] = lambda: None,
) -> PreparedSet:
    """The prepared set of these problems in the folder `root`: one that is there, or a new one.

    Bad rows are an error, or go to `skipped`: only if the set is new, otherwise they are counted alone. If
    another process prepares the same set, `on_wait` is called, and its result is used.
    """
    files = part_files(path)
    before = {file: file.state() for file in files}
    digest = _digest(files, Preparation(root, constants, config).settings(), skipped is not None)
    folder = root / digest[:16]
    made = [each for each in (root, *root.parents) if not each.exists()]
    try:
        with turn(root / f".{folder.name}.lock", on_wait):
            if not (folder / DESCRIPTION).exists():
                with new_folder(folder) as built:
                    preparation = Preparation(built.absolute(), constants, config)
                    described = _prepared(preparation, files, digest, skipped, run, advance)
                    if not described["problems"]:
                        raise WarmkitError(f"{path}: there are no problems to train on.")
                    _check_unchanged(before)
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


def _check_unchanged(before: Mapping[PartFile, tuple[int, int]]) -> None:
    """Refuse files that changed while they were prepared: the digest would be that of other problems."""
    for file, state in before.items():
        if file.state() != state:
            raise WarmkitError(f"{file}: it changed while it was prepared. Give the command again.")


def _digest(files: Sequence[PartFile], settings: str, skips_bad: bool) -> str:
    """Of the content of all files, and of the settings."""
    digest = sha256(f"{settings} {skips_bad}".encode())
    for file in files:
        digest.update(f"\n{file.name}\n".encode())
        with file.here() as path, path.open("rb") as opened:
            while block := opened.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()
