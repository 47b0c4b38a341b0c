"""What tests that start commands share."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

BUSY = {  # what Ray needs beside processes that compute
    "RAY_worker_niceness": "0",  # at its own 15 its processes starve
    "RAY_raylet_start_wait_time_s": "600",
}
LONGEST = 1_800  # seconds: on no machine does a step of a test take so long, unless it hangs


def sets(settings: Iterable[str]) -> list[str]:
    """Each setting as an option of the command line."""
    return [word for setting in settings for word in ("--set", setting)]


def without_ray() -> dict[str, str]:
    """The environment of a process that is to have a Ray of its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_") or name in BUSY}


def with_helpers(env: Mapping[str, str]) -> dict[str, str]:
    """An environment in which a process can import what is in this folder, and what this one can."""
    folders = [str(Path(__file__).parent), *filter(None, [env.get("PYTHONPATH")])]
    return {**env, "PYTHONPATH": os.pathsep.join(folders)}


def children(process: int) -> list[int]:
    """Of all its threads: a child belongs to the one that started it. None if it has ended."""
    found = []
    with suppress(OSError):
        for one in Path(f"/proc/{process}/task").glob("*/children"):
            found += [int(child) for child in one.read_text().split()]
    return found


def descendants(process: int) -> list[int]:
    return [one for child in children(process) for one in (child, *descendants(child))]


def command_line(process: int) -> bytes:
    """Empty if the process has ended, even if nobody has asked yet how it ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def a_worker() -> int:
    """The process of a training worker of our own Ray session: others may have one at the same time."""
    raylets = {child for child in children(os.getpid()) if b"/raylet" in command_line(child)}
    for worker in (child for raylet in raylets for child in children(raylet)):
        if b"ray::RayTrainWorker" in command_line(worker):
            return worker
    raise AssertionError("no training worker runs")


def wait_for_the_end_of(processes: Iterable[int]) -> None:
    """Ray's processes end by themselves when the one that started them is killed, but not at once."""
    deadline = time.monotonic() + LONGEST
    while left := [process for process in processes if command_line(process)]:
        assert time.monotonic() < deadline, [command_line(process) for process in left]
        time.sleep(0.1)


def kills(*arguments: str, **environment: str) -> dict[str, int]:
    """How many kills of a campaign came in each stage; all of its runs ended as the undisturbed one."""
    campaign = Path(__file__).parent / "kills" / "campaign.py"
    done = subprocess.run(
        [sys.executable, campaign, *arguments],
        capture_output=True,
        text=True,
        timeout=LONGEST,
        env=with_helpers({**without_ray(), **environment}),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^ *(\w[\w ]*?)  +(\d+)  ", done.stdout, re.MULTILINE)
    return {stage: int(count) for stage, count in rows}


def together(size: int, folder: Path, script: str, *arguments: str) -> None:
    """`size` processes of one group, each with its rank, their number and where they meet, run the script."""
    group = str(folder / "group")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(rank), str(size), group, *arguments],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    errors = [process.communicate(timeout=LONGEST)[1] for process in started]
    assert [process.returncode for process in started] == [0] * size, errors
