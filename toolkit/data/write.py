"""Write tables to files, whole or not at all."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl

from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing


def _jsonl(frame: pl.DataFrame, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in frame.iter_rows(named=True):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".jsonl": _jsonl,
    ".csv": lambda frame, path: frame.write_csv(path),
}


def write_table(frame: pl.DataFrame, path: Path | str) -> None:
    """Write a table as Parquet, JSON Lines or CSV, by the suffix of the file."""
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise WarmkitError(f"{path}: the name must end in {', '.join(WRITERS)}.")
    with replacing(path) as temporary:
        try:
            writer(frame, temporary)
        except pl.exceptions.PolarsError as error:
            raise WarmkitError(f"{path}: it can't be written: {error}.") from None
