"""A handful of the kills of `make kills`: a run that is killed ends as one that is not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import LONGEST, with_helpers

CAMPAIGN = Path(__file__).with_name("campaign.py")


def campaign(*arguments):
    """How many kills of a campaign came in each stage; all runs ended as the undisturbed one."""
    done = subprocess.run(
        [sys.executable, CAMPAIGN, *arguments],
        capture_output=True,
        text=True,
        timeout=LONGEST,
        env=with_helpers(os.environ),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^ *(\w[\w ]*?)  +(\d+)  ", done.stdout, re.MULTILINE)
    return {name: int(kills) for name, kills in rows}


def test_a_run_that_is_killed_before_every_write_ends_as_one_that_is_not():
    kills = campaign("--every-write", "--count", "0", "--seed", "1")
    assert kills["all"] > 40  # five files and more, and seven commits, in each of three rounds


@pytest.mark.parametrize("annotator", ["oracle", "file"])
def test_a_run_that_is_killed_in_every_stage_ends_as_one_that_is_not(annotator):
    kills = campaign("--count", "10", "--with", annotator, "--seed", "1")
    assert kills["all"] == 10
    assert kills.keys() > {"begin", "open", "train", "generate", "solver", "choose", "annotate", "report"}
