"""Ray's list of the checkpoints of a run, kept so that it can't be lost.

Ray Train writes the list in place, after all ranks have stored a checkpoint. A full disk, or a kill in that
instant, leaves half of it, and Ray refuses the run from then on. So the last whole list is kept beside it.
The checkpoints that it names are there: Ray deletes older ones only after it has written the new list. In
object storage a file appears whole, and nothing is kept.
"""

import json
from contextlib import suppress
from pathlib import Path

from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing

SNAPSHOT = "checkpoint_manager_snapshot.json"  # Ray's name
KEPT = "checkpoint_manager_snapshot.kept.json"


def keep_snapshot(run: Path) -> None:
    """Keep the list in the folder of a run, if it is whole and can be kept."""
    content = _whole(run / SNAPSHOT)
    if content is not None:
        with suppress(OSError, WarmkitError), replacing(run / KEPT) as temporary:
            temporary.write_bytes(content)


def restore_snapshot(run: Path) -> None:
    """If the list in the folder of a run is not whole, put the kept one in its place.

    Without one, the run begins anew.
    """
    path = run / SNAPSHOT
    if not path.exists() or _whole(path) is not None:
        return
    content = _whole(run / KEPT)
    if content is None:
        path.unlink()
        return
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def _whole(path: Path) -> bytes | None:
    """The content of a file of JSON, None if it is cut off or can't be read."""
    try:
        content = path.read_bytes()
        json.loads(content)
    except (OSError, ValueError):
        return None
    return content
