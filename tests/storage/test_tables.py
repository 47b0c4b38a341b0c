"""Parquet, JSON Lines and CSV files that are broken, hostile or no files at all."""

import os
import subprocess
import sys

import polars as pl
import pytest

from toolkit.data.candidates import read_candidates
from toolkit.data.read import read_parts, read_problems
from toolkit.data.schema import CANDIDATES
from toolkit.data.write import WRITERS, write_table
from toolkit.errors import WarmkitError
from toolkit.storage import tables
from toolkit.storage.tables import count_rows, read_parquet, read_table, scan_parquet

PROBLEMS = pl.DataFrame(
    {
        "id": ["007", "b"],
        "text": ["Tom has 76 apples and eats 25.", "3 pens and 4 pens."],
        "answer": [51.0, 7.0],
        "equation": ["76 - 25", None],
        "lang": ["en", "en"],
        "split": [None, None],
    },
    schema_overrides={"split": pl.String},
)
CANDIDATE = ("007", "76 - 25", "N0 - N1", 5, -0.5, 1.0, 1, "search")


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "problems.parquet"
    PROBLEMS.write_parquet(path)
    return path


def test_a_table_is_read_as_it_was_written(parquet):
    assert read_parquet(parquet).equals(PROBLEMS)
    assert count_rows(parquet) == 2
    assert scan_parquet(parquet).collect().equals(PROBLEMS)


def test_a_table_of_another_program_is_read(tmp_path):
    path = tmp_path / "arrow.parquet"
    for compression in ("snappy", "gzip", "zstd", "uncompressed"):
        PROBLEMS.write_parquet(path, use_pyarrow=True, compression=compression)
        assert read_parquet(path).equals(PROBLEMS)


def test_a_name_with_brackets_is_a_name_and_no_pattern(parquet):
    odd = parquet.with_name("problems[1]*.parquet")
    parquet.rename(odd)
    assert len(read_problems(odd)) == 2


def test_a_column_that_is_missing_is_named(parquet):
    with pytest.raises(WarmkitError, match=r"problems\.parquet: this table has no column problem_id, temp"):
        read_parquet(parquet, CANDIDATES)


DAMAGES = {
    "no end": lambda raw: raw[:-1],
    "no footer": lambda raw: raw[:-9] + raw[-8:],
    "a long footer": lambda raw: raw[:-8] + b"\xff\xff\xff\x7f" + raw[-4:],
    "nothing": lambda raw: b"PAR1",
    "a page": lambda raw: raw[:4] + b"\xff" * 30 + raw[34:],
    "the data": lambda raw: raw[:60] + bytes(reversed(raw[60:70])) + raw[70:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_that_shows_only_when_it_is_read_is_one_sentence(parquet, damage, capfd):
    parquet.write_bytes(DAMAGES[damage](parquet.read_bytes()))
    for read in (read_problems, lambda path: list(read_parts(path, 10)[1])):
        with pytest.raises(WarmkitError) as caught:
            read(parquet)
        assert str(caught.value).startswith(f"{parquet}: it can't be read: ")
        assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_a_panic_of_polars_is_a_sentence_and_not_printed(parquet, capfd):
    raw = parquet.read_bytes()
    panics = 0
    for at in range(4, 400):  # the pages of the first columns
        parquet.write_bytes(raw[:at] + b"\0" + raw[at + 1 :])
        try:
            read_parquet(parquet)
        except WarmkitError as error:
            panics += "Polars gives up on it" in str(error)
    assert panics
    assert "panicked" not in capfd.readouterr().err


def test_what_is_printed_beside_a_reading_is_kept(tmp_path, capfd):
    with tables.guarded(tmp_path / "x.parquet"):
        os.write(2, b"from elsewhere\n")
    assert capfd.readouterr().err == "from elsewhere\n"


def test_a_small_file_that_unpacks_to_thousands_of_times_its_size_is_refused(tmp_path):
    rows = 12_000_000
    bomb = tmp_path / "bomb.parquet"
    columns = {"id": "a", "text": "Tom has 3 apples.", "answer": 1.0}
    table = pl.DataFrame({name: pl.repeat(value, rows, eager=True) for name, value in columns.items()})
    table.write_parquet(bomb, row_group_size=rows)
    assert bomb.stat().st_size < 200_000
    for read in (read_parquet, scan_parquet, read_problems, lambda path: read_parts(path, 100)):
        with pytest.raises(WarmkitError, match=r"bomb\.parquet: it unpacks to [\d.]+ MB, [\d,]+ times its"):
            read(bomb)


def test_one_long_text_in_a_million_rows_is_refused(tmp_path):
    path = tmp_path / "long.parquet"
    texts = pl.DataFrame({"text": pl.repeat("x" * 20_000, 15_000, eager=True)})
    for table in (texts, texts.select(pl.concat_list("text")), texts.select(pl.struct("text").alias("all"))):
        table.write_parquet(path)
        with pytest.raises(WarmkitError, match=r"long\.parquet: it unpacks to 30\d\.\d MB"):
            read_parquet(path)


def test_a_table_larger_than_memory_is_read_in_parts_but_not_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "large.parquet"
    rows = [(str(i), f"Tom has {i} apples and eats 2.", float(i), None, "en", None) for i in range(4_000)]
    pl.DataFrame(rows, schema=PROBLEMS.schema, orient="row").write_parquet(path, row_group_size=400)
    monkeypatch.setattr(tables, "memory", lambda: 500_000)
    with pytest.raises(WarmkitError, match="more than half of this machine's memory"):
        read_problems(path)
    count, parts = read_parts(path, 1_000)
    assert count == sum(map(len, parts)) == 4_000


@pytest.mark.parametrize("suffix", WRITERS)
def test_an_id_of_digits_stays_as_it_is(tmp_path, suffix):
    table = pl.DataFrame([CANDIDATE], schema=CANDIDATES, orient="row")
    path = tmp_path / f"candidates{suffix}"
    write_table(table, path)
    assert read_table(path, CANDIDATES).equals(table)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.jsonl", b'{"problem_id": ' + b"[" * 100_000),
        ("c.jsonl", b'{"problem_id": "a", "klass": ' + b"9" * 5_000 + b"}\n"),
        ("c.jsonl", b"\xff\xfe{\0"),
        ("c.jsonl", b"[1]\n"),
        ("c.csv", b"\xff\xff,\xff\n\xff,\xff\n"),
        ("c.csv", b'problem_id,"klass\n1,2\n'),
        ("c.csv", b"problem_id\n" + b"x," * 100_000),
        ("c.parquet", b"PAR1"),
        ("c.xls", b""),
        ("c.csv", b""),
    ],
)
def test_candidates_that_can_not_be_read_are_one_sentence(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(WarmkitError) as caught:
        read_candidates(path, read_problems("bundled:en"))
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)


def test_a_pipe_a_device_and_a_folder_are_refused_by_every_reader(tmp_path):
    pipe = tmp_path / "pipe.parquet"
    os.mkfifo(pipe)
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "zero.parquet").symlink_to("/dev/zero")
    problems = read_problems("bundled:en")
    for name, kind in (("pipe", "a pipe"), ("folder", "a folder"), ("zero", "a device")):
        path = tmp_path / f"{name}.parquet"
        readers = [read_parquet, lambda path: read_candidates(path, problems)]
        for read in readers if name == "folder" else [read_problems, *readers]:
            with pytest.raises(WarmkitError, match=f"{name}.parquet: it can't be read: it is {kind}, not"):
                read(path)


def test_a_file_that_claims_a_terabyte_is_refused(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(WarmkitError, match=r"large\.json: it has 1\.1 TB, more than half"):
        read_problems(path)


def test_a_broken_table_is_one_line_of_the_command_line(parquet):
    parquet.write_bytes(DAMAGES["a page"](parquet.read_bytes()))
    command = [sys.executable, "-m", "toolkit.cli", "data", "check", str(parquet)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.startswith(f"Error: {parquet}: it can't be read: ") and result.stdout == ""
    assert result.stderr.count("\n") == 1


def thrift(*fields):
    """A structure in Thrift's compact protocol, of (number, kind, bytes)."""
    before, written = 0, b""
    for number, kind, value in fields:
        written += bytes([(number - before) << 4 | kind]) + value
        before = number
    return written + b"\0"


def varint(value):
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def text(value):
    return varint(len(value)) + value


def structures(*elements):
    return b"\xfc" + varint(len(elements)) + b"".join(elements)


def footer_of(schema, arrow_schema):
    pair = thrift((1, 8, text(b"ARROW:schema")), (2, 8, text(arrow_schema)))
    footer = thrift(
        (1, 5, varint(2)),
        (2, 9, structures(*schema)),
        (3, 6, varint(0)),
        (4, 9, structures()),
        (5, 9, structures(pair)),
    )
    return b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize("depth", [1_000, 50_000])
def test_columns_within_columns_without_end_are_refused(tmp_path, depth):
    """Polars follows them until its stack is exhausted, which ends the process."""
    path = tmp_path / "deep.parquet"
    group = thrift((3, 5, varint(2)), (4, 8, text(b"g")), (5, 5, varint(2)))
    leaf = thrift((1, 5, varint(12)), (3, 5, varint(2)), (4, 8, text(b"x")))
    path.write_bytes(footer_of([group] * depth + [leaf], b""))
    with pytest.raises(WarmkitError, match="columns within columns without end"):
        read_problems(path)
    path.write_bytes(footer_of([group, leaf], b"A" * 40 * depth))
    with pytest.raises(WarmkitError, match="its Arrow schema is too large"):
        read_problems(path)


def test_a_footer_whose_columns_are_no_structures_is_a_sentence(tmp_path):
    columns_as_numbers = bytes([0x29, 0x15, 0x02, 0x00])  # field 2, a list of one integer
    footer = columns_as_numbers + len(columns_as_numbers).to_bytes(4, "little") + b"PAR1"
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + footer)
    with pytest.raises(WarmkitError, match=r"a\.parquet"):
        read_parquet(tmp_path / "a.parquet", CANDIDATES)
