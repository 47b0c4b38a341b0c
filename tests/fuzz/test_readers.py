"""Damaged problem files of every format: a `ProblemSet`, or an error that names the file. Nothing else."""

import csv
import io
import json
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl
import pytest
from click.testing import CliRunner
from mutate import damaged, spoilt

from toolkit.cli import main
from toolkit.data.candidates import read_candidates
from toolkit.data.export import with_equations
from toolkit.data.problems import ProblemSet
from toolkit.data.read import is_fold_file, read_problems
from toolkit.data.write import WRITERS, write_table
from toolkit.errors import WarmkitError
from toolkit.screen import harmless

TEXT = "Tom has 76 apples and eats 25. How many are left?"
RECORDS = {
    "native": {"id": "a", "text": TEXT, "answer": 51, "equation": "76 - 25", "lang": "en", "split": "train"},
    "allarith": {"iIndex": 7, "sQuestion": TEXT, "lEquations": ["X=(76-25)"], "lSolutions": [51.0]},
    "math23k": {"id": "1", "original_text": TEXT, "segmented_text": TEXT, "equation": "x=76-25", "ans": "51"},
    "svamp": {"ID": "c-1", "Body": "Tom has 76 apples", "Question": TEXT, "Answer": 51, "Equation": "76-25"},
    "gsm8k": {"question": TEXT, "answer": "<<76-25=51>>51 are left. #### 51"},
    "asdiv": {"ID": "n1", "Body": TEXT, "Question": "Left?", "Answer": "51 (apples)", "Formula": "76-25=51"},
}


def as_list(records):
    return json.dumps(records, indent=1)


def as_lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def as_csv(records):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]), extrasaction="ignore")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def as_xml(records):
    problems = (
        "<Problem ID='{}'>{}</Problem>".format(
            number, "".join(f"<{name}>{escape(str(value))}</{name}>\n" for name, value in record.items())
        )
        for number, record in enumerate(records)
    )
    return f"<?xml version='1.0' encoding='UTF-8'?>\n<ProblemSet>{''.join(problems)}</ProblemSet>"


LAYOUTS = {"json": as_list, "jsonl": as_lines, "csv": as_csv, "xml": as_xml}


def check(path: Path, **how):
    """The law. What was read can also be written, in every format, and read again."""
    is_fold_file(path)
    try:
        problems = read_problems(path, **how)
    except WarmkitError as error:
        assert str(path) in str(error) and len(str(error)) < 10_000
        harmless(str(error)).encode()
        return
    assert isinstance(problems, ProblemSet)
    for bad in problems.bad:
        assert bad.file == str(path) and bad.reason and len(str(bad)) < 1_000
    assert len(problems.gold) == len(problems)
    for suffix in WRITERS:
        again = path.with_name(f"again{suffix}")
        write_table(problems.table, again)
        if len(problems):
            assert read_problems(again).table.equals(problems.table), suffix


@pytest.mark.parametrize("layout", LAYOUTS)
def test_damaged_bytes_are_problems_or_a_sentence(cases, tmp_path, layout):
    path = tmp_path / f"problems.{layout}"
    for rng in cases(60):
        record = RECORDS[rng.choice(list(RECORDS))]
        records = [{**record, next(iter(record)): f"{n}"} for n in range(3)]
        path.write_bytes(damaged(LAYOUTS[layout](records).encode(), rng))
        check(path, skip_bad=rng.random() < 0.7)


@pytest.mark.parametrize("layout", ["json", "jsonl"])
def test_odd_values_are_bad_rows_or_a_sentence(cases, tmp_path, layout):
    path = tmp_path / f"problems.{layout}"
    for rng in cases(120):
        record = RECORDS[rng.choice(list(RECORDS))]
        records = [spoilt(record, rng) if rng.random() < 0.7 else record for _ in range(4)]
        path.write_text(LAYOUTS[layout]([plain(record) for record in records]), encoding="utf-8")
        check(path, skip_bad=rng.random() < 0.7, lang=rng.choice((None, "en", "zh", "\ud800")))


def plain(record):
    """Without what JSON can't write."""
    return {name: str(value) if isinstance(value, bytes) else value for name, value in record.items()}


CANDIDATES_ROWS = [
    {"problem_id": "a", "equation": "76 - 25", "template": "N0 - N1", "klass": 7}
    | {"log_prob": -0.5, "posterior": share, "steps": 1, "origin": "search"}
    for share in (0.75, 0.25)
]


@pytest.mark.parametrize("layout", ["jsonl", "csv"])
def test_damaged_candidates_are_candidates_or_a_sentence(cases, tmp_path, layout):
    problems = ProblemSet.from_frame(pl.DataFrame([RECORDS["native"]]))
    path = tmp_path / f"candidates.{layout}"
    for rng in cases(60):
        rows = [plain(spoilt(row, rng)) if rng.random() < 0.4 else row for row in CANDIDATES_ROWS]
        written = LAYOUTS[layout](rows).encode("utf-8", "replace")
        path.write_bytes(damaged(written, rng) if rng.random() < 0.6 else written)
        try:
            candidates = read_candidates(path, problems)
        except WarmkitError as error:
            assert str(path) in str(error) and len(str(error)) < 1_000
            continue
        assert len(candidates.templates) == len(candidates)
        with_equations(problems, candidates, {})


def test_commands_show_any_file_without_a_traceback_or_an_escape(cases, tmp_path):
    path = tmp_path / "problems.jsonl"
    for rng in cases(40):
        record = RECORDS["native"]
        records = [plain(spoilt({**record, "id": str(n)}, rng)) for n in range(3)]
        path.write_text(as_lines(records), encoding="utf-8")
        command = rng.choice((["show"], ["show", "--json"], ["check", "-k", "1"], ["check", "--json"]))
        result = CliRunner().invoke(main, ["data", *command, str(path), "--skip-bad"])
        assert result.exit_code in (0, 1) and (result.exception is None or result.exit_code)
        assert isinstance(result.exception, SystemExit | None), result.exc_info
        assert harmless(result.output) == result.output
        if "--json" in command and result.exit_code == 0:
            assert all(json.loads(line) for line in result.stdout.splitlines())
