"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from toolkit.errors import WarmkitError

UNFINISHED = ".part"  # the suffix of temporary files; a kill leaves them behind
PIECES = ".pieces-"  # the prefix of temporary folders; likewise


@contextmanager
def replacing(path: Path, private: bool = False) -> Iterator[Path]:
    """A temporary file that replaces `path` when the block succeeds, and is deleted when it fails.

    Folders that had to be made for it are deleted as well. A `private` file can be read by its owner alone,
    from the first byte.
    """
    made: list[Path] = []
    try:
        if path.exists() and not path.is_file():
            raise WarmkitError(f"{path}: it can't be written: it is not a file.")
        made = [folder for folder in path.parents if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=UNFINISHED)
        os.close(handle)
    except OSError as error:
        remove_empty(made)
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
        remove_empty(made)


def remove_empty(folders: Sequence[Path]) -> None:
    """Delete the folders that are empty, the innermost first."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
