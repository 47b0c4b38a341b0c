"""Files as records: JSON in its three layouts, CSV, Parquet and XML, recognised by their content.

Each reader yields (line, fields) pairs. `fields` is a mapping, or a sentence that says why the line has no
fields. An unreadable file is a `WarmkitError`.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

import polars as pl

from toolkit.errors import WarmkitError

Record = tuple[int, "dict[str, Any] | str"]

_BINARY = {
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive (or an Excel workbook)",
    b"\x1f\x8b": "a gzip archive",
    b"\x89PNG": "a PNG image",
    b"SQLite format 3": "an SQLite database",
}


def read_records(path: Path) -> list[Record]:
    """All records of a file."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise WarmkitError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise WarmkitError(f"{path}: it can't be read: {error.strerror}.") from None
    if raw[:4] == b"PAR1":
        return list(_parquet(path))
    for magic, kind in _BINARY.items():
        if raw.startswith(magic):
            raise WarmkitError(
                f"{path}: this is {kind}, not a problem set. Export it as JSON, CSV or Parquet."
            )
    text = _decode(raw, path)
    start = text.lstrip()[:1]
    if not start:
        raise WarmkitError(f"{path}: the file is empty.")
    if start in "[{":
        return list(_json(text, path))
    if start == "<":
        return _xml(raw, path)
    return list(_csv(text, path))


def _decode(raw: bytes, path: Path) -> str:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
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


def _json(text: str, path: Path) -> Iterator[Record]:
    """A list of objects, objects one after another (Math23K), or one object a line (JSON Lines)."""
    first_line = text.lstrip().partition("\n")[0].strip()
    if first_line.startswith("{") and first_line.endswith("}"):
        yield from _json_lines(text)
        return
    decoder = json.JSONDecoder()
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
        except (RecursionError, ValueError):
            raise WarmkitError(
                f"{path}, line {line}: this JSON can't be read: too deep or too large."
            ) from None
        yield line, value if isinstance(value, dict) else "this is not an object with named fields"
    if in_list and at == len(text):
        raise WarmkitError(f"{path}, line {line}: the list is not closed: the file was cut off.")


def _json_lines(text: str) -> Iterator[Record]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            yield number, f"this line is not JSON ({error.msg} at column {error.colno})"
        except (RecursionError, ValueError):
            yield number, "this line can't be read: too deep or too large"
        else:
            yield number, value if isinstance(value, dict) else "this is not an object with named fields"


def _csv(text: str, path: Path) -> Iterator[Record]:
    header_line = text.partition("\n")[0]
    delimiter = max(",\t;", key=header_line.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
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
                row = {name: field or None for name, field in zip(header, fields, strict=False)}
                yield (
                    start,
                    row
                    if len(fields) == len(header)
                    else (f"it has {len(fields)} fields, but the header names {len(header)}"),
                )
            start = reader.line_num + 1
    except csv.Error as error:
        raise WarmkitError(f"{path}, line {reader.line_num}: the CSV is broken here ({error}).") from None


def _parquet(path: Path) -> Iterator[Record]:
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise WarmkitError(f"{path}: the Parquet file is broken ({str(error).splitlines()[0]}).") from None
    yield from enumerate(frame.iter_rows(named=True), 1)


def _xml(raw: bytes, path: Path) -> list[Record]:
    """Each `Problem` element as a record of its attributes and the texts of its children (ASDiv)."""
    records: list[Record] = []
    current: dict[str, Any] | None = None
    line = 0
    field = ""

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal current, line, field
        field = name
        if name == "Problem":
            current, line = dict(attributes), parser.CurrentLineNumber
        elif current is not None:
            current.setdefault(name, "")

    def end(name: str) -> None:
        nonlocal current, field
        field = ""
        if name == "Problem" and current is not None:
            records.append((line, current))
            current = None

    def characters(data: str) -> None:
        if current is not None and field in current:
            current[field] += data

    def refuse_declarations(*_: object) -> None:
        raise WarmkitError(f"{path}: it has a document type declaration, which is not allowed. Remove it.")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse_declarations  # no entities: nothing can expand or be fetched
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise WarmkitError(
            f"{path}, line {error.lineno}: the XML is broken here ({expat.ErrorString(error.code)})."
        ) from None
    if not records:
        raise WarmkitError(f"{path}: this XML has no <Problem> elements as ASDiv has.")
    return records
