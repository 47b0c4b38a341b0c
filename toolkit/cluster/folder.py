"""Ray's temporary files: a folder for each session, deleted with it; after a kill, when the next begins.

A session holds a lock in its folder. The lock ends with the process, however that ends.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from toolkit.errors import WarmkitError
from toolkit.storage.lock import held


@contextmanager
def session_folder() -> Iterator[Path]:
    """A folder with a short path, because sockets lie in it. First, folders of dead sessions are removed."""
    for owner in Path(tempfile.gettempdir()).glob("warmkit-ray-*/owner"):
        with suppress(WarmkitError, OSError), held(owner, str):
            shutil.rmtree(owner.parent, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix="warmkit-new-"))
    with held(made / "owner", str):
        folder = made.rename(made.with_name(made.name.replace("-new-", "-ray-")))  # now others may find it
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
