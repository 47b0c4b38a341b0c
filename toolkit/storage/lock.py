"""A file that one process holds at a time. The lock ends with the process, however that ends.

A holder may sign the file, so that others see who holds it. A lock file is never followed as a symbolic
link: a person who can write to its folder can't make us sign another file.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import portalocker
from portalocker import LockFlags

from toolkit.errors import WarmkitError

EXCLUSIVE = LockFlags.EXCLUSIVE
# Shared, so that two probes don't take each other for a holder. On Windows a shared lock needs pywin32.
PROBE = LockFlags.SHARED if os.name == "posix" else LockFlags.EXCLUSIVE
PROBE_SECONDS = 0.1  # a probe holds the lock for an instant, which must not look like a holder


@contextmanager
def held(path: Path, taken: Callable[[str], str]) -> Iterator[IO[str]]:
    """The lock file, held. If another process holds it: an error, with the message `taken(signature)`."""
    with _opened(path, os.O_RDWR | os.O_CREAT) as file:
        deadline = time.monotonic() + PROBE_SECONDS
        while not _lock(path, file, EXCLUSIVE | LockFlags.NON_BLOCKING):
            if time.monotonic() > deadline:
                raise WarmkitError(taken(_signature(file)))
            time.sleep(0.01)
        yield file


@contextmanager
def held_when_free(path: Path, on_wait: Callable[[], object] = lambda: None) -> Iterator[IO[str]]:
    """The lock file, held as soon as it is free. `on_wait` is called once if it is not free at once."""
    with _opened(path, os.O_RDWR | os.O_CREAT) as file:
        if not _lock(path, file, EXCLUSIVE | LockFlags.NON_BLOCKING):
            on_wait()
            while not _lock(path, file, EXCLUSIVE):  # Windows gives up after some seconds
                pass
        yield file


@contextmanager
def turn(path: Path, on_wait: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Hold a lock file that is there only as long as somebody holds it or waits for it.

    `on_wait` is called if it is not free at once. The folder of the file is made if it is not there.
    """
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WarmkitError(f"{path.parent}: it can't be made: {error.strerror}.") from None
        with held_when_free(path, on_wait) as file:
            if not _is_at(path, file):  # who held it before has deleted it: others lock a new file
                continue
            try:
                yield
            finally:
                with suppress(OSError):  # Windows keeps a file that is open
                    path.unlink(missing_ok=True)
            return


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock now."""
    if not path.exists():
        return False
    with _opened(path, os.O_RDONLY) as file:
        return not _lock(path, file, PROBE | LockFlags.NON_BLOCKING)


def sign(lock: IO[str], holder: str) -> None:
    """Write into a held lock file who holds it."""
    lock.seek(0)
    lock.truncate()
    lock.write(holder)
    lock.flush()


def descriptors(lock: IO[str]) -> tuple[int, ...]:
    """For `subprocess.Popen(pass_fds=...)`: the child holds the lock too, even if this process is killed.

    Windows can't do that: there the lock ends with this process.
    """
    return (lock.fileno(),) if os.name == "posix" else ()


def _opened(path: Path, flags: int) -> IO[str]:
    try:
        descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        raise WarmkitError(f"{path}: the lock file can't be opened: {error.strerror}.") from None
    return os.fdopen(descriptor, "r" if flags == os.O_RDONLY else "r+", encoding="utf-8")


def _lock(path: Path, file: IO[str], flags: LockFlags) -> bool:
    """Whether the lock was taken. Closing the file gives it back, unless a child holds it too."""
    try:
        portalocker.lock(file, flags)
    except portalocker.AlreadyLocked:
        return False
    except portalocker.LockException as error:  # for instance a network drive without locks
        raise WarmkitError(f"{path}: it can't be locked: {error}.") from None
    return True


def _is_at(path: Path, file: IO[str]) -> bool:
    """Whether an open file is the one that the path leads to now."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def _signature(file: IO[str]) -> str:
    with suppress(OSError):  # Windows lets nobody read a file that is held
        file.seek(0)
        return file.read().strip() or "?"
    return "?"
