"""A file of a problem set: on a disk, or in S3, from where it is fetched while it is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from toolkit.data.records import Record, count_records, read_records, stream_records
from toolkit.errors import WarmkitError
from toolkit.storage import s3
from toolkit.storage.files import unreadable


@dataclass(frozen=True)
class PartFile:
    """A file with records. It may be sent to workers, which need its name alone."""

    where: str  # its path, or its address; errors name it so

    def __str__(self) -> str:
        return self.where

    @property
    def name(self) -> str:
        """Without its folder."""
        return PurePath(self.where).name

    @property
    def stem(self) -> str:
        return PurePath(self.where).stem

    @contextmanager
    def here(self) -> Iterator[Path]:
        """The file on this machine, while the block lasts; errors of the block are about where it is from."""
        if not s3.is_address(self.where):
            yield Path(self.where)
            return
        with s3.fetched(self.where) as copy:
            try:
                yield copy
            except WarmkitError as error:
                message = str(error).replace(str(copy), self.where)
                raise type(error)(message, error.code, **error.details) from None

    def records(self) -> list[Record]:
        """`read_records`."""
        with self.here() as path:
            return read_records(path)

    def stream(self) -> Iterator[Record]:
        """`stream_records`."""
        with self.here() as path:
            yield from stream_records(path)

    def count(self) -> int:
        """`count_records`."""
        with self.here() as path:
            return count_records(path)

    def state(self) -> tuple[int, int]:
        """Its size, and when it was changed."""
        if s3.is_address(self.where):
            return s3.state(self.where)
        try:
            found = Path(self.where).stat()
        except OSError as error:
            raise unreadable(Path(self.where), error) from None
        return found.st_size, found.st_mtime_ns
