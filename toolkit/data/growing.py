"""Large tables: written piece by piece, changed piece by piece, and joined to files, in flat memory.

A table of a million rows is written while it is made. What has to be known of all rows first, such as the
split of each, is added to the pieces afterwards. The files appear whole or not at all.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from toolkit.data.write import ROW_GROUP, append_csv, append_jsonl, check_suffix
from toolkit.errors import WarmkitError
from toolkit.storage.atomic import PIECES, remove_empty, replacing
from toolkit.storage.tables import guarded

APPENDERS = {".jsonl": append_jsonl, ".csv": append_csv}


class GrowingTable:
    """A table in pieces, each in a Parquet file. `name` is what it is called in errors."""

    def __init__(self, folder: Path, name: Path) -> None:
        self._folder, self._name = folder, name
        self._files: list[Path] = []

    @staticmethod
    def name(number: int) -> str:
        """The name of a piece: the order of the names is that of the pieces."""
        return f"part-{number:08d}.parquet"

    def add(self, piece: pl.DataFrame) -> None:
        self._files.append(self._folder / self.name(len(self._files)))
        self._write(piece, self._files[-1])

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for file in self._files:
            with guarded(self._name):
                yield pl.read_parquet(file, glob=False)

    def changed(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Replace each piece, and return it; all of them have to be taken."""
        for file, piece in zip(self._files, self, strict=True):
            self._write(new := change(piece), file)
            yield new

    def set_column(self, name: str, values: pl.Series) -> None:
        """Set a column to values for all rows, those of the first piece first."""
        start = 0
        for file, piece in zip(self._files, self, strict=True):
            self._write(piece.with_columns(values.slice(start, len(piece)).alias(name)), file)
            start += len(piece)

    def write(self, paths: Mapping[Path, pl.Expr | None], without: str = "") -> None:
        """Join the pieces to tables; with an expression, only the rows for which it is true. All or none.

        `without` is a column that is left out.
        """
        with ExitStack() as files:
            for path, condition in paths.items():
                check_suffix(path)
                temporary = files.enter_context(replacing(path))
                with guarded(path, "written"):
                    self._join(temporary, path.suffix.lower(), condition, without)

    def _join(self, path: Path, suffix: str, condition: pl.Expr | None, without: str) -> None:
        if suffix == ".parquet":
            rows = pl.scan_parquet(self._files, glob=False)
            rows = rows if condition is None else rows.filter(condition)
            rows.drop(without, strict=False).sink_parquet(path, row_group_size=ROW_GROUP)
            return
        with path.open("wb") as out:
            for i, piece in enumerate(self):
                rows_of_piece = piece if condition is None else piece.filter(condition)
                APPENDERS[suffix](rows_of_piece.drop(without, strict=False), out, i == 0)

    def _write(self, piece: pl.DataFrame, file: Path) -> None:
        with guarded(self._name, "written"):
            piece.write_parquet(file)


@contextmanager
def growing_table(out: Path) -> Iterator[GrowingTable]:
    """A table that is to be written to `out`: a file, or a folder of several files.

    Its pieces lie beside it, because that is where there is room for it, and are gone at the end.
    """
    made = [folder for folder in out.parents if not folder.exists()]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=out.parent, prefix=PIECES) as folder:
            yield GrowingTable(Path(folder), out)
    except OSError as error:
        raise WarmkitError(f"{out}: it can't be written: {error.strerror or error}.") from None
    finally:
        remove_empty(made)
