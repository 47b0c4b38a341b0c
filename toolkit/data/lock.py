"""A file that one process holds at a time. The lock goes with the process, however it ends."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from toolkit.errors import WarmkitError


@contextmanager
def held(path: Path, taken: Callable[[str], str]) -> Iterator[IO[str]]:
    """The lock file, held. Where another process holds it, `taken` makes a sentence of what that signed."""
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise WarmkitError(taken(file.read().strip() or "?")) from None
        yield file


def sign(lock: IO[str], who: str) -> None:
    """Leave word of who holds the lock."""
    lock.truncate(0)
    lock.write(who)
    lock.flush()
