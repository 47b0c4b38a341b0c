"""Read problem sets from files of any known format."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from toolkit.data.formats import FORMATS, LEFT_OUT, Format, recognise, renamed
from toolkit.data.problems import ProblemSet
from toolkit.data.records import Record, read_records
from toolkit.data.schema import PROBLEMS, BadRow, check_rows, refuse_bad
from toolkit.equations import DEFAULT_CONSTANTS, Constant
from toolkit.errors import WarmkitError
from toolkit.storage.files import read_text
from toolkit.storage.tables import check_texts, count_rows, guarded, is_parquet, scan_parquet

NumberedRow = tuple[int, "dict[str, Any] | str"]

BUNDLED = Path(__file__).parent / "bundled"


def read_problems(
    path: Path | str,
    *,
    skip_bad: bool = False,
    columns: Mapping[str, str] | None = None,
    lang: str | None = None,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
) -> ProblemSet:
    """The problems of one file.

    Bad rows are an error that lists them, unless `skip_bad` keeps only the good rows. `columns` gives the
    file's own names of columns ({"text": "question", "answer": "gold"}); without it the format is
    recognised. `lang` is the language of rows that don't name theirs; without it the script decides. Rows
    without ids are named by their lines.
    """
    path = locate(path)
    records = read_records(path)
    known = _format(path, records, columns or {})
    rows = list(_rows(records, known, lang))
    table, masked, bad = check_rows(rows, str(path))
    if not skip_bad:
        refuse_bad(str(path), len(table), bad)
    left_out = _left_out(rows, bad, str(path))
    return ProblemSet(table, constants, masked=masked, bad=bad, left_out=left_out, format=known.name)


def _left_out(rows: Iterable[NumberedRow], bad: Iterable[BadRow], file: str) -> list[BadRow]:
    """Good rows whose equation is left out, each with the reason."""
    refused = {row.line for row in bad}
    return [
        BadRow(file, line, str(row["id"]), row[LEFT_OUT])
        for line, row in rows
        if isinstance(row, dict) and row.get(LEFT_OUT) and line not in refused
    ]


def read_parts(
    path: Path | str,
    size: int,
    *,
    skip_bad: bool = False,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
) -> tuple[int, Iterator[ProblemSet]]:
    """How many problems a file has, and the problems, `size` at a time.

    A Parquet file that warmkit wrote is not read as a whole: memory does not grow with it. A repeated id is
    then noticed only within a part.
    """
    path = locate(path)
    rows = scan_parquet(path) if is_parquet(path) else None
    if rows is None or not set(PROBLEMS) <= set(_columns(path, rows)):
        problems = read_problems(path, skip_bad=skip_bad, constants=constants)
        return len(problems), problems.parts(size)
    count = count_rows(path)
    return count, _checked_parts(path, rows, count, size, skip_bad, constants)


def _columns(path: Path, rows: pl.LazyFrame) -> list[str]:
    with guarded(path):
        return rows.collect_schema().names()


def _checked_parts(
    path: Path, rows: pl.LazyFrame, count: int, size: int, skip_bad: bool, constants: Sequence[Constant]
) -> Iterator[ProblemSet]:
    for start in range(0, count, size):
        with guarded(path):
            part = rows.select(list(PROBLEMS)).slice(start, size).collect()
            check_texts(path, part)
        table, masked, bad = check_rows(enumerate(part.iter_rows(named=True), start + 1), str(path))
        if not skip_bad:
            refuse_bad(str(path), len(table), bad)
        if len(table):
            yield ProblemSet(table, constants, masked=masked, bad=bad)


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


def _format(path: Path, records: Sequence[Record], columns: Mapping[str, str]) -> Format:
    """The format that `columns` describes, or the format of the first record with fields."""
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


def _rows(records: Iterable[Record], known: Format, lang: str | None) -> Iterator[NumberedRow]:
    rows = [(line, known.convert(fields) if isinstance(fields, dict) else fields) for line, fields in records]
    named = any(isinstance(row, dict) and row["id"] is not None for _, row in rows)
    for line, row in rows:
        if isinstance(row, dict):
            row["id"] = row["id"] if named else str(line)
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
