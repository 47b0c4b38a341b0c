"""Ray's temporary files: a folder for each session, deleted with it; after a kill, when the next begins.

Ray opens its own folder to everybody on the machine, so it lies within one that is closed to all but us. A
session holds a lock in the closed one. The lock ends with the process, however that ends.
"""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from toolkit.errors import WarmkitError
from toolkit.storage.lock import held

SOCKET = 103 if sys.platform == "darwin" else 107  # bytes in the path of a socket
BELOW = len("/warmkit-ray-12345678/r/session_2026-01-01_00-00-00_000000_1234567/sockets/dash_MetricsHead")


@contextmanager
def session_folder() -> Iterator[Path]:
    """A folder that only its owner can enter. First, folders of dead sessions are removed."""
    root = _temporary()
    try:
        made = Path(tempfile.mkdtemp(prefix="warmkit-new-", dir=root))  # its mode is 0700
    except OSError as error:
        raise WarmkitError(f"{root}: no folder for Ray can be made there: {error.strerror}.") from None
    with held(made / "owner", str):
        _remove_dead(root, made.stat().st_uid)
        folder = made.rename(made.with_name(made.name.replace("-new-", "-ray-")))  # now others may find it
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def ray_folder(folder: Path) -> Path:
    """The folder for Ray, within that of a session: Ray makes it, and lets everybody write to it."""
    return folder / "r"


def write_secret(path: Path, text: str) -> Path:
    """A new file that only its owner can read, from its first moment."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _temporary() -> Path:
    """The folder for temporary files, or /tmp if the paths of Ray's sockets would be too long in it."""
    folder = Path(tempfile.gettempdir())
    return folder if len(os.fsencode(folder)) + BELOW <= SOCKET else Path("/tmp")


def _remove_dead(root: Path, user: int) -> None:
    """Remove what this user's dead sessions have left. Everybody can put links and folders there."""
    for folder in root.glob("warmkit-ray-*"):
        with suppress(WarmkitError, OSError):
            status, owner = folder.lstat(), folder / "owner"
            if stat.S_ISDIR(status.st_mode) and status.st_uid == user and owner.exists():
                with held(owner, str):
                    shutil.rmtree(folder, ignore_errors=True)
