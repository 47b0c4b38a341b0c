from commands import kills


def test_a_run_with_workers_that_is_killed_ends_as_one_that_is_not():
    assert kills("--count", "1", "--with", "workers", "--seed", "1")["all"] == 1
