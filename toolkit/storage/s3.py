"""Files in S3: listed, and fetched one at a time to a temporary file while they are read.

An address is s3://BUCKET/KEY. Keys of access, the region and the server come from the environment
(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL), as for the
checkpoints of Ray. An address with a key in it is refused.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

SCHEME = "s3://"
BLOCK = 2**20  # bytes that are fetched at a time

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")  # without room for a key of access, or options
_OPTIONS = re.compile(r"\?.*=")
_CODE = re.compile(r"AWS Error (\w+)")
_REASONS = {
    "ACCESS_DENIED": "access was denied. Look at AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and at who may "
    "read the bucket",
    "NETWORK_CONNECTION": "the server can't be reached. Look at AWS_ENDPOINT_URL, or AWS_REGION",
    "NO_SUCH_BUCKET": "there is no such bucket",
}
_DENIED = ("INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "INVALID_CLIENT_TOKEN_ID", "EXPIRED_TOKEN")
_REASONS |= dict.fromkeys(_DENIED, _REASONS["ACCESS_DENIED"])


def is_address(path: Path | str) -> bool:
    """Whether a problem set is in object storage, and not in a file."""
    return "://" in str(path)


def check_address(address: str) -> None:
    """Refuse what is not s3://BUCKET/KEY. A key of access in the address is not repeated."""
    scheme, _, rest = address.partition("://")
    bucket = rest.partition("/")[0]
    if "@" in bucket or _OPTIONS.search(address):
        shown = bucket.rpartition("@")[2].partition("?")[0]
        raise WarmkitError(
            f"{scheme}://…{shown}: an address has no keys and no options in it: others can read it. Set "
            "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL in the environment."
        )
    if f"{scheme}://" != SCHEME:
        raise WarmkitError(
            f"{address}: of addresses only {SCHEME}BUCKET/FOLDER can be read. Copy it to a folder."
        )
    if not _BUCKET.fullmatch(bucket):
        raise WarmkitError(f"{address}: this is not an address of the form {SCHEME}BUCKET/FOLDER.")


def is_folder(address: str) -> bool:
    """Whether files are below the address, and none has this name."""
    from pyarrow.fs import FileType

    with _said_of(address):
        return bool(_info(_system(address), address).type == FileType.Directory)


def listed(address: str) -> list[str]:
    """The file of an address, those of a folder, or those that a pattern in a folder names."""
    from pyarrow.fs import FileSelector, FileType

    with _said_of(address):
        system = _system(address)
        found = _info(system, address)
        if found.type == FileType.File:
            return [address]
        folder, pattern = found.path, "*"
        if found.type == FileType.NotFound:
            if not has_magic(address):
                return []
            folder, pattern = str(PurePosixPath(found.path).parent), PurePosixPath(found.path).name
        files = system.get_file_info(FileSelector(folder, allow_not_found=True))
    return sorted(
        SCHEME + file.path
        for file in files
        if file.type == FileType.File and fnmatchcase(file.base_name, pattern)
    )


def state(address: str) -> tuple[int, int]:
    """The size of a file, and when it was changed."""
    with _said_of(address):
        found = _info(_system(address), address)
    if not found.is_file:
        raise WarmkitError(f"{address}: there is no such file.")
    return found.size, found.mtime_ns


@contextmanager
def fetched(address: str) -> Iterator[Path]:
    """A copy of a file, while the block lasts."""
    with tempfile.TemporaryDirectory(prefix="warmkit-") as folder:
        copy = Path(folder) / PurePosixPath(address).name
        with _said_of(address):
            size, _ = state(address)
            with (
                _system(address).open_input_stream(address.removeprefix(SCHEME)) as stream,
                copy.open("wb") as out,
            ):
                shutil.copyfileobj(stream, out, BLOCK)
        if copy.stat().st_size != size:
            raise WarmkitError(f"{address}: it changed while it was read. Give the command again.")
        yield copy


def _system(address: str) -> "FileSystem":
    from pyarrow.fs import FileSystem

    check_address(address)
    bucket = address.removeprefix(SCHEME).partition("/")[0]
    return FileSystem.from_uri(SCHEME + bucket)[0]


def _info(system: "FileSystem", address: str) -> "FileInfo":
    """What is at an address. A bucket that is not there is an error: what it would hold only is not there."""
    from pyarrow.fs import FileType

    path = address.removeprefix(SCHEME).rstrip("/")
    bucket = path.partition("/")[0]
    found = system.get_file_info(path)
    if found.type == FileType.NotFound and system.get_file_info(bucket).type == FileType.NotFound:
        raise WarmkitError(f"{address}: there is no bucket {bucket}.")
    return found


@contextmanager
def _said_of(address: str) -> Iterator[None]:
    """Errors of S3 as one sentence about the address. What the server says is not repeated."""
    try:
        yield
    except FileNotFoundError:
        raise WarmkitError(f"{address}: there is no such file.") from None
    except OSError as error:
        found = _CODE.search(str(error))
        if found is None and error.errno is not None:  # of the temporary file
            raise WarmkitError(f"{address}: it can't be fetched: {error.strerror}.") from None
        code = found[1] if found else "nothing that can be understood"
        reason = _REASONS.get(code, f"S3 says {code}")
        raise WarmkitError(f"{address}: it can't be read: {reason}.") from None
