import json
import os
import subprocess
import sys
from pathlib import Path

from commands import LONGEST, with_helpers

DRIVER = Path(__file__).with_name("killed.py")


def test_a_run_that_is_killed_before_every_write_ends_as_one_that_is_not(tmp_path):
    done = subprocess.run(
        [sys.executable, DRIVER, tmp_path],
        capture_output=True,
        text=True,
        timeout=LONGEST,
        env=with_helpers(os.environ),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] > 40  # five files and more, and seven commits, in each of three rounds
    assert found["killed"] == found["whole"]
    assert found["whole"]["litter"] == []
    assert len(found["whole"]["asked"]) == 8
