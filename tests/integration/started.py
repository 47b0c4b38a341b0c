"""A real Label Studio for tests.

Its environment and an empty database are made by the first run and kept in ~/.cache/warmkit-tests: the
installation takes minutes, the database one, a later start ten seconds.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from annotation.environment import VERSION, find_environment
from annotation.server import Server, running


class Started(NamedTuple):
    server: Server
    program: Path
    empty: Path  # a folder like the server's, before its first start: to be copied


@contextmanager
def started(folder: Path) -> Iterator[Started]:
    """A server whose data are in a new folder, while the block runs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warmkit-tests"
    program = find_environment(cache)
    empty = cache / f"empty-{VERSION}"
    if not (empty / "data").exists():
        with running(program, empty):
            pass
    shutil.copytree(empty, folder, ignore=shutil.ignore_patterns("lock", "*.log", "*.part"))
    with running(program, folder) as server:
        yield Started(server, program, empty)
