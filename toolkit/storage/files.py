"""Regular files, read whole. No reader waits for a pipe, or reads a device without end."""

import os
import stat
from pathlib import Path

from toolkit.errors import WarmkitError

UNKNOWN_MEMORY = 8 * 2**30  # bytes to assume if the system does not say

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def file_size(path: Path) -> int:
    """The size of a regular file, in bytes. Everything else is refused before it is opened."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise WarmkitError(f"{path}: there is no such file.") from None
    except (OSError, ValueError) as error:  # a name with a NUL character
        raise unreadable(path, error) from None
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise WarmkitError(f"{path}: it can't be read: it is {kind}, not a file.")
    return found.st_size


def read_bytes(path: Path) -> bytes:
    """The content of a regular file that fits in memory."""
    if (size := file_size(path)) > memory() // 2:
        raise WarmkitError(f"{path}: it has {in_units(size)}, more than half of this machine's memory.")
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


def read_text(path: Path) -> str:
    """The content of a UTF-8 file, without a byte order mark."""
    return decoded(read_bytes(path), path)


def decoded(raw: bytes, path: Path) -> str:
    """The bytes of a file as text."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in raw[:2]:
        raise WarmkitError(
            f"{path}: the file is UTF-16. Save it as UTF-8 (iconv -f UTF-16 -t UTF-8 {path.name})."
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise WarmkitError(
            f"{path}, line {line}: the file is not UTF-8 (byte 0x{raw[error.start]:02x} at offset "
            f"{error.start:,}). Save it as UTF-8, for instance with iconv."
        ) from None


def unreadable(path: Path, error: Exception) -> WarmkitError:
    return WarmkitError(f"{path}: it can't be read: {getattr(error, 'strerror', None) or error}.")


def memory() -> int:
    """The memory of this machine, in bytes."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows
        return UNKNOWN_MEMORY


def in_units(size: float) -> str:
    """A size for people: 2.1 GB."""
    units = iter(("bytes", "kB", "MB", "GB", "TB", "PB"))
    unit = next(units)
    for larger in units:
        if size < 1_000:
            break
        size, unit = size / 1_000, larger
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
