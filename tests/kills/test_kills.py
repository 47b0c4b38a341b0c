"""A handful of the kills of `make kills`: a run that is killed ends as one that is not.

With Label Studio: tests/integration/test_killed.py. With workers: tests/cluster/test_killed.py.
"""

import pytest
from commands import kills


def test_a_run_that_is_killed_before_every_write_ends_as_one_that_is_not():
    found = kills("--every-write", "--count", "0")
    assert found["all"] > 40  # five files and more, and seven commits, in each of three rounds


@pytest.mark.parametrize("annotator", ["oracle", "file", "scans"])
def test_a_run_that_is_killed_in_every_stage_ends_as_one_that_is_not(annotator):
    found = kills("--count", "10", "--with", annotator, "--seed", "1")
    assert found["all"] == 10
    assert found.keys() > {"begin", "open", "train", "generate", "solver", "choose", "annotate", "report"}
