"""Read problem sets from files of any known format: one file, or many parts of one set."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from glob import has_magic
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from toolkit.data.formats import FORMATS, LEFT_OUT, Format, recognise, renamed
from toolkit.data.part import PartFile
from toolkit.data.problems import ProblemSet
from toolkit.data.records import Record
from toolkit.data.schema import PROBLEMS, BadRow, check_rows, refuse_bad
from toolkit.data.seen import SeenIds
from toolkit.data.skipped import SkippedRows
from toolkit.data.split import shuffle_key
from toolkit.equations import DEFAULT_CONSTANTS, Constant
from toolkit.errors import WarmkitError
from toolkit.storage import s3
from toolkit.storage.files import read_text

NumberedRow = tuple[int, "dict[str, Any] | str"]

BUNDLED = Path(__file__).parent / "bundled"
AT_ONCE = 1_024  # records that are looked at
PARTS = (".parquet", ".jsonl")  # files of a folder that are parts of a problem set


def read_problems(
    path: Path | str,
    *,
    skip_bad: bool = False,
    columns: Mapping[str, str] | None = None,
    lang: str | None = None,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
) -> ProblemSet:
    """The problems of a file, or of the files of a folder or of a pattern such as "parts/*.parquet".

    All three may be in S3 (s3://bucket/parts).

    Bad rows are an error that lists them, unless `skip_bad` keeps only the good rows. `columns` gives the
    file's own names of columns ({"text": "question", "answer": "gold"}); without it the format is
    recognised. `lang` is the language of rows that don't name theirs; without it the script decides. Rows
    without ids are named by their lines.
    """
    files, seen = part_files(path), SeenIds()
    several = len(files) > 1
    read = [check_records(file, file.records(), columns or {}, lang, seen, several) for file in files]
    together = ProblemSet.joined(read, constants)
    if not skip_bad:
        refuse_bad(str(path) if several else str(files[0]), len(together), together.bad)
    return together


def read_parts(
    path: Path | str,
    size: int,
    *,
    skipped: SkippedRows | None = None,
    lang: str | None = None,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
) -> tuple[int, Iterator[ProblemSet]]:
    """How many rows `path` has, as for `read_problems`, and their problems, at most `size` at a time.

    Parquet files and JSON Lines are not read as a whole: memory grows by some bytes for each problem, by
    which a repeated id is noticed. Bad rows are an error, or go to `skipped`.
    """
    files = part_files(path)
    return sum(file.count() for file in files), _parts(files, size, skipped, lang, constants)


def _parts(
    files: Sequence[PartFile],
    size: int,
    skipped: SkippedRows | None,
    lang: str | None,
    constants: Sequence[Constant],
) -> Iterator[ProblemSet]:
    seen, several = SeenIds(), len(files) > 1
    for file in files:
        records, known = file.stream(), None
        while some := list(islice(records, size)):
            part = check_records(file, some, {}, lang, seen, several, known)
            known = part.format
            if skipped is None:
                refuse_bad(str(file), len(part), part.bad)
            elif part.bad:
                skipped.add(part.bad)
            if len(part):
                yield part.with_constants(constants)


def read_sample(path: Path | str, count: int, seed: int, *, skip_bad: bool = False) -> ProblemSet:
    """Problems of a large set, drawn by the seed: those that `shuffled` has first. Few are held in memory."""
    files = part_files(path)
    several = len(files) > 1
    keyed = ((shuffle_key(name, seed), file, record) for name, file, record in _named(files, several))
    drawn = nsmallest(count, keyed, key=lambda row: row[0])
    if not drawn:
        raise WarmkitError(f"{path}: there are no problems.")
    return _of_records(path, ((file, record) for _, file, record in drawn), several, skip_bad)


def read_chosen(path: Path | str, ids: Collection[str], *, skip_bad: bool = False) -> ProblemSet:
    """The problems of a large set that have these ids. No others are held in memory, or checked."""
    files = part_files(path)
    several = len(files) > 1
    chosen = ((file, record) for name, file, record in _named(files, several) if name in ids)
    return _of_records(path, chosen, several, skip_bad)


def _of_records(
    path: Path | str, chosen: Iterable[tuple[PartFile, Record]], several: bool, skip_bad: bool
) -> ProblemSet:
    """The problems of some records of files."""
    by_file: dict[PartFile, list[Record]] = {}
    for file, record in chosen:
        by_file.setdefault(file, []).append(record)
    seen = SeenIds()
    read = [
        check_records(file, sorted(records, key=lambda record: record[0]), {}, None, seen, several)
        for file, records in sorted(by_file.items(), key=lambda item: item[0].where)
    ]
    together = ProblemSet.joined(read) if read else ProblemSet(PROBLEMS.to_frame())
    if not skip_bad:
        refuse_bad(str(path), len(together), together.bad)
    return together


def _named(files: Sequence[PartFile], several: bool) -> Iterator[tuple[str, PartFile, Record]]:
    """Records that have fields, each with its id."""
    for file in files:
        records, known = file.stream(), None
        while some := list(islice(records, AT_ONCE)):
            known = _format(file, some, {}, None if known is None else known.name)
            prefix = f"{file.stem}:" if several else ""
            for record, (_, row) in zip(some, _rows(some, known, None, prefix), strict=True):
                if isinstance(row, dict):
                    yield str(row["id"]), file, record


def check_records(
    file: PartFile,
    records: Sequence[Record],
    columns: Mapping[str, str],
    lang: str | None,
    seen: SeenIds,
    several: bool,
    format: str | None = None,
) -> ProblemSet:
    """The problems of some records of a file, one of `several`; `format` is that of the records before."""
    known = _format(file, records, columns, format)
    prefix = f"{file.stem}:" if several else ""  # of ids that are lines: each file has a line 1
    rows = list(_rows(records, known, lang, prefix))
    table, masked, bad = check_rows(rows, str(file), seen)
    left_out = _left_out(rows, bad, str(file))
    return ProblemSet(table, masked=masked, bad=bad, left_out=left_out, format=known.name)


def _left_out(rows: Iterable[NumberedRow], bad: Iterable[BadRow], file: str) -> list[BadRow]:
    """Good rows whose equation is left out, each with the reason."""
    refused = {row.line for row in bad}
    return [
        BadRow(file, line, str(row["id"]), row[LEFT_OUT])
        for line, row in rows
        if isinstance(row, dict) and row.get(LEFT_OUT) and line not in refused
    ]


def is_in_parts(path: Path | str) -> bool:
    """Whether a problem set is a folder or a pattern, and not a file."""
    if s3.is_address(path):
        return s3.is_folder(str(path)) or has_magic(str(path))
    located = locate(path)
    return located.is_dir() or (has_magic(str(path)) and not located.exists())


def part_files(path: Path | str) -> list[PartFile]:
    """The files of a problem set: one file, those of a folder, or those that a pattern names, by name."""
    if s3.is_address(path):
        return _part_files_of_s3(str(path))
    located = locate(path)
    if located.is_dir():
        files = [file for file in located.iterdir() if file.suffix.lower() in PARTS and file.is_file()]
        if not files:
            raise _no_parts(path)
    elif has_magic(str(path)) and not located.exists():
        start = Path(located.anchor)  # of a relative pattern: this folder
        files = [file for file in start.glob(str(located.relative_to(start))) if file.is_file()]
        if not files:
            raise WarmkitError(f"{path}: no file has a name like this.")
    else:
        files = [located]
    return [PartFile(str(file)) for file in sorted(files)]


def _part_files_of_s3(address: str) -> list[PartFile]:
    found = s3.listed(address)
    if not found:
        missing = "no file has a name like this" if has_magic(address) else "there is no such file or folder"
        raise WarmkitError(f"{address}: {missing}.")
    if found == [address] or has_magic(address):
        return [PartFile(file) for file in found]
    files = [PartFile(file) for file in found if Path(file).suffix.lower() in PARTS]
    if not files:
        raise _no_parts(address)
    return files


def _no_parts(path: Path | str) -> WarmkitError:
    return WarmkitError(f"{path}: this folder has no parts: no file ends in {' or '.join(PARTS)}.")


def locate(path: Path | str) -> Path:
    """The path; bundled:en, bundled:hi and bundled:zh are the problems that come with warmkit."""
    name = str(path)
    if not name.startswith("bundled:"):
        return Path(path)
    file = BUNDLED / f"{name.removeprefix('bundled:')}.jsonl"
    if not file.is_file():
        known = ", ".join(f"bundled:{found.stem}" for found in sorted(BUNDLED.glob("*.jsonl")))
        raise WarmkitError(f"{name}: there are no such bundled problems. There are {known}.")
    return file


def format_name(path: PartFile, records: Sequence[Record]) -> str:
    """The format of the first records of a file."""
    return _format(path, records, {}, None).name


def _format(
    path: PartFile, records: Sequence[Record], columns: Mapping[str, str], before: str | None
) -> Format:
    """The format of the records before, or the one that `columns` describes, or that of the first record."""
    if before is not None:
        return next(known for known in FORMATS if known.name == before)
    record = next((fields for _, fields in records if isinstance(fields, dict)), None)
    if record is None:
        raise WarmkitError(f"{path}: it has no rows with named fields, so it is not a problem set.")
    found = ", ".join(list(record)[:12])
    if columns:
        if missing := [name for name in columns.values() if name not in record]:
            raise WarmkitError(f"{path}: there is no column {', '.join(missing)}. It has {found}.")
        return renamed(columns)
    known = recognise(record)
    if known is None:
        names = sorted({known.name for known in FORMATS})
        raise WarmkitError(
            f"{path}: its fields ({found}) match no known format ({', '.join(names)}).", "unknown-format"
        )
    return known


def _rows(records: Iterable[Record], known: Format, lang: str | None, prefix: str) -> Iterator[NumberedRow]:
    rows = [(line, known.convert(fields) if isinstance(fields, dict) else fields) for line, fields in records]
    named = any(isinstance(row, dict) and row["id"] is not None for _, row in rows)
    for line, row in rows:
        if isinstance(row, dict):
            row["id"] = row["id"] if named else f"{prefix}{line}"
            row["lang"] = row.get("lang") or lang
        yield line, row


FOLD_START = 10_000  # characters that are looked at
_FOLD_LINE = re.compile(r"\s*[\w.-]{1,200}\s*")


def is_fold_file(path: Path | str) -> bool:
    """Whether a file lists ids, one per line, like the fold files of AllArith."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open(encoding="utf-8") as file:
            lines = [line for line in file.read(FOLD_START).split("\n") if line.strip()]
    except (OSError, UnicodeDecodeError):
        return False
    return bool(lines) and all(_FOLD_LINE.fullmatch(line) for line in lines)


def with_folds(problems: pl.DataFrame, files: Sequence[Path | str]) -> tuple[pl.DataFrame, int]:
    """The problems with `split` set to the name of the fold file that lists them.

    Also returns how many ids of the fold files belong to no problem.
    """
    folds: dict[str, str] = {}
    for path in map(Path, files):
        for name in read_text(path).split():
            if folds.setdefault(name, path.stem) != path.stem:
                raise WarmkitError(f"{path}: id {name} is in {folds[name]} already: folds must not overlap.")
    unknown = len(folds.keys() - set(problems["id"]))
    split = pl.col("id").replace_strict(folds, default=pl.col("split"), return_dtype=pl.String)
    return problems.with_columns(split=split), unknown
