"""A file that one process holds at a time."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from toolkit.errors import WarmkitError
from toolkit.storage.lock import descriptors, held, held_when_free, is_held, sign, turn

ROOT = Path(__file__).parents[2]
HOLDER = """
import sys, time
from pathlib import Path
from toolkit.storage.lock import held, sign
with held(Path(sys.argv[1]), str) as lock:
    sign(lock, "process 7 at work")
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lock"


@pytest.fixture
def holder(path):
    """Another process that holds the lock."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_what_is_held_is_refused_in_the_words_of_its_holder(path, holder):
    with (
        pytest.raises(WarmkitError, match="sorry, process 7 at work"),
        held(path, lambda who: f"sorry, {who}"),
    ):
        pass


def test_a_holder_that_signed_nothing_is_unknown_and_a_new_signature_replaces_the_old_one(path):
    with held(path, str) as lock:
        with pytest.raises(WarmkitError, match=r"^\?$"), held(path, str):
            pass
        sign(lock, "a long signature")
        sign(lock, "short")
        with pytest.raises(WarmkitError, match=r"^short$"), held(path, str):
            pass


def test_the_lock_ends_with_its_process(path, holder):
    assert is_held(path)
    holder.kill()
    holder.wait()
    assert not is_held(path)
    with held(path, str):
        pass


def test_a_probe_finds_a_holder_and_leaves_the_lock_alone(path):
    assert not is_held(path)
    assert not path.exists()
    with held(path, str):
        assert is_held(path)
        assert is_held(path)
    assert not is_held(path)


def test_a_probe_never_looks_like_a_holder(path):
    path.touch()
    stop = threading.Event()

    def probe():
        while not stop.is_set():
            is_held(path)

    probes = [threading.Thread(target=probe) for _ in range(2)]
    for thread in probes:
        thread.start()
    try:
        for _ in range(200):
            with held(path, str):
                pass
    finally:
        stop.set()
        for thread in probes:
            thread.join()


def test_who_waits_says_so_once_and_gets_the_lock_when_it_is_free(path, holder):
    waited = []

    def on_wait():
        waited.append(1)
        holder.kill()

    with held_when_free(path, on_wait):
        assert is_held(path)
    with held_when_free(path, on_wait):
        pass
    assert waited == [1]


@pytest.mark.skipif(os.name != "posix", reason="a child can't inherit a lock there")
def test_a_child_that_was_given_the_lock_holds_on_to_it(path):
    with held(path, str) as lock:
        sleeper = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        child = subprocess.Popen(sleeper, stdin=subprocess.PIPE, pass_fds=descriptors(lock))
    assert is_held(path)
    child.communicate()
    assert not is_held(path)


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are followed there")
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_not_followed(path, tmp_path, exists):
    target = tmp_path / "target"
    if exists:
        target.write_text("precious")
    path.symlink_to(target)
    for hold in (held(path, str), held_when_free(path)):
        with pytest.raises(WarmkitError, match=r"lock: the lock file can't be opened"), hold:
            pass
    assert target.exists() == exists
    assert not exists or target.read_text() == "precious"


def test_a_lock_that_cannot_be_opened_is_a_sentence(tmp_path):
    with (
        pytest.raises(WarmkitError, match="can't be opened: No such file"),
        held(tmp_path / "no" / "lock", str),
    ):
        pass


def test_nothing_of_ours_locks_files_by_itself():
    for folder in ("toolkit", "annotation", "tune"):
        for source in (ROOT / folder).rglob("*.py"):
            assert "fcntl" not in source.read_text(encoding="utf-8"), source


def test_turns_come_one_after_the_other_and_leave_no_file(tmp_path):
    path, inside, most = tmp_path / "new" / "lock", [], []

    def take():
        for _ in range(20):
            with turn(path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 80
    assert not list(path.parent.iterdir())
