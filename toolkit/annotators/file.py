"""Annotators who fill in a file: a sheet is written for each round, and read back while they work on it.

    annotate-round-01.csv           the questions of round 1
    annotate-round-01-again-1.csv   those asked again, with the complaint about the last answer
    .annotate-round-01.csv.asked    what was asked, as JSON

Annotators fill in `choice` (the number of a candidate) or `equation`, or `verdict` (skip, or wrong answer
with a `note`), and their name in `annotator` if they like. An existing sheet is never written again. What
was asked is kept beside it for two reasons: a candidate means its template, which the sheet does not show,
and spreadsheets change what they open (5/6 becomes a date, 0012 becomes 12).
"""

import csv
import json
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from toolkit.annotators.questions import Question, Response, ResponseKind, ShownCandidate, labels
from toolkit.annotators.sheet import BrokenSheet, Row, read_csv, read_jsonl
from toolkit.annotators.wording import shown_numbers
from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing
from toolkit.storage.cells import to_cell

MOST_CANDIDATES = 5
SUFFIXES = (".csv", ".jsonl")
TO_FILL_IN = ("choice", "equation", "verdict", "note", "annotator")
SAVING = 10.0  # seconds after its last change in which an unreadable sheet may just be half saved


_CHOICE = re.compile(r"(?:c|candidate)?[_ ]?(\d{1,3})(?:[.,]0*)?", re.IGNORECASE)
_VERDICTS: dict[str, ResponseKind] = {
    **dict.fromkeys(("", "ok", "equation"), "equation"),
    **dict.fromkeys(("s", "skip", "skipped"), "skip"),
    **dict.fromkeys(("w", "wrong", "wrong answer", "wrong answer key"), "wrong_answer"),
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A row of a sheet as it was asked: its cells, and its candidates (none if the record was lost)."""

    cells: Row
    candidates: tuple[ShownCandidate, ...] = ()

    @property
    def problem_id(self) -> str:
        return self.cells["problem_id"]

    @property
    def attempt(self) -> int:
        """A sheet whose record was lost shows only by its complaint that it asks again."""
        written = self.cells.get("attempt", "")
        return int(written) if written.isdigit() else int(bool(self.cells.get("complaint")))


_ASKED = TypeAdapter(list[_Asked])


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A file to be filled in, and the rows that were asked in it."""

    path: Path
    round: int
    asked: tuple[_Asked, ...]


class FileAnnotator:
    """Writes what is asked to files in a folder, and reads the responses back.

    `rounds` are those that were asked before this object was made: their sheets are read too. `recorded`
    are the responses that are known from them: only what was changed since then is collected.

    `warnings` holds, after each `collect`, a sentence for each row or file that could not be used; the
    rest is used all the same. Only lasting damage to a file is an error. Emptying a row again withdraws
    nothing.
    """

    name = "file"

    def __init__(
        self,
        folder: Path,
        suffix: str = ".csv",
        *,
        rounds: Iterable[int] = (),
        recorded: Iterable[Response] = (),
    ) -> None:
        if suffix not in SUFFIXES:
            raise WarmkitError(f"Files to fill in end in {' or '.join(SUFFIXES)}, not in {suffix}.")
        self.folder = Path(folder)
        self.location = str(self.folder)
        self.warnings: list[str] = []
        self._suffix = suffix
        self._rounds = set(rounds)
        self._seen = {response.external_id: response for response in recorded}

    def submit(self, questions: Sequence[Question]) -> None:
        for number in sorted({question.round for question in questions}):
            self._rounds.add(number)
            sheets = self._sheets(number)
            for sheet in sheets:
                if not sheet.path.exists():  # killed before it was written, or lost since
                    _write(sheet)
            new = {
                question.problem_id: _to_ask(question)
                for question in questions
                if question.round == number and not _is_asked(question, sheets)
            }
            if new:
                sheet = _Sheet(self._path(number, len(sheets)), number, tuple(new.values()))
                # The record goes first: without it, nobody knows what the candidates of the sheet mean.
                _write_record(sheet)
                _write(sheet)

    def collect(self) -> Sequence[Response]:
        """What is new or has changed since the last time, and is not recorded."""
        self.warnings = []
        found: list[Response] = []
        for sheet in (sheet for number in sorted(self._rounds) for sheet in self._sheets(number)):
            for response in self._responses(sheet):
                before = self._seen.get(response.external_id)
                # Saving a sheet makes all of its rows newer; only rows that were changed count.
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
        """The sheets of a round, in the order in which they were written."""
        sheets: list[_Sheet] = []
        while True:
            path = self._path(number, len(sheets))
            asked = _read_record(path)
            if asked is None:
                if not path.exists():
                    return sheets
                # The record was lost, or the folder was copied without it: the sheet itself must do.
                asked = [_Asked(row) for _, row in self._filled(path, number)[1] if row.get("problem_id")]
            sheets.append(_Sheet(path, number, tuple(asked)))

    def _responses(self, sheet: _Sheet) -> list[Response]:
        by_id = {to_cell(asked.problem_id).strip(): asked for asked in sheet.asked}
        by_text: dict[str, list[_Asked]] = {}  # for ids that a spreadsheet took for numbers or dates
        for asked in sheet.asked:
            by_text.setdefault(_shown(asked.cells.get("text", "")), []).append(asked)
        responses: dict[str, tuple[int, Response]] = {}
        saved, rows = self._filled(sheet.path, sheet.round)
        for line, filled in rows:
            if not any(filled.get(name) for name in ("choice", "equation", "verdict")):
                continue  # not ready
            location = f"{sheet.path}, line {line}"
            written = filled.get("problem_id", "")
            same_text = by_text.get(_shown(filled.get("text", "")), [])
            matching = by_id.get(to_cell(written)) or (same_text[0] if len(same_text) == 1 else None)
            if matching is None:
                self.warnings.append(
                    f"{location}: no problem {written[:60]!r} was asked in this file, so the row is left "
                    "out. Put its problem_id back as it was."
                )
                continue
            response = self._response(sheet, matching, filled, saved, location)
            if response is None:
                continue
            before, other = responses.get(response.problem_id, (0, response))
            if other != response:
                self.warnings.append(
                    f"{location}: problem {response.problem_id} has another answer at line {before}; "
                    "the later row counts. Delete the wrong row."
                )
            responses[response.problem_id] = line, response
        return [response for _, response in responses.values()]

    def _response(
        self, sheet: _Sheet, asked: _Asked, filled: Row, saved: float, location: str
    ) -> Response | None:
        """The response in a row; None, and a warning, if it is not clear."""
        verdict = " ".join(re.split(r"[\s_-]+", filled.get("verdict", "").casefold()))
        kind = _VERDICTS.get(verdict)
        if kind is None:
            self.warnings.append(
                f"{location}: the verdict {verdict[:60]!r} is not known. Write skip or wrong answer, or "
                "leave it empty and give an equation."
            )
            return None
        equation: str | None = filled.get("equation", "")
        template: str | None = None
        note = filled.get("note") or None
        if kind != "equation":
            # An equation beside a disputed answer key is the reason for the dispute.
            note = note or (f"The right equation is {equation}." if equation else None)
            equation = None
        elif not equation:
            picked = self._picked(asked, filled.get("choice", ""), location)
            if picked is None:
                return None
            equation, template = picked
        return Response(
            problem_id=asked.problem_id,
            round=sheet.round,
            kind=kind,
            equation=equation,
            note=note,
            annotator=filled.get("annotator") or "file",
            external_id=f"{sheet.path.name}:{asked.problem_id}",
            updated_at=datetime.fromtimestamp(saved, UTC).isoformat(),
            seconds=None,
            template=template,
        )

    def _picked(self, asked: _Asked, choice: str, location: str) -> tuple[str, str | None] | None:
        """Equation and template of the candidate of that number, as asked, not as the sheet shows it now."""
        match = _CHOICE.fullmatch(choice)
        number = int(match[1]) if match else 0
        if 1 <= number <= len(asked.candidates):
            return asked.candidates[number - 1]
        if not asked.candidates and (shown := asked.cells.get(f"candidate_{number}")):
            return shown, None  # the record was lost, and with it the template
        self.warnings.append(
            f"{location}: the choice {choice[:60]!r} is not the number of a candidate. Write one such as 1, "
            "or an equation of your own under equation."
        )
        return None

    def _filled(self, path: Path, round_: int) -> tuple[float, list[tuple[int, Row]]]:
        """When a sheet was saved, and its rows by line; none, and a warning, while it can't be read."""
        try:
            if path.exists() and not path.is_file():  # a pipe would never end
                raise WarmkitError(
                    f"{path}: this is not a file. Delete it, and resume the run to get a new one."
                )
            saved = path.stat().st_mtime
            raw = path.read_bytes()
        except FileNotFoundError:
            if round_ == max(self._rounds, default=0):  # nobody needs an old sheet
                self.warnings.append(
                    f"{path}: the file is gone. Put it back, or resume the run to get a new one."
                )
            return 0.0, []
        except OSError as error:  # locked by a spreadsheet, or on a network drive
            self.warnings.append(f"{path}: it can't be read now: {error.strerror}. It is tried again.")
            return 0.0, []
        fresh = 0 <= time.time() - saved < SAVING
        try:
            if fresh and raw.rstrip(b"\0")[-1:] not in (b"\n", b"\r"):  # UTF-16 ends in a zero
                raise BrokenSheet(None, "its last line is not whole.")
            return saved, list(read_csv(raw) if path.suffix == ".csv" else read_jsonl(raw))
        except BrokenSheet as broken:
            location = f"{path}, line {broken.line}" if broken.line else str(path)
            if fresh:
                self.warnings.append(f"{location}: {broken} It may be half saved, and is tried again.")
                return 0.0, []
            raise WarmkitError(f"{location}: {broken}") from None


def _is_asked(question: Question, sheets: Sequence[_Sheet]) -> bool:
    """Whether there is a row for this attempt already."""
    return any(
        asked.problem_id == question.problem_id and asked.attempt >= question.attempt
        for sheet in sheets
        for asked in sheet.asked
    )


def _to_ask(question: Question) -> _Asked:
    candidates = question.candidates[:MOST_CANDIDATES]
    cells = {
        "problem_id": question.problem_id,
        "text": question.text,
        "answer": f"{question.answer:.12g}",
        "numbers": ", ".join(shown_numbers(question)),
        **{f"candidate_{i}": label for i, label in enumerate(labels(candidates), 1)},
        "complaint": question.complaint or "",
        "attempt": str(question.attempt),
    }
    return _Asked(cells, candidates)


def _record_path(sheet: Path) -> Path:
    return sheet.with_name(f".{sheet.name}.asked")


def _write_record(sheet: _Sheet) -> None:
    rows = [{"cells": asked.cells, "candidates": asked.candidates} for asked in sheet.asked]
    with replacing(_record_path(sheet.path)) as temporary:
        temporary.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def _read_record(path: Path) -> list[_Asked] | None:
    """What was asked in a sheet; None if the record is missing or damaged."""
    record = _record_path(path)
    if not record.is_file():
        return None
    try:
        asked = _ASKED.validate_json(record.read_bytes(), strict=True)
        return asked if all("problem_id" in row.cells for row in asked) else None
    except (OSError, ValueError):
        return None


def _shown(text: str) -> str:
    """A text as its cell shows it, without its line breaks."""
    return " ".join(to_cell(text).split())


def _write(sheet: _Sheet) -> None:
    most = max(sum(name.startswith("candidate_") for name in asked.cells) for asked in sheet.asked)
    candidates = [f"candidate_{i}" for i in range(1, most + 1)]
    columns = ["problem_id", "text", "answer", "numbers", *candidates, "complaint", *TO_FILL_IN]
    rows = [{name: asked.cells.get(name, "") for name in columns} for asked in sheet.asked]
    with replacing(sheet.path) as temporary:
        if sheet.path.suffix == ".jsonl":
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            temporary.write_text("".join(lines), encoding="utf-8")
            return
        # Without the byte order mark, spreadsheets garble Hindi and Chinese.
        with temporary.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows([to_cell(value) for value in row.values()] for row in rows)
