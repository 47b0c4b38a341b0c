"""Tables in files as frames: Parquet, JSON Lines and CSV.

Whatever is wrong with a file is a `WarmkitError` that names it. Polars panics on some broken
files: that is a `BaseException`, and it is also printed. Here it is neither.
"""

import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import polars as pl

from toolkit.errors import WarmkitError
from toolkit.storage import parquet
from toolkit.storage.cells import from_cells
from toolkit.storage.files import file_size, in_units, memory, read_bytes

MOST_TIMES = 1_000  # times its size that a table may unpack to; a million texts of one pattern come to 150
SMALL = 2**28  # bytes that a table may unpack to, however small its file
LONGEST_REASON = 200

# CSV columns are read as text and then take their types, so that the id 007 stays 007.
TEXT_READERS: dict[str, Callable[[bytes, pl.Schema], pl.DataFrame]] = {
    ".jsonl": lambda raw, schema: pl.read_ndjson(raw, schema=schema),
    ".csv": lambda raw, schema: from_cells(pl.read_csv(raw, infer_schema=False)),
}

_FROM_SYSTEM = re.compile(r"^.*IO error: | \(os error \d+\)")  # what Polars adds to "File too large"
_redirecting = threading.RLock()


def read_table(path: Path, schema: pl.Schema) -> pl.DataFrame:
    """A table of this schema from a .parquet, .jsonl or .csv file."""
    suffix = path.suffix.lower()
    if suffix not in TEXT_READERS and suffix != ".parquet":
        raise WarmkitError(f"{path}: the name of a table ends in .parquet, {' or '.join(TEXT_READERS)}.")
    if suffix == ".parquet":
        return read_parquet(path, schema)
    raw = read_bytes(path)
    with guarded(path):
        table = TEXT_READERS[suffix](raw, schema)
    return as_schema(table, schema, str(path))


def read_parquet(path: Path, schema: pl.Schema | None = None) -> pl.DataFrame:
    """A table that fits in memory, with its texts; with a schema, the columns that it names."""
    _check_parquet(path, whole=True)
    with guarded(path):
        table = pl.read_parquet(path, glob=False)
        check_texts(path, table)
    return table if schema is None else as_schema(table, schema, str(path))


def as_schema(table: pl.DataFrame, schema: pl.Schema, name: str) -> pl.DataFrame:
    """The columns of a schema, with its types; an error that names the table if it does not have them."""
    if missing := [column for column in schema if column not in table.columns]:
        raise WarmkitError(f"{name}: this table has no column {', '.join(missing)}.")
    try:
        return table.select(pl.col(column).cast(dtype) for column, dtype in schema.items())
    except pl.exceptions.PolarsError as error:
        raise WarmkitError(f"{name}: a column of this table is of another kind: {_reason(error)}.") from None


def scan_parquet(path: Path) -> pl.LazyFrame:
    """A table that is read part by part, each part within `guarded`."""
    _check_parquet(path, whole=False)
    with guarded(path):
        return pl.scan_parquet(path, glob=False)


def is_parquet(path: Path) -> bool:
    """Whether a file begins as Parquet does."""
    if not path.is_file():
        return False
    with guarded(path), path.open("rb") as file:
        return file.read(4) == parquet.MAGIC


def count_rows(path: Path) -> int:
    with guarded(path):
        file_size(path)
        return sum(rows for rows, _ in parquet.row_groups(path))


def check_texts(path: Path, table: pl.DataFrame) -> None:
    """Refuse a table whose texts take too much: one that the file has once may stand in a million rows."""
    texts = sum(_text_bytes(column) for column in table)
    _check_size(path, texts, texts)


def _check_parquet(path: Path, whole: bool) -> None:
    """Refuse a file that unpacks to too much, as a whole or in the row groups that are read one by one."""
    file_size(path)  # it is a regular file
    with guarded(path):
        groups = [unpacked for _, unpacked in parquet.row_groups(path)]
    _check_size(path, sum(groups), sum(groups) if whole else max(groups, default=0))


def _check_size(path: Path, unpacked: int, at_once: int) -> None:
    size = file_size(path)
    if unpacked > SMALL and unpacked > MOST_TIMES * size:
        raise WarmkitError(
            f"{path}: it unpacks to {in_units(unpacked)}, {unpacked // size:,} times its size. It is broken, "
            "or made to fill the memory."
        )
    if at_once > memory() // 2:
        raise WarmkitError(
            f"{path}: it unpacks to {in_units(at_once)}, more than half of this machine's memory."
        )


def _text_bytes(column: pl.Series) -> int:
    """The bytes of all texts of a column, those within lists and structures too."""
    while isinstance(column.dtype, pl.List | pl.Array):
        column = column.explode()
    if isinstance(column.dtype, pl.Struct):
        return sum(_text_bytes(field) for field in column.struct.unnest())
    return int(column.str.len_bytes().sum()) if column.dtype == pl.String else 0


@contextmanager
def guarded(path: Path, doing: str = "read") -> Iterator[None]:
    """Errors and panics of Polars while a file is read, or written, as one sentence about the file."""
    try:
        with _panics_unprinted():
            yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, parquet.Damaged, OSError) as error:
        raise WarmkitError(f"{path}: it can't be {doing}: {_reason(error)}.") from None


def _reason(error: BaseException) -> str:
    if isinstance(error, pl.exceptions.PanicException):
        return "Polars gives up on it"
    if isinstance(error, parquet.Damaged):
        return f"the Parquet file is broken ({error})"
    said = getattr(error, "strerror", None) or str(error)
    first = _FROM_SYSTEM.sub("", (said.splitlines() or [""])[0]).rstrip(".")
    return first if len(first) <= LONGEST_REASON else f"{first[:LONGEST_REASON]}…"


@contextmanager
def _panics_unprinted() -> Iterator[None]:
    """Within this block what goes to the error stream is held back, and dropped if there was a panic."""
    with _redirecting, ExitStack() as opened:
        try:
            stream = os.dup(2)
            opened.callback(os.close, stream)
            held = opened.enter_context(tempfile.TemporaryFile())
        except OSError:  # there is no error stream, or no place to hold it back
            yield
            return
        with suppress(AttributeError, OSError, ValueError):
            sys.stderr.flush()
        os.dup2(held.fileno(), 2)
        try:
            yield
        except pl.exceptions.PanicException:
            held.truncate(0)
            raise
        finally:
            os.dup2(stream, 2)
            held.seek(0)
            with suppress(OSError):
                os.write(2, held.read())
