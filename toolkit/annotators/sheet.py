"""Sheets that people fill in, as CSV or JSON Lines: rows by line, whatever a spreadsheet made of them."""

import csv
import io
import json
from collections.abc import Iterator, Sequence

from toolkit.storage.cells import from_cell

Row = dict[str, str]


class BrokenSheet(Exception):
    """A sheet can't be read: at which line (None: all of it), what is wrong, what to do."""

    def __init__(self, line: int | None, what: str) -> None:
        super().__init__(what)
        self.line = line


def read_csv(raw: bytes) -> Iterator[tuple[int, Row]]:
    """Rows by line. Columns may have any order, and be separated by comma, semicolon or tab."""
    text = _decoded(raw)
    first, _, rest = text.partition("\n")
    skipped = 0
    if first.casefold().startswith("sep="):  # tells Excel the separator
        text, skipped = rest, 1
        first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    header: list[str] = []
    line = 1
    try:
        for cells in reader:
            if not header and any(cells):
                header = ["_".join(name.casefold().split()) for name in cells]
                _check_header(header, line + skipped)
            elif any(cell.strip() for cell in cells):
                if any(cell.strip() for cell in cells[len(header) :]):
                    raise BrokenSheet(
                        line + skipped,
                        f"the row has {len(cells)} cells, but there are {len(header)} columns. Put a cell "
                        "that has a separator in it between double quotes.",
                    )
                # Cells that are missing at the end are empty.
                yield (
                    line + skipped,
                    {name: from_cell(cell.strip()) for name, cell in zip(header, cells, strict=False)},
                )
            line = reader.line_num + 1
    except csv.Error as error:
        raise BrokenSheet(
            line + skipped,
            f"the CSV is broken here ({error}). Look for a double quote that is not closed, and save again.",
        ) from None
    if not header:
        raise BrokenSheet(None, _EMPTY)


_EMPTY = "the file is empty. Save it again, or delete it and resume the run to get a new one."


def _check_header(header: Sequence[str], line: int) -> None:
    if "problem_id" not in header or not {"choice", "equation", "verdict"} & set(header):
        raise BrokenSheet(
            line,
            "the first row must name the columns, among them problem_id and equation. Put that row back.",
        )


def read_jsonl(raw: bytes) -> Iterator[tuple[int, Row]]:
    text = _decoded(raw)
    if not text.strip():
        raise BrokenSheet(None, _EMPTY)
    for line, written in enumerate(text.split("\n"), 1):
        if not written.strip():
            continue
        try:
            fields = json.loads(written)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            raise BrokenSheet(line, "this is not one JSON object on one line. Fix it, and save again.")
        yield line, {_text(name): "" if value is None else _text(value) for name, value in fields.items()}


def _text(value: object) -> str:
    """A value as text that can be kept: JSON can write halves of characters, which become question marks."""
    return str(value).strip().encode("utf-8", "replace").decode("utf-8")


def _decoded(raw: bytes) -> str:
    try:
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what Excel calls Unicode text
            return raw.decode("utf-16")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BrokenSheet(line, "the file is not UTF-8. Save it as CSV UTF-8.") from None
