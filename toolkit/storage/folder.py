"""Folders that appear whole or not at all, and from which nothing leads elsewhere, whoever sent them."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from toolkit.errors import WarmkitError
from toolkit.storage.atomic import PIECES, UNFINISHED, remove_empty
from toolkit.storage.lock import held, is_held, sign

DEEPEST = 50  # folders in folders; warmkit makes five
BUILDING = ".new-"  # the prefix of folders that are being built


def check_folder(folder: Path) -> None:
    """Refuse a folder if anything in it is neither a folder nor an ordinary file of its own.

    A link could make us read or overwrite a file elsewhere; a pipe would block whoever opens it. Links within
    the folder are allowed, and the folder itself may be a link. No file is opened: this takes some
    microseconds a file. If there is no folder, there is nothing to refuse.
    """
    for entry in _entries(folder):
        if entry.is_symlink():
            if not _leads_into(Path(entry.path), folder):
                raise WarmkitError(
                    f"{entry.path}: this link leads out of {folder}, so it is not followed. Delete it, or "
                    "put what it leads to in its place."
                )
        elif not entry.is_dir() and not entry.is_file():
            raise WarmkitError(f"{entry.path}: this is not an ordinary file. Delete it.")


def check_file(path: Path) -> None:
    """Refuse a file that is a link, or not an ordinary file. There may be none."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise WarmkitError(f"{path}: this is not an ordinary file, so it is not opened. Delete it.")


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Everything in a folder and the folders below it."""
    folders = [(str(folder), 0)]
    while folders:
        path, depth = folders.pop()
        if depth > DEEPEST:
            raise WarmkitError(f"{folder}: it has folders in folders, too deep for us. Delete {path}.")
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    yield entry
                    if entry.is_dir(follow_symlinks=False):
                        folders.append((entry.path, depth + 1))
        except (FileNotFoundError, NotADirectoryError):  # a run that is worked on deletes folders
            continue
        except OSError as error:
            raise WarmkitError(f"{folder}: it can't be read: {error.strerror}.") from None


def _leads_into(link: Path, folder: Path) -> bool:
    try:
        return link.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # links in a circle
        return False


@contextmanager
def working_in(folder: Path, taken: Callable[[str], str]) -> Iterator[None]:
    """Hold the lock of a folder, so that nobody else works in it: others get the message `taken(process)`."""
    with held(folder / "lock", taken) as lock:
        sign(lock, str(os.getpid()))
        for left_behind in folder.rglob(f".*{UNFINISHED}*"):  # by a kill in the middle of a write
            left_behind.unlink(missing_ok=True)
        for pieces in folder.glob(f"{PIECES}*"):
            shutil.rmtree(pieces, ignore_errors=True)
        yield


@contextmanager
def training_in(folder: Path) -> Iterator[None]:
    """The folder of a model or a solver, made, and held by the process that trains there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WarmkitError(f"{folder}: it can't be made: {error.strerror}.") from None
    with working_in(
        folder, lambda process: f"{folder}: process {process} trains in this folder. Name another one."
    ):
        yield


@contextmanager
def building(root: Path) -> Iterator[Path]:
    """An empty folder in `root`, hidden, to build another one in. `appear` gives it its name.

    If it has no name by the end of the block, it is deleted; after a kill, by whoever builds here next. A
    lock beside it says that somebody still builds it.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        for lock in root.glob(f"{BUILDING}*.lock"):
            if not is_held(lock):
                _remove(lock)
    except OSError as error:
        raise WarmkitError(f"{root}: it can't be made: {error.strerror}.") from None
    lock = root / f"{BUILDING}{token_hex(8)}.lock"
    with held(lock, str):
        try:
            lock.with_suffix("").mkdir()
            yield lock.with_suffix("")
        finally:
            _remove(lock)


def _remove(lock: Path) -> None:
    shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
    with suppress(OSError):  # Windows keeps a file that is open
        lock.unlink(missing_ok=True)


def appear(built: Path, folders: Iterable[Path]) -> Path | None:
    """Give a built folder the first of these names that is free. None if another process has them all."""
    for folder in folders:
        if not os.path.lexists(folder):
            try:
                return built.rename(folder)
            except OSError as error:  # somebody was faster
                if not os.path.lexists(folder):
                    raise WarmkitError(f"{folder}: it can't be made: {error.strerror}.") from None
    return None


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """An empty folder that becomes `folder` when the block succeeds, and is deleted when it fails.

    Folders that had to be made for it are deleted as well. There may be an empty `folder`, but no other.
    """
    taken = f"{folder}: there is something already. Name a new folder."
    made: list[Path] = []
    try:
        if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
            raise WarmkitError(taken)
        made = [parent for parent in folder.parents if not parent.exists()]
        with building(folder.parent) as built:
            yield built
            for file in (path for path in built.rglob("*") if path.is_file()):
                with file.open("rb+") as written:
                    os.fsync(written.fileno())
            with suppress(OSError):  # there is none, or it is no longer empty
                folder.rmdir()
            if appear(built, [folder]) is None:
                raise WarmkitError(taken)
    except OSError as error:
        raise WarmkitError(f"{folder}: it can't be written: {error.strerror or error}.") from None
    finally:
        remove_empty(made)
