"""Write tables to files, whole or not at all."""

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import polars as pl

from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing
from toolkit.storage.cells import to_cells
from toolkit.storage.tables import guarded


def _jsonl(frame: pl.DataFrame, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in frame.iter_rows(named=True):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".jsonl": _jsonl,
    ".csv": lambda frame, path: to_cells(frame).write_csv(path),
}


def write_table(frame: pl.DataFrame, path: Path | str) -> None:
    """Write a table as Parquet, JSON Lines or CSV, by the suffix of the file."""
    write_tables({Path(path): frame})


def write_tables(frames: Mapping[Path, pl.DataFrame]) -> None:
    """`write_table` for several files: all of them are written, or none."""
    with ExitStack() as files:
        for path, frame in frames.items():
            writer = WRITERS.get(path.suffix.lower())
            if writer is None:
                raise WarmkitError(f"{path}: the name must end in {', '.join(WRITERS)}.")
            temporary = files.enter_context(replacing(path))
            with guarded(path, "written"):
                writer(frame, temporary)
