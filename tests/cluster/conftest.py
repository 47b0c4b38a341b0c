"""One Ray session for all tests here: two CPUs, whatever the machine has."""

import tempfile

import pytest

from toolkit.cluster.session import Session, Where, prepare
from toolkit.data import read_problems

WHERE = Where(workers=2)


@pytest.fixture(scope="package")
def session():
    prepare(WHERE)
    import ray

    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    with tempfile.TemporaryDirectory(prefix="warmkit-ray-", ignore_cleanup_errors=True) as folder:
        settings = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 10**8}
        ray.init("local", _temp_dir=folder, **settings, **quiet)
        yield Session(WHERE)
        ray.shutdown()


@pytest.fixture(scope="session")
def problems():
    return read_problems("bundled:en").problems.head(41)
