"""Annotators who fill in a file: a sheet is written for each round, and read back while people work on it.

    annotate-round-01.csv           the questions of round 1
    annotate-round-01-again-1.csv   those asked again, with the complaint about the last answer
    .annotate-round-01.csv.asked    what was asked, as JSON

People fill in `choice` (the number of a candidate) or `equation`, or `verdict` (skip, or wrong answer with
a `note`), and their name in `annotator` if they like. A sheet that is there is never written again. What
was asked is kept beside it because spreadsheets change what they open: 5/6 becomes a date, 0012 becomes 12.
"""

import csv
import io
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from toolkit.data.write import replacing
from toolkit.equations import show_number
from toolkit.errors import WarmkitError
from toolkit.loop.annotator import Kind, Question, Response

MOST_CANDIDATES = 5
SUFFIXES = (".csv", ".jsonl")
TO_FILL_IN = ("choice", "equation", "verdict", "note", "annotator")
SAVING = 10.0  # seconds since its last change in which a sheet that can't be read may just be half saved

Row = dict[str, str]

_DANGEROUS = "=+-@\t\r\n＝＋－＠"  # a spreadsheet may run a cell that starts so
_SEPARATED = re.compile(r"([;\t\r\n]\s*)(?=[=+@＝＋－＠-])")  # a cell of its own where ; or a tab separates
_CHOICE = re.compile(r"(?:c|candidate)?[_ ]?(\d{1,3})(?:[.,]0*)?", re.IGNORECASE)
_VERDICTS: dict[str, Kind] = {
    **dict.fromkeys(("", "ok", "equation"), "equation"),
    **dict.fromkeys(("s", "skip", "skipped"), "skip"),
    **dict.fromkeys(("w", "wrong", "wrong answer", "wrong answer key"), "wrong_answer"),
}


class _Broken(Exception):
    """A sheet that can't be read: at which line (None: all of it), what is wrong, what to do."""

    def __init__(self, line: int | None, what: str) -> None:
        super().__init__(what)
        self.line = line


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A file to be filled in, and the rows that were asked in it."""

    path: Path
    round: int
    asked: tuple[Row, ...]


class FileAnnotator:
    """Writes what is asked to files in a folder, and reads the answers back.

    `warnings` holds, after each `collect`, a sentence for each row or file that could not be used; the
    rest is used all the same. Only lasting damage to a file is an error. A row that is emptied again
    takes nothing back.
    """

    name = "file"

    def __init__(self, folder: Path, suffix: str = ".csv") -> None:
        if suffix not in SUFFIXES:
            raise WarmkitError(f"Files to fill in end in {' or '.join(SUFFIXES)}, not in {suffix}.")
        self.folder = Path(folder)
        self.place = str(self.folder)
        self.warnings: list[str] = []
        self._suffix = suffix
        self._rounds: set[int] = set()
        self._seen: dict[str, Response] = {}

    def submit(self, questions: Sequence[Question]) -> None:
        for number in sorted({question.round for question in questions}):
            self._rounds.add(number)
            sheets = self._sheets(number)
            for sheet in sheets:
                if not sheet.path.exists():  # killed before it was written, or lost since
                    _write(sheet)
            new = {
                question.problem_id: _row(question)
                for question in questions
                if question.round == number and not self._is_asked(question, sheets)
            }
            if new:
                sheet = _Sheet(self._path(number, len(sheets)), number, tuple(new.values()))
                # First what is asked: a sheet without it would look like somebody else's.
                with replacing(_record(sheet.path)) as temporary:
                    temporary.write_text(json.dumps(sheet.asked, ensure_ascii=False), encoding="utf-8")
                _write(sheet)

    def collect(self) -> Sequence[Response]:
        """What is new or changed since the last time; all there is the first time."""
        self.warnings = []
        found: list[Response] = []
        for sheet in (sheet for number in sorted(self._rounds) for sheet in self._sheets(number)):
            for response in self._responses(sheet):
                before = self._seen.get(response.external_id)
                # Saving a sheet makes all of it newer; only what was changed in it counts.
                if before is None or replace(before, updated_at=response.updated_at) != response:
                    self._seen[response.external_id] = response
                    found.append(response)
        return found

    def waits(self) -> bool:
        return True

    def _path(self, number: int, again: int) -> Path:
        ending = f"-again-{again}" if again else ""
        return self.folder / f"annotate-round-{number:02d}{ending}{self._suffix}"

    def _sheets(self, number: int) -> list[_Sheet]:
        """The sheets of a round, in the order of writing."""
        sheets: list[_Sheet] = []
        while True:
            path = self._path(number, len(sheets))
            asked = _read_record(path)
            if asked is None:
                if not path.exists():
                    return sheets
                # The record was lost, or the folder copied without it: what the sheet says must do.
                asked = [row for _, row in self._filled(path)[1] if row.get("problem_id")]
            sheets.append(_Sheet(path, number, tuple(asked)))

    def _is_asked(self, question: Question, sheets: Sequence[_Sheet]) -> bool:
        """Whether there is a row for this attempt already."""
        return any(
            row["problem_id"] == question.problem_id and _attempt(row) >= question.attempt
            for sheet in sheets
            for row in sheet.asked
        )

    def _responses(self, sheet: _Sheet) -> list[Response]:
        by_id = {_cell(row["problem_id"]).strip(): row for row in sheet.asked}
        by_text: dict[str, list[Row]] = {}  # for ids that a spreadsheet took for numbers or dates
        for row in sheet.asked:
            by_text.setdefault(_shown(row.get("text", "")), []).append(row)
        responses: dict[str, tuple[int, Response]] = {}
        saved, rows = self._filled(sheet.path)
        for line, filled in rows:
            if not any(filled.get(name) for name in ("choice", "equation", "verdict")):
                continue  # not ready
            where = f"{sheet.path}, line {line}"
            written = filled.get("problem_id", "")
            same_text = by_text.get(_shown(filled.get("text", "")), [])
            asked = by_id.get(_cell(written)) or (same_text[0] if len(same_text) == 1 else None)
            if asked is None:
                self.warnings.append(
                    f"{where}: no problem {written[:60]!r} was asked in this file, so the row is left out. "
                    "Put its problem_id back as it was."
                )
                continue
            response = self._response(sheet, asked, filled, saved, where)
            if response is None:
                continue
            before, other = responses.get(response.problem_id, (0, response))
            if other != response:
                self.warnings.append(
                    f"{where}: problem {response.problem_id} was answered otherwise at line {before}; "
                    "the later row counts. Delete the one that is wrong."
                )
            responses[response.problem_id] = line, response
        return [response for _, response in responses.values()]

    def _response(self, sheet: _Sheet, asked: Row, filled: Row, saved: float, where: str) -> Response | None:
        """What a row says; None, and a warning, where that is not clear."""
        verdict = " ".join(re.split(r"[\s_-]+", filled.get("verdict", "").casefold()))
        kind = _VERDICTS.get(verdict)
        if kind is None:
            self.warnings.append(
                f"{where}: the verdict {verdict[:60]!r} is not known. Write skip or wrong answer, or leave "
                "it empty and give an equation."
            )
            return None
        equation: str | None = filled.get("equation", "")
        note = filled.get("note") or None
        if kind != "equation":
            # Who disputes the key by giving the right equation has said why.
            note = note or (f"The right equation is {equation}." if equation else None)
            equation = None
        elif not equation:
            equation = self._chosen(asked, filled.get("choice", ""), where)
            if equation is None:
                return None
        return Response(
            problem_id=asked["problem_id"],
            round=sheet.round,
            kind=kind,
            equation=equation,
            note=note,
            annotator=filled.get("annotator") or "file",
            external_id=_external_id(sheet, asked["problem_id"]),
            updated_at=datetime.fromtimestamp(saved, UTC).isoformat(),
            seconds=None,
        )

    def _chosen(self, asked: Row, choice: str, where: str) -> str | None:
        """The candidate of that number, as it was asked and not as the sheet shows it now."""
        number = _CHOICE.fullmatch(choice)
        found = asked.get(f"candidate_{int(number[1])}") if number else None
        if not found:
            self.warnings.append(
                f"{where}: the choice {choice[:60]!r} is not the number of a candidate. Write one such as 1, "
                "or an equation of your own under equation."
            )
        return found or None

    def _filled(self, path: Path) -> tuple[float, list[tuple[int, Row]]]:
        """When a sheet was saved, and its rows by line; none, and a warning, while it can't be read."""
        try:
            saved = path.stat().st_mtime
            raw = path.read_bytes()
        except FileNotFoundError:
            self.warnings.append(f"{path}: the file is gone. Put it back, or resume the run to get it anew.")
            return 0.0, []
        except OSError as error:  # locked by a spreadsheet, or on a network drive
            self.warnings.append(f"{path}: it can't be read now: {error.strerror}. It is tried again.")
            return 0.0, []
        fresh = 0 <= time.time() - saved < SAVING
        try:
            if fresh and raw.rstrip(b"\0")[-1:] not in (b"\n", b"\r"):  # UTF-16 ends in a zero
                raise _Broken(None, "its last line is not whole.")
            return saved, list(_read_csv(raw) if path.suffix == ".csv" else _read_jsonl(raw))
        except _Broken as broken:
            where = f"{path}, line {broken.line}" if broken.line else str(path)
            if fresh:
                self.warnings.append(f"{where}: {broken} It may be half saved, and is tried again.")
                return 0.0, []
            raise WarmkitError(f"{where}: {broken}") from None


def _record(path: Path) -> Path:
    return path.with_name(f".{path.name}.asked")


def _read_record(path: Path) -> list[Row] | None:
    try:
        rows: list[Row] = json.loads(_record(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return rows


def _external_id(sheet: _Sheet, problem_id: str) -> str:
    return f"{sheet.path.name}:{problem_id}"


def _shown(text: str) -> str:
    """A text as its cell shows it, however its lines are broken."""
    return " ".join(_cell(text).split())


def _row(question: Question) -> Row:
    candidates = enumerate(question.candidates[:MOST_CANDIDATES], 1)
    return {
        "problem_id": question.problem_id,
        "text": question.text,
        "answer": f"{question.answer:.12g}",
        "numbers": ", ".join(show_number(value) for value in question.numbers),
        **{f"candidate_{i}": candidate for i, candidate in candidates},
        "complaint": question.complaint or "",
        "attempt": str(question.attempt),
    }


def _attempt(row: Row) -> int:
    """Of a row as it was asked; a sheet whose record was lost only has its complaint to tell."""
    return int(row["attempt"]) if row.get("attempt", "").isdigit() else int(bool(row.get("complaint")))


def _write(sheet: _Sheet) -> None:
    most = max(sum(name.startswith("candidate_") for name in row) for row in sheet.asked)
    candidates = [f"candidate_{i}" for i in range(1, most + 1)]
    columns = ["problem_id", "text", "answer", "numbers", *candidates, "complaint", *TO_FILL_IN]
    rows = [{name: row.get(name, "") for name in columns} for row in sheet.asked]
    with replacing(sheet.path) as temporary:
        if sheet.path.suffix == ".jsonl":
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            temporary.write_text("".join(lines), encoding="utf-8")
            return
        # Without the byte order mark spreadsheets show Hindi and Chinese as rubbish.
        with temporary.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows([_cell(value) for value in row.values()] for row in rows)


def _cell(value: str) -> str:
    """A cell that no spreadsheet runs as a formula, whatever it takes for a separator."""
    value = _SEPARATED.sub(r"\1'", value)
    return f"'{value}" if value.lstrip("'").startswith(tuple(_DANGEROUS)) else value


def _from_cell(value: str) -> str:
    inner = value.lstrip("'")
    return value[1:] if value.startswith("'") and inner.startswith(tuple(_DANGEROUS)) else value


def _read_csv(raw: bytes) -> Iterator[tuple[int, Row]]:
    """Rows by line. Columns may stand in any order, and be separated by comma, semicolon or tab."""
    text = _decoded(raw)
    first, _, rest = text.partition("\n")
    skipped = 0
    if first.casefold().startswith("sep="):  # a note to Excel about the separator
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
                    raise _Broken(
                        line + skipped,
                        f"the row has {len(cells)} cells, but there are {len(header)} columns. Put a cell "
                        "that has a separator in it between double quotes.",
                    )
                # A cell that is missing at the end was empty.
                yield (
                    line + skipped,
                    {name: _from_cell(cell.strip()) for name, cell in zip(header, cells, strict=False)},
                )
            line = reader.line_num + 1
    except csv.Error as error:
        raise _Broken(
            line + skipped,
            f"the CSV is broken here ({error}). Look for a double quote that is not closed, and save again.",
        ) from None
    if not header:
        raise _Broken(None, _EMPTY)


_EMPTY = "the file is empty. Save it again, or delete it and resume the run to get it anew."


def _check_header(header: Sequence[str], line: int) -> None:
    if "problem_id" not in header or not {"choice", "equation", "verdict"} & set(header):
        raise _Broken(
            line,
            "the first row must name the columns, among them problem_id and equation. Put that row back.",
        )


def _read_jsonl(raw: bytes) -> Iterator[tuple[int, Row]]:
    text = _decoded(raw)
    if not text.strip():
        raise _Broken(None, _EMPTY)
    for line, written in enumerate(text.split("\n"), 1):
        if not written.strip():
            continue
        try:
            fields = json.loads(written)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            raise _Broken(line, "this is not one JSON object on one line. Mend it, and save again.")
        yield line, {name: "" if value is None else str(value).strip() for name, value in fields.items()}


def _decoded(raw: bytes) -> str:
    try:
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what Excel calls Unicode text
            return raw.decode("utf-16")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _Broken(line, "the file is not UTF-8. Save it as CSV UTF-8.") from None
