"""Label Studio's own Python environment, made once: it pins its libraries too tightly to share ours.

It is in DATA/label-studio/python-VERSION. A marker is written last, so an environment that is incomplete (a
kill, a full disk, no network) has no marker and is made again. WARMKIT_LABEL_STUDIO_ENV names an environment
that has Label Studio already, to be used instead.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from toolkit.errors import WarmkitError
from toolkit.storage.lock import held_when_free

VERSION = "1.23.2"  # of Label Studio: what the tests of the bridge run against
REQUIREMENTS = (f"label-studio=={VERSION}",)  # it pins what it needs itself, the SDK to the patch
GIVEN = "WARMKIT_LABEL_STUDIO_ENV"
MARKER = "installed"

Report = Callable[[str], object]  # shows a message about the progress


class NotInstalled(WarmkitError):
    """Label Studio could not be installed."""


def find_environment(root: Path, report: Report = lambda message: None) -> Path:
    """The `label-studio` program of an environment in `root`, which is made if it does not exist."""
    if given := os.environ.get(GIVEN):
        program = Path(given).expanduser().absolute() / "bin" / "label-studio"
        if not program.exists():
            raise NotInstalled(f"{GIVEN} is {given}, but there is no {program}. Unset it, or install there.")
        return program
    folder = root / f"python-{VERSION}"
    program = folder / "bin" / "label-studio"
    with _alone(root / "python.lock", report):
        if not (folder / MARKER).exists():
            _make(folder, root / "install.log", report)
            (folder / MARKER).write_text("\n".join(REQUIREMENTS) + "\n", encoding="utf-8")
    return program


def _make(folder: Path, log: Path, report: Report) -> None:
    if folder.exists():
        report("An installation of Label Studio is incomplete; it is made again.")
        shutil.rmtree(folder)
    report(f"Label Studio {VERSION} is being installed, once (1 GB, some minutes)")
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
                report(f"Label Studio {VERSION} is being installed, once: {count} packages, {collected[1]}")
            elif line.startswith("Installing collected packages"):
                report(f"Label Studio {VERSION} is being installed, once: unpacking {count} packages")

        _run([*install, *REQUIREMENTS], note, log)


def _run(command: list[str], note: Callable[[str], object], log: Path) -> None:
    """Run a program and note its lines; if it fails, its last line is the reason."""
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
            f"The whole output is in {log}. Fix it (network? disk?) and call again; or install "
            f"{REQUIREMENTS[0]} elsewhere and set {GIVEN} to its environment."
        )


@contextmanager
def _alone(path: Path, report: Report) -> Iterator[None]:
    """One process at a time; others wait."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        waiting = "Waiting for another warmkit that is installing Label Studio"
        with held_when_free(path, lambda: report(waiting)):
            yield
    except OSError as error:
        raise NotInstalled(f"{path.parent}: Label Studio can't be installed there: {error}.") from None
