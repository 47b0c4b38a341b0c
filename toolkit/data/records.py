"""Files as records: JSON in its three layouts, CSV, Parquet and XML, recognised by their content.

Each reader yields (line, fields) pairs. `fields` is a mapping, or a sentence that says why the line has no
fields. An unreadable file is a `WarmkitError`.
"""

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat

from toolkit.errors import WarmkitError
from toolkit.storage.cells import from_cell
from toolkit.storage.files import decoded, file_size, in_units, read_bytes, unreadable
from toolkit.storage.tables import check_texts, count_rows, guarded, is_parquet, read_parquet, scan_parquet

Record = tuple[int, "dict[str, Any] | str"]

ROWS_AT_ONCE = 8_192  # of a Parquet file that is read part by part
LONGEST_LINE = 2**26  # bytes of a line of JSON

_BINARY = {
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive (or an Excel workbook)",
    b"\x1f\x8b": "a gzip archive",
    b"\x89PNG": "a PNG image",
    b"SQLite format 3": "an SQLite database",
}


def read_records(path: Path) -> list[Record]:
    """All records of a file."""
    if is_parquet(path):
        return list(enumerate(read_parquet(path).iter_rows(named=True), 1))
    raw = read_bytes(path)
    for magic, kind in _BINARY.items():
        if raw.startswith(magic):
            raise WarmkitError(
                f"{path}: this is {kind}, not a problem set. Export it as JSON, CSV or Parquet."
            )
    text = decoded(raw, path)
    start = text.lstrip()[:1]
    if not start:
        raise WarmkitError(f"{path}: the file is empty.")
    if start in "[{":
        return list(_json(text, path))
    if start == "<":
        return _xml(text, path)
    return list(_csv(text, path))


def stream_records(path: Path) -> Iterator[Record]:
    """All records of a file; Parquet and JSON Lines are read as they are asked for, in flat memory."""
    if is_parquet(path):
        return _stream_parquet(path)
    if _is_json_lines(path):
        return _stream_json_lines(path)
    return iter(read_records(path))


def count_records(path: Path) -> int:
    """How many records a file has, at most: empty lines count."""
    if is_parquet(path):
        scan_parquet(path)  # refuses what unpacks to too much, before any work
        return count_rows(path)
    if not _is_json_lines(path):
        return len(read_records(path))
    with _opened(path) as file:
        blocks = iter(lambda: file.read(2**20), b"")
        return sum(block.count(b"\n") for block in blocks) + 1


def _stream_parquet(path: Path) -> Iterator[Record]:
    rows = scan_parquet(path)
    for start in range(0, count_rows(path), ROWS_AT_ONCE):
        with guarded(path):
            part = rows.slice(start, ROWS_AT_ONCE).collect()
        check_texts(path, part)
        yield from enumerate(part.iter_rows(named=True), start + 1)


def _is_json_lines(path: Path) -> bool:
    """Whether the first line that is not empty is a whole object."""
    with _opened(path) as file:
        while line := file.readline(LONGEST_LINE):
            if stripped := line.removeprefix(codecs.BOM_UTF8).strip():
                return stripped.startswith(b"{") and stripped.endswith(b"}")
    return False


def _stream_json_lines(path: Path) -> Iterator[Record]:
    with _opened(path) as file:
        for number in count(1):
            line = file.readline(LONGEST_LINE)
            if not line:
                return
            if len(line) == LONGEST_LINE:
                raise WarmkitError(f"{path}, line {number}: it has more than {in_units(LONGEST_LINE)}.")
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise WarmkitError(
                    f"{path}, line {number}: the file is not UTF-8 (byte 0x{line[error.start]:02x}). Save it "
                    "as UTF-8, for instance with iconv."
                ) from None
            if text.strip():
                yield number, _json_line(text)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    file_size(path)  # it is a regular file
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise unreadable(path, error) from None


def _json(text: str, path: Path) -> Iterator[Record]:
    """A list of objects, objects one after another (Math23K), or one object a line (JSON Lines)."""
    first_line = text.lstrip().partition("\n")[0].strip()
    if first_line.startswith("{") and first_line.endswith("}"):
        yield from _json_lines(text)
        return
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    gap = re.compile(r"[\s,]*")
    at = gap.match(text).end()  # type: ignore[union-attr]  # it matches the empty string
    in_list = text[at] == "["
    at += in_list
    line, counted = 1, 0
    while True:
        at = gap.match(text, at).end()  # type: ignore[union-attr]
        line, counted = line + text.count("\n", counted, at), at
        if at == len(text) or (in_list and text[at] == "]"):
            break
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise WarmkitError(
                f"{path}, line {error.lineno}: the JSON is broken here ({error.msg}). "
                "If the file was cut off, copy or download it again."
            ) from None
        except _RepeatedKey as error:
            raise WarmkitError(f"{path}, line {line}: {error}.") from None
        except (RecursionError, ValueError):  # brackets without end, a number of thousands of digits
            raise WarmkitError(
                f"{path}, line {line}: this JSON can't be read: too deep or too large."
            ) from None
        yield line, value if isinstance(value, dict) else "this is not an object with named fields"
    if in_list and at == len(text):
        raise WarmkitError(f"{path}, line {line}: the list is not closed: the file was cut off.")


def _json_lines(text: str) -> Iterator[Record]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, _json_line(line)


def _json_line(line: str) -> "dict[str, Any] | str":
    """The object of a line, or why there is none."""
    try:
        value = json.loads(line, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        return f"this line is not JSON ({error.msg} at column {error.colno})"
    except _RepeatedKey as error:
        return str(error)
    except (RecursionError, ValueError):
        return "this line can't be read: too deep or too large"
    return value if isinstance(value, dict) else "this is not an object with named fields"


class _RepeatedKey(Exception):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. A key that is there twice is refused: nobody knows which value is meant."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise _RepeatedKey(f"the key {name[:60]!r} is there twice")
    return fields


def _csv(text: str, path: Path) -> Iterator[Record]:
    header_line = text.partition("\n")[0]
    delimiter = max(",\t;", key=header_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    start = 1
    try:
        header = [name.strip() for name in next(reader)]
        if len(header) < 2 or len(set(header)) < len(header):
            raise WarmkitError(
                f"{path}: this is not a problem set: neither JSON nor XML, and its first line does not name "
                "two or more columns as CSV does."
            )
        start = reader.line_num + 1
        for fields in reader:
            if any(fields):
                row = {name: from_cell(field) or None for name, field in zip(header, fields, strict=False)}
                yield (
                    start,
                    row
                    if len(fields) == len(header)
                    else (f"it has {len(fields)} fields, but the header names {len(header)}"),
                )
            start = reader.line_num + 1
    except csv.Error as error:
        raise WarmkitError(
            f"{path}, line {start}: the CSV is broken here ({error}). Look for a double quote that is not "
            "closed."
        ) from None


def _xml(text: str, path: Path) -> list[Record]:
    """Each `Problem` element as a record of its attributes and the texts of its children (ASDiv)."""
    records: list[Record] = []
    current: dict[str, list[str]] | None = None  # the pieces of each field
    line = 0
    field = ""

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal current, line, field
        field = name
        if name == "Problem":
            current = {attribute: [value] for attribute, value in attributes.items()}
            line = parser.CurrentLineNumber
        elif current is not None:
            current.setdefault(name, [])

    def end(name: str) -> None:
        nonlocal current, field
        field = ""
        if name == "Problem" and current is not None:
            records.append((line, {name: "".join(pieces) for name, pieces in current.items()}))
            current = None

    def characters(data: str) -> None:
        if current is not None and field in current:
            current[field].append(data)

    def declaration(version: str, encoding: str | None, standalone: int) -> None:
        if encoding and encoding.casefold() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            raise WarmkitError(f"{path}: it declares the encoding {encoding[:40]}. Save it as UTF-8.")

    def refuse_declarations(*_: object) -> None:
        raise WarmkitError(f"{path}: it has a document type declaration, which is not allowed. Remove it.")

    parser = expat.ParserCreate("utf-8")  # whatever it declares: Python's codecs are not expat's
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.XmlDeclHandler = declaration
    parser.StartDoctypeDeclHandler = refuse_declarations  # no entities: nothing can expand or be fetched
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise WarmkitError(
            f"{path}, line {error.lineno}: the XML is broken here ({expat.ErrorString(error.code)})."
        ) from None
    if not records:
        raise WarmkitError(f"{path}: this XML has no <Problem> elements as ASDiv has.")
    return records
