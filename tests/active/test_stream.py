"""Candidates part by part."""

import polars as pl
import pytest
from tiny import WARM

from toolkit.active.candidates import find_candidates, gold_classes
from toolkit.active.stream import stream_candidates, with_posterior
from toolkit.config import load_config
from toolkit.data import read_problems, write_table
from toolkit.data.read import read_parts
from toolkit.data.schema import CANDIDATES
from toolkit.errors import WarmkitError
from toolkit.warm.config import WarmConfig
from toolkit.warm.generate import generate
from toolkit.warm.train import train


@pytest.fixture(scope="module")
def problems():
    return read_problems("bundled:en").problems.head(40)


@pytest.fixture(scope="module")
def trained(problems, tmp_path_factory):
    return train(problems, load_config(WarmConfig, None, WARM), tmp_path_factory.mktemp("model"))


def streamed(trained, parts, out):
    return stream_candidates(
        lambda some: (generate(trained, part, width=4) for part in some),
        parts,
        trained.model.layout.constants,
        out,
    )


@pytest.mark.parametrize("name", ["c.parquet", "c.csv", "c.jsonl"])
def test_parts_come_to_the_table_of_the_whole(trained, problems, tmp_path, name):
    constants = trained.model.layout.constants
    whole = find_candidates(trained, problems, gold_classes(problems, constants), width=4)
    found = streamed(trained, problems.iter_slices(7), tmp_path / name)
    readers = {"parquet": pl.read_parquet, "csv": pl.read_csv, "jsonl": pl.read_ndjson}
    table = readers[name.split(".")[1]](tmp_path / name)
    assert table.columns == list(CANDIDATES)
    assert table["problem_id"].cast(pl.String).to_list() == whole.table["problem_id"].to_list()
    assert table["klass"].to_list() == whole.table["klass"].to_list()
    assert table["posterior"].to_list() == pytest.approx(whole.table["posterior"].to_list(), abs=1e-4)
    assert found.temperature == pytest.approx(whole.temperature, rel=1e-3)
    assert (found.problems, found.candidates) == (40, len(whole.table))
    assert [one.problem_id for one in found.unsolved] == [one.problem_id for one in whole.unsolved]
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_no_more_parts_are_held_than_the_generator_is_ahead(trained, problems, tmp_path):
    taken = []

    def parts():
        for part in problems.iter_slices(10):
            taken.append(len(part))
            yield part

    seen = []
    stream_candidates(
        lambda some: (generate(trained, part, width=2) for part in some),
        parts(),
        trained.model.layout.constants,
        tmp_path / "c.parquet",
        lambda count: seen.append(len(taken)),
    )
    assert seen == [1, 2, 3, 4]


def test_an_interrupted_stream_leaves_nothing_behind(trained, problems, tmp_path):
    def parts():
        yield problems.head(5)
        raise WarmkitError("the disk went away")

    with pytest.raises(WarmkitError, match="went away"):
        streamed(trained, parts(), tmp_path / "c.parquet")
    assert list(tmp_path.iterdir()) == []


def test_posteriors_at_a_temperature_sum_to_one():
    table = pl.DataFrame({"problem_id": ["a", "a", "b"], "log_prob": [0.0, -2.0, -9.0]})
    flat = with_posterior(table, 1000.0)["posterior"].to_list()
    sharp = with_posterior(table, 0.01)["posterior"].to_list()
    assert flat == pytest.approx([0.5, 0.5, 1.0], abs=1e-2)
    assert sharp == pytest.approx([1.0, 0.0, 1.0], abs=1e-6)


def test_a_parquet_file_is_read_in_parts(problems, tmp_path):
    path = tmp_path / "problems.parquet"
    write_table(problems, path)
    count, parts = read_parts(path, 16)
    read = list(parts)
    assert count == 40 and [len(part) for part in read] == [16, 16, 8]
    assert pl.concat(read).equals(problems)


def test_a_bad_row_of_a_part_is_named_by_its_line(problems, tmp_path):
    path = tmp_path / "problems.parquet"
    texts = problems["text"].to_list()
    texts[20] = "no number here"
    write_table(problems.with_columns(text=pl.Series(texts)), path)
    _, parts = read_parts(path, 16)
    with pytest.raises(WarmkitError, match=r"line 21.*no number"):
        list(parts)
    _, parts = read_parts(path, 16, skip_bad=True)
    assert sum(map(len, parts)) == 39
