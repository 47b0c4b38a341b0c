"""CSV cells that no spreadsheet runs, and that read back as they were."""

import csv
import io
import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from toolkit.data.read import read_problems
from toolkit.data.schema import CANDIDATES, PROBLEMS
from toolkit.data.write import write_table
from toolkit.storage.cells import from_cell, from_cells, to_cell, to_cells
from toolkit.storage.tables import read_table

SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
ODD = st.text(st.sampled_from("=+-@＝'\t\r\n;, \"5aπ\x1c\u2028") | st.characters(codec="utf-8"), max_size=12)


@given(ODD)
def test_a_cell_reads_back_as_it_was_and_is_no_formula(text):
    cell = to_cell(text)
    assert from_cell(cell) == text
    for begin in cell.replace("\t", ";").replace("\r", ";").replace("\n", ";").split(";"):
        is_number = begin == cell and begin.strip("+-").replace(".", "").replace("e", "").isdigit()
        assert is_number or not begin.lstrip().startswith(SIGNS), cell
    assert not cell.startswith(("\t", "\r", "\n"))


def test_every_short_cell_reads_back_as_it_was():
    texts = ["".join(signs) for count in range(7) for signs in itertools.product("='; \t5", repeat=count)]
    assert [from_cell(to_cell(text)) for text in texts] == texts
    table = pl.DataFrame({"cells": texts})
    assert to_cells(table)["cells"].to_list() == [to_cell(text) for text in texts]
    assert from_cells(to_cells(table)).equals(table)


@pytest.mark.parametrize("number", ["-5", "-5.25", "-1e-07", "-12e+3"])
def test_a_negative_number_stays_a_number(number):
    assert to_cell(number) == number
    assert to_cell(f"{number}+cmd") == f"'{number}+cmd"


@given(
    st.lists(
        st.tuples(
            ODD.map(lambda text: text.replace("\0", "") or "id"),
            ODD,
            st.floats(allow_nan=False, allow_infinity=False),
            st.sampled_from(["3 + 4", "-3 + 4", "=3+4", "x = 4", None]),
            ODD.map(lambda text: text.replace("\0", "") or None),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda row: row[0],
    )
)
def test_any_problem_set_reads_back_from_csv_as_it_was(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("cells") / "problems.csv"
    texts = [f"{odd} 3 and 4 {odd}".replace("\0", "").strip() for _, odd, *_ in rows]
    table = pl.DataFrame(
        [
            (name, text, answer, equation, "en", split)
            for (name, _, answer, equation, split), text in zip(rows, texts, strict=True)
        ],
        schema=PROBLEMS,
        orient="row",
    )
    write_table(table, path)
    read = read_problems(path, skip_bad=True)
    assert not read.bad
    assert_frame_equal(read.table, table, check_exact=True)
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(io.StringIO(file.read(), newline="")) for cell in row]
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in cells)


@given(st.lists(st.tuples(ODD, ODD), min_size=1, max_size=4))
def test_any_candidates_table_reads_back_from_csv_as_it_was(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("cells") / "candidates.csv"
    rows = [(name, text, text, -5, -0.25, 1e-300, 1, name) for name, text in texts]
    table = pl.DataFrame(rows, schema=CANDIDATES, orient="row")
    write_table(table, path)
    assert_frame_equal(read_table(path, CANDIDATES), table, check_exact=True)
