"""What commands do that prepare a problem set in parts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolkit.cli.output import note, progress, waiting
from toolkit.cluster.train import is_folder
from toolkit.data.read import part_files
from toolkit.data.skipped import SkippedRows, skipping


@dataclass(frozen=True)
class Preparing:
    """What a preparation tells."""

    skipped: SkippedRows | None  # takes bad rows, which are an error without it
    advance: Callable[[int], object]
    on_wait: Callable[[], object]  # another process prepares the same


@contextmanager
def preparing(data: str, root: Path, out: Path | None, times: int = 1) -> Iterator[Preparing]:
    """A bar for a preparation in the folder `root` that comes to every row so many times.

    Bad rows go to a file in the folder `out`, if there is one.
    """
    with skipping(None if out is None else out / "bad-rows.jsonl") as bad:
        with waiting(f"Counting {data}"):
            rows = sum(part.count() for part in part_files(data))
        with progress("Preparing", times * rows) as advance:
            yield Preparing(
                None if out is None else bad,
                advance,
                lambda: note(f"{data}: another process prepares it in {root}. Waiting for it."),
            )
    if bad.count:
        note(f"{bad.count:,} rows were left out:\n{bad}")


def prepared_root(prepared: Path | None, storage: str | None, out: Path) -> Path:
    """The folder in which prepared sets are, if none is given: all nodes see --storage, if it is a folder."""
    return prepared or (Path(storage) if storage and is_folder(storage) else out) / "prepared"
