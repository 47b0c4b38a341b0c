"""Label Studio's own Python environment, made once: it pins its libraries too tightly to share ours.

It is in DATA/label-studio/python-VERSION. A marker is written last, so one that was left half-made (a kill,
a full disk, no network) has none and is made again. WARMKIT_LABEL_STUDIO_ENV names an environment that has
Label Studio already, to be used instead.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from toolkit.errors import WarmkitError

VERSION = "1.23.2"  # of Label Studio: what the tests of the bridge run against
REQUIREMENTS = (f"label-studio=={VERSION}",)  # it pins what it needs itself, the SDK to the patch
GIVEN = "WARMKIT_LABEL_STUDIO_ENV"
MARKER = "installed"

Tell = Callable[[str], object]  # shows a person how far it is


class NotInstalled(WarmkitError):
    """Label Studio could not be installed."""


def find_environment(root: Path, tell: Tell = lambda text: None) -> Path:
    """The `label-studio` program of an environment in `root`, which is made if it is not there."""
    if given := os.environ.get(GIVEN):
        program = Path(given).expanduser().absolute() / "bin" / "label-studio"
        if not program.exists():
            raise NotInstalled(f"{GIVEN} is {given}, but there is no {program}. Unset it, or install there.")
        return program
    folder = root / f"python-{VERSION}"
    program = folder / "bin" / "label-studio"
    with _alone(root / "python.lock", tell):
        if not (folder / MARKER).exists():
            _make(folder, root / "install.log", tell)
            (folder / MARKER).write_text("\n".join(REQUIREMENTS) + "\n", encoding="utf-8")
    return program


def _make(folder: Path, log: Path, tell: Tell) -> None:
    if folder.exists():
        tell("An installation of Label Studio was left half-made; it is made again.")
        shutil.rmtree(folder)
    tell(f"Label Studio {VERSION} is being installed, once (1 GB, some minutes)")
    python = str(folder / "bin" / "python")
    with log.open("w", encoding="utf-8") as out:
        _run([sys.executable, "-m", "venv", str(folder)], out.write, log)
        install = [python, "-m", "pip", "install", "--progress-bar=off", "--no-input"]
        count = 0

        def note(line: str) -> None:
            nonlocal count
            out.write(line)
            if collected := re.match(r"Collecting ([\w.-]+)", line):
                count += 1
                tell(f"Label Studio {VERSION} is being installed, once: {count} packages, {collected[1]}")
            elif line.startswith("Installing collected packages"):
                tell(f"Label Studio {VERSION} is being installed, once: unpacking {count} packages")

        _run([*install, *REQUIREMENTS], note, log)


def _run(command: list[str], note: Callable[[str], object], log: Path) -> None:
    """A program whose lines are noted; if it fails, its own last words are the reason."""
    complaint = ""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")},
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                note(line)
                if line.startswith("ERROR") or (line.strip() and not complaint.startswith("ERROR")):
                    complaint = line.strip()
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise NotInstalled(
            f"Label Studio can't be installed: {complaint.removeprefix('ERROR: ')[:300]}\n"
            f"All of it is in {log}. Mend it (network? disk?) and call again; or install "
            f"{REQUIREMENTS[0]} elsewhere and set {GIVEN} to its environment."
        )


@contextmanager
def _alone(path: Path, tell: Tell) -> Iterator[None]:
    """One at a time; whoever comes second waits for the first."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                tell("Waiting for another warmkit that is installing Label Studio")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise NotInstalled(f"{path.parent}: Label Studio can't be installed there: {error}.") from None
