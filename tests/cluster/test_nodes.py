"""A cluster of several nodes on this machine."""

import json
import subprocess
import sys
from pathlib import Path

from commands import LONGEST, with_helpers, without_ray

from toolkit.cluster.session import ENVIRONMENT

HERE = Path(__file__).parent


def test_a_loop_on_prepared_parts_ends_well_though_a_node_dies_in_its_second_round(tmp_path):
    env = with_helpers(ENVIRONMENT | without_ray())
    command = [sys.executable, str(HERE / "node_dies.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=LONGEST)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told == {"rule": "rounds", "killed": 1, "epochs": [1, 12], "parts": 1}
