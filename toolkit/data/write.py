"""Write tables to files, whole or not at all."""

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import polars as pl

from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing
from toolkit.storage.cells import to_cells
from toolkit.storage.tables import guarded

ROW_GROUP = 16_384  # rows that a reader of a part of the file has to unpack


def append_jsonl(frame: pl.DataFrame, out: BinaryIO, is_first: bool = True) -> None:
    for row in frame.iter_rows(named=True):
        out.write((json.dumps(row, ensure_ascii=False) + "\n").encode())


def append_csv(frame: pl.DataFrame, out: BinaryIO, is_first: bool = True) -> None:
    to_cells(frame).write_csv(out, include_header=is_first)


WRITERS: dict[str, Callable[[pl.DataFrame, BinaryIO], object]] = {
    ".parquet": lambda frame, out: frame.write_parquet(out, row_group_size=ROW_GROUP),
    ".jsonl": append_jsonl,
    ".csv": append_csv,
}


def write_table(frame: pl.DataFrame, path: Path | str) -> None:
    """Write a table as Parquet, JSON Lines or CSV, by the suffix of the file."""
    write_tables({Path(path): frame})


def write_tables(frames: Mapping[Path, pl.DataFrame]) -> None:
    """`write_table` for several files: all of them are written, or none."""
    with ExitStack() as files:
        for path, frame in frames.items():
            check_suffix(path)
            temporary = files.enter_context(replacing(path))
            with guarded(path, "written"), temporary.open("wb") as out:
                WRITERS[path.suffix.lower()](frame, out)


def check_suffix(path: Path) -> None:
    if path.suffix.lower() not in WRITERS:
        raise WarmkitError(f"{path}: the name must end in {', '.join(WRITERS)}.")
