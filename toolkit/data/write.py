"""Tables to files, whole or not at all."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from toolkit.errors import WarmkitError

UNFINISHED = ".part"  # how the names of temporary files end; a kill leaves them behind


@contextmanager
def replacing(path: Path, private: bool = False) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well, and else vanishes.

    A private one is for its owner alone, from the first byte.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=UNFINISHED)
        os.close(handle)
    except OSError as error:
        raise WarmkitError(f"{path}: it can't be written: {error.strerror}.") from None
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o600 if private else 0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise WarmkitError(f"{path}: it can't be written: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


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
    """A table as Parquet, JSON Lines or CSV, as the file's name ends."""
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise WarmkitError(f"{path}: the name must end in {', '.join(WRITERS)}.")
    with replacing(path) as temporary:
        try:
            writer(frame, temporary)
        except pl.exceptions.PolarsError as error:
            raise WarmkitError(f"{path}: it can't be written: {error}.") from None
