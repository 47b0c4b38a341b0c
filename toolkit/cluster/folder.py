"""Ray's temporary files: a folder for each session, gone with it, or when the next begins after a kill.

A session holds a lock in its folder, which ends with its process however that ends.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from toolkit.data.lock import held
from toolkit.errors import WarmkitError


@contextmanager
def session_folder() -> Iterator[Path]:
    """A folder with a short path, for sockets lie in it; before, those of dead sessions are removed."""
    for owner in Path(tempfile.gettempdir()).glob("warmkit-ray-*/owner"):
        with suppress(WarmkitError, OSError), held(owner, str):
            shutil.rmtree(owner.parent, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix="warmkit-new-"))
    with held(made / "owner", str):
        folder = made.rename(made.with_name(made.name.replace("-new-", "-ray-")))  # now it may be found
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
