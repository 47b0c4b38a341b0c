"""How much a Parquet file unpacks to, read from its footer and the headers of its pages.

Polars believes what a file says of its sizes. A damaged or hostile file then takes gigabytes, or more than
there is, which ends the process. So the sizes are looked at before Polars sees the file. The footer alone is
not enough: what is unpacked is what the header of each page says.

The format: https://parquet.apache.org/docs/file-format/. Its structures are written in Thrift's compact
protocol, and here become mappings from the number of a field to its value.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"PAR1"
VALUE = 16  # bytes that a value takes in a frame, beside the text that it points to
DEEPEST = 32  # structures within structures; a footer has seven
PAGE_KINDS = (5, 7, 8)  # fields of a page's header: data, dictionary, data in its second version
ARROW_SCHEMA = 2**14  # bytes of the schema in Arrow's own form: some hundred columns, beside each other
HEADER = (2**13, 2**24)  # bytes in which to look for the header of a page, and then again

Fields = dict[int, Any]


class Damaged(Exception):
    """This is not what a Parquet file looks like."""


def row_groups(path: Path) -> Iterator[tuple[int, int]]:
    """For each row group: its rows, and the bytes that it unpacks to."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        try:
            footer = _footer(file, size)
            _check_depth(footer)
            for group in footer[4]:
                rows, unpacked = group[3], 0
                for chunk in group[1]:
                    values, packed_values = _pages(file, size, chunk[3])
                    unpacked += packed_values + VALUE * max(rows, values, chunk[3][5])
                if rows < 0:
                    raise Damaged("a negative number of rows")
                yield rows, unpacked
        except (AttributeError, LookupError, TypeError, ValueError, struct.error) as error:
            raise Damaged("a field is missing, or is of another kind") from error


def _footer(file: BinaryIO, size: int) -> Fields:
    file.seek(max(0, size - 8))
    end = file.read(8)
    if size < 12 or end[4:] != MAGIC:
        raise Damaged("it does not end as it should: it may be cut off")
    length = int.from_bytes(end[:4], "little")
    if length > size - 12:
        raise Damaged("its footer is larger than the file")
    file.seek(size - 8 - length)
    return _Thrift(file.read(length)).structure()


def _check_depth(footer: Fields) -> None:
    """Refuse columns within columns without end, in either of the two schemas: they exhaust the stack."""
    open_groups: list[int] = []  # how many columns of each group are still to come
    for element in footer[2]:
        while open_groups and not open_groups[-1]:
            open_groups.pop()
        if open_groups:
            open_groups[-1] -= 1
        if children := element.get(5, 0):
            open_groups.append(children)
        if len(open_groups) > DEEPEST:
            raise Damaged("columns within columns without end")
    if any(len(pair.get(2, b"")) > ARROW_SCHEMA for pair in footer.get(5, []) if pair[1] == b"ARROW:schema"):
        raise Damaged("its Arrow schema is too large")


def _pages(file: BinaryIO, size: int, chunk: Fields) -> tuple[int, int]:
    """How many values the pages of a column have, and the bytes that they unpack to."""
    begin = min(offset for offset in (chunk[9], chunk.get(11, 0)) if offset > 0)
    end = begin + chunk[7]
    if not 4 <= begin <= end <= size:
        raise Damaged("a column is outside of the file")
    values = unpacked = 0
    while begin < end:
        header, length = _page(file, begin, end)
        counts = [header[kind][1] for kind in PAGE_KINDS if kind in header]
        if min(header[2], header[3], *counts) < 0:
            raise Damaged("a page of a negative size")
        values += sum(counts)
        unpacked += header[2]
        begin += length + header[3]
    return values, unpacked


def _page(file: BinaryIO, begin: int, end: int) -> tuple[Fields, int]:
    """The header of a page, and its length."""
    for most in HEADER:
        file.seek(begin)
        reader = _Thrift(file.read(min(most, end - begin)))
        try:
            return reader.structure(), reader.at
        except IndexError:  # the statistics of a page may be long
            continue
    raise Damaged("the header of a page has no end")


class _Thrift:
    """The compact protocol: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md"""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.at = raw, 0

    def structure(self, depth: int = 0) -> Fields:
        fields: Fields = {}
        number = 0
        while head := self._byte():
            delta, kind = head >> 4, head & 15
            number = number + delta if delta else self._integer()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise Damaged("structures within structures without end")
        if kind in (4, 5, 6):
            return self._integer()
        if kind == 8:
            return self._bytes(self._varint())
        if kind == 12:
            return self.structure(depth + 1)
        if kind in (9, 10):
            return self._list(depth + 1)
        if kind in (1, 2, 3):  # in a list, a truth value is a byte
            return self._byte()
        if kind == 7:
            return self._bytes(8)
        raise Damaged("a field of an unknown kind")  # Parquet has no maps

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        if count > len(self.raw) - self.at:  # each takes at least a byte
            raise IndexError
        return [self._value(head & 15, depth) for _ in range(count)]

    def _byte(self) -> int:
        self.at += 1
        return self.raw[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self.raw):
            raise IndexError
        return self.raw[self.at - count : self.at]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise Damaged("a number without end")

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
