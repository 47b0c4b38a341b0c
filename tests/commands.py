"""What tests that start commands share."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

LONGEST = 900  # seconds: on no machine does a step of a test take so long, unless it hangs


def sets(settings: Iterable[str]) -> list[str]:
    """Each setting as an option of the command line."""
    return [word for setting in settings for word in ("--set", setting)]


def without_ray() -> dict[str, str]:
    """The environment of a process that is to have a Ray of its own."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RAY_") or name == "RAY_worker_niceness"
    }


def with_helpers(env: Mapping[str, str]) -> dict[str, str]:
    """An environment in which a process can import what is in this folder, and what this one can."""
    folders = [str(Path(__file__).parent), *filter(None, [env.get("PYTHONPATH")])]
    return {**env, "PYTHONPATH": os.pathsep.join(folders)}


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
