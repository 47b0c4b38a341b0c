"""What holds for all tests: their marks, who runs beside whom, and that none of them depends on speed.

`make test` runs them in several processes: what waits for a server or for Ray overlaps with what computes.
"""

import os
import sys
from contextlib import ExitStack

import hypothesis
import pytest
from commands import BUSY
from marks import NEEDS, group, marks, need_of, rank

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
os.environ |= dict.fromkeys(THREADS, "1")  # before torch is imported, and for what a test starts
os.environ |= BUSY

hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        for mark in marks(item.nodeid, item.fixturenames):
            item.add_marker(mark)
    # What uses the Ray session comes in a row: it is started once.
    items.sort(key=lambda item: (rank(item.nodeid), "session" not in item.fixturenames))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    cores = len(os.sched_getaffinity(0))
    return cores if config.option.numprocesses == "logical" else cores + 2  # with Ray or a server, some wait


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A group in one process, and in the order of above."""
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group(nodeid)

    config.option.loadscopereorder = False
    return Groups(config, log)


allowed = set(NEEDS)  # what may be started now: outside of tests, everything


def forbid(event, arguments):
    """What a test starts without a mark would make `make quick` slow, or fail where there is none."""
    if event == "subprocess.Popen" and (need := need_of(arguments[1])) and need not in allowed:
        raise AssertionError(f"{arguments[1][0]} is started: the test needs the mark {need} (tests/marks.py)")


sys.addaudithook(forbid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    allowed.intersection_update({mark.name for mark in item.iter_markers()})
    try:
        return (yield)
    finally:
        allowed.update(NEEDS)


ray_session = ExitStack()


@pytest.fixture
def session():
    """A Ray session with two CPUs, whatever the machine has: one for all tests that use it, in a row."""
    from toolkit.cluster.folder import session_folder
    from toolkit.cluster.session import ClusterSpec, Session, prepare, start

    spec = ClusterSpec(workers=2)
    prepare(spec)
    import ray

    if not ray.is_initialized():
        start(spec, ray_session.enter_context(session_folder()), num_cpus=2)
        ray_session.callback(ray.shutdown)
    return Session(spec)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem):
    try:
        return (yield)
    finally:
        if nextitem is None or "session" not in nextitem.fixturenames:
            ray_session.close()
