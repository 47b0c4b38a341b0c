"""Problem sets of many files, read and written part by part."""

import json

import polars as pl
import pytest
from click.testing import CliRunner

from toolkit.cli import main
from toolkit.data import read_problems, write_table
from toolkit.data.read import part_files, read_parts, read_sample
from toolkit.data.seen import SeenTexts
from toolkit.data.skipped import SkippedRows
from toolkit.data.split import shuffled
from toolkit.data.split_file import split_file
from toolkit.errors import WarmkitError


def run(*arguments):
    return CliRunner().invoke(main, [str(part) for part in arguments])


@pytest.fixture(scope="module")
def table():
    return read_problems("bundled:en").table.head(60)


@pytest.fixture
def folder(table, tmp_path):
    """A set in three parts."""
    parts = tmp_path / "parts"
    for i, suffix in enumerate((".parquet", ".jsonl", ".parquet")):
        write_table(table.slice(20 * i, 20), parts / f"part-{i}{suffix}")
    (parts / "README.txt").write_text("no part")
    return parts


def test_a_folder_and_a_pattern_are_problem_sets(table, folder, monkeypatch):
    assert read_problems(folder).table.equals(table)
    assert read_problems(f"{folder}/part-[02].parquet").table.equals(pl.concat([table[:20], table[40:]]))
    monkeypatch.chdir(folder.parent)
    assert len(part_files("parts/*.jsonl")) == 1


@pytest.mark.parametrize("size", [7, 20, 1000])
def test_parts_are_read_some_problems_at_a_time(table, folder, size):
    count, parts = read_parts(folder, size)
    read = list(parts)
    assert count >= 60 and max(map(len, read)) <= size
    assert pl.concat([part.table for part in read]).equals(table)


def test_a_folder_without_parts_and_a_pattern_of_nothing_are_sentences(tmp_path):
    with pytest.raises(WarmkitError, match="this folder has no parts"):
        read_problems(tmp_path)
    with pytest.raises(WarmkitError, match="no file has a name like this"):
        read_problems(tmp_path / "*.parquet")


def test_a_bad_row_is_named_by_part_and_line(table, folder):
    with (folder / "part-1.jsonl").open("a") as file:
        file.write('{"id": "new", "text": "no number here", "answer": 1}\n{"id": "cut')
    with pytest.raises(WarmkitError, match=r"part-1\.jsonl, line 21, id new: its text has no number"):
        list(read_parts(folder, 50)[1])
    skipped = SkippedRows()
    assert sum(map(len, read_parts(folder, 50, skipped=skipped)[1])) == 60
    assert [row.line for row in skipped.first] == [21, 22]
    assert len(read_problems(folder, skip_bad=True)) == 60


def test_an_id_of_another_part_is_a_bad_row_that_names_both(table, folder):
    write_table(table.slice(3, 1), folder / "part-9.parquet")
    message = r"part-9\.parquet, line 1.*already used at .*part-0\.parquet, line 4"
    with pytest.raises(WarmkitError, match=message):
        list(read_parts(folder, 7)[1])
    with pytest.raises(WarmkitError, match=message):
        read_problems(folder)


def test_problems_without_ids_are_named_by_part_and_line(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"text": "Ann has 5 of 6 pens", "answer": 1}\n' * 2)
    assert read_problems(tmp_path).ids == ("a:1", "a:2", "b:1", "b:2")


def test_a_part_whose_end_is_missing_is_a_sentence(folder):
    part = folder / "part-2.parquet"
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(WarmkitError, match=r"part-2\.parquet: .*broken"):
        read_parts(folder, 50)


def test_skipped_rows_are_written_to_a_file(folder, tmp_path):
    with (folder / "part-1.jsonl").open("a") as file:
        file.write('{"id": "\\ud800", "text": "no number", "answer": 1}\n')
    out = tmp_path / "split.parquet"
    assert run("data", "split", folder, "--out", out).exit_code == 1
    split = run("data", "split", folder, "--out", out, "--skip-bad", "--json")
    assert json.loads(split.stdout)["bad"] == 1
    (row,) = (tmp_path / "split.bad-rows.jsonl").read_text().splitlines()
    assert json.loads(row)["line"] == 21 and json.loads(row)["file"].endswith("part-1.jsonl")
    checked = run("data", "check", folder, "--no-search", "--bad-rows", tmp_path / "bad.jsonl", "--json")
    assert checked.exit_code == 1 and json.loads(checked.stdout)["bad"] == 1
    assert (tmp_path / "bad.jsonl").read_text() == (tmp_path / "split.bad-rows.jsonl").read_text()


def test_a_check_of_parts_counts_what_a_check_of_the_whole_counts(table, folder, tmp_path):
    write_table(table, tmp_path / "whole.parquet")
    figures = [
        json.loads(run("data", "check", path, "--json").stdout)
        for path in (folder, tmp_path / "whole.parquet")
    ]
    assert figures[0] == figures[1] and figures[0]["problems"] == 60


def test_a_large_set_is_split_with_the_same_stories_together(table, tmp_path, monkeypatch):
    monkeypatch.setattr("toolkit.data.split_file.MOST_COMPARED", 10)
    again = table.with_columns(id=pl.col("id") + "-again")
    problems = read_problems("bundled:en").take(range(60))
    twice = [problems, problems.with_table(again)]
    made = split_file(twice, tmp_path / "out", {"train": 0.5, "test": 0.5}, 1)
    assert made.separated is None and made.sizes == {"test": 60, "train": 60}
    train = set(pl.read_parquet(tmp_path / "out" / "train.parquet")["id"])
    assert all(name + "-again" in train for name in table["id"] if name in train)


def test_a_sample_of_parts_is_what_shuffled_ids_begin_with(table, folder):
    sample = read_sample(folder, 10, seed=3)
    assert set(sample.ids) == set(shuffled(table["id"].to_list(), 3)[:10])
    assert len(read_sample(folder, 1_000, seed=3)) == 60


def test_texts_that_were_seen_are_found_again_as_their_number_grows():
    seen = SeenTexts()
    assert all(seen.add(str(i), i) is None for i in range(9_000))
    assert len(seen) == 9_000
    assert [seen.add(str(i)) for i in range(0, 9_000, 1_000)] == list(range(0, 9_000, 1_000))
    assert "8999" in seen and "9000" not in seen
