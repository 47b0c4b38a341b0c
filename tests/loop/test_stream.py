"""Candidates part by part."""

import polars as pl
import pytest
import torch
from tiny import WARM

from toolkit.compute import LocalCompute
from toolkit.config import load_config
from toolkit.data import read_candidates, read_problems, write_table
from toolkit.data.read import read_parts
from toolkit.data.schema import CANDIDATES
from toolkit.data.skipped import SkippedRows
from toolkit.errors import WarmkitError
from toolkit.loop.generation import calibrate, candidates_of, trusted_candidates, with_posterior
from toolkit.loop.streaming import candidates_in_parts, stream_candidates
from toolkit.methods import FitInput, GenerateConfig
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig


@pytest.fixture(scope="module")
def problems():
    return read_problems("bundled:en").take(range(40))


@pytest.fixture(scope="module")
def trained(problems, tmp_path_factory):
    data = FitInput(problems, {}, load_config(WarmConfig, None, WARM))
    return Warm.fit(data, tmp_path_factory.mktemp("model"))


def streamed(trained, parts, out):
    return stream_candidates(
        lambda some: (trained.candidates(part, GenerateConfig(width=4)) for part in some), parts, out
    )


@pytest.mark.parametrize("name", ["c.parquet", "c.csv", "c.jsonl"])
def test_parts_come_to_the_table_of_the_whole(trained, problems, tmp_path, name):
    generated = trained.candidates(problems, GenerateConfig(width=4))
    temperature = calibrate(generated, problems.gold_classes)
    whole = trusted_candidates(generated, problems, temperature).table
    unsolved = [of.problem_id for of in generated if not of.scored]
    found = streamed(trained, problems.parts(7), tmp_path / name)
    readers = {"parquet": pl.read_parquet, "csv": pl.read_csv, "jsonl": pl.read_ndjson}
    table = readers[name.split(".")[1]](tmp_path / name)
    assert table.columns == list(CANDIDATES)
    assert table["problem_id"].cast(pl.String).to_list() == whole["problem_id"].to_list()
    assert table["klass"].to_list() == whole["klass"].to_list()
    assert table["posterior"].to_list() == pytest.approx(whole["posterior"].to_list(), abs=1e-4)
    assert found.temperature == pytest.approx(temperature, rel=1e-3)
    assert (found.problems, found.candidates) == (40, len(whole))
    assert [of.problem_id for of in found.unsolved] == unsolved
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_a_folder_has_the_candidates_of_the_file_in_parts(trained, problems, tmp_path):
    one = streamed(trained, problems.parts(7), tmp_path / "c.parquet")
    parts, settings = problems.parts(7), GenerateConfig(width=4)
    compute = LocalCompute(torch.device("cpu"))
    many = candidates_in_parts(compute, trained, settings, parts, tmp_path / "folder")
    assert many == one
    assert len(list((tmp_path / "folder").iterdir())) == 6
    in_parts = read_candidates(tmp_path / "folder", problems)
    assert in_parts.table.equals(read_candidates(tmp_path / "c.parquet", problems).table)
    with pytest.raises(WarmkitError, match="there is something already"):
        candidates_in_parts(compute, trained, settings, problems.parts(7), tmp_path / "folder")


def test_no_more_parts_are_held_than_the_generator_is_ahead(trained, problems, tmp_path):
    taken = []

    def parts():
        for part in problems.parts(10):
            taken.append(len(part))
            yield part

    seen = []
    stream_candidates(
        lambda some: (trained.candidates(part, GenerateConfig(width=2)) for part in some),
        parts(),
        tmp_path / "c.parquet",
        lambda count: seen.append(len(taken)),
    )
    assert seen == [1, 2, 3, 4]


def test_an_interrupted_stream_leaves_nothing_behind(trained, problems, tmp_path):
    def parts():
        yield problems.take(range(5))
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
    write_table(problems.table, path)
    count, parts = read_parts(path, 16)
    read = list(parts)
    assert count == 40 and [len(part) for part in read] == [16, 16, 8]
    assert pl.concat([part.table for part in read]).equals(problems.table)


def test_a_bad_row_of_a_part_is_named_by_its_line(problems, tmp_path):
    path = tmp_path / "problems.parquet"
    texts = problems.table["text"].to_list()
    texts[20] = "no number here"
    write_table(problems.table.with_columns(text=pl.Series(texts)), path)
    _, parts = read_parts(path, 16)
    with pytest.raises(WarmkitError, match=r"line 21.*no number"):
        list(parts)
    skipped = SkippedRows()
    _, parts = read_parts(path, 16, skipped=skipped)
    assert sum(map(len, parts)) == 39
    assert [row.line for row in skipped.first] == [21]


def test_a_single_class_is_not_certain_before_anybody_is_asked(trained, problems):
    generated = trained.candidates(problems, GenerateConfig(width=4))
    plain = candidates_of(generated, problems, 1.0).table
    believed = trusted_candidates(generated, problems, 1.0).table
    single = pl.len().over("problem_id") == 1
    assert plain.filter(single)["posterior"].to_list() == [1.0] * len(plain.filter(single))
    assert len(plain.filter(single)) > 0 and believed.filter(single)["posterior"].is_between(0.01, 0.99).all()
    assert believed["klass"].equals(plain["klass"])  # the order stays
    assert believed.group_by("problem_id").agg(pl.col("posterior").sum())["posterior"].max() <= 1 + 1e-9
