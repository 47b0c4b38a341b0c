"""Training on prepared parts of a problem set."""

import json
from pathlib import Path
from threading import Event, Thread

import polars as pl
import pytest
from click.testing import CliRunner
from commands import sets
from safetensors.torch import load_file
from tiny import WARM

from toolkit.cli import main
from toolkit.config import load_config
from toolkit.data import preparing, read_problems, write_table
from toolkit.data.prepared import known_share
from toolkit.data.skipped import SkippedRows
from toolkit.data.split import chosen_gold
from toolkit.equations import parse_template
from toolkit.errors import WarmkitError
from toolkit.methods import FitInput, FitOptions
from toolkit.methods.prepared import PreparedInput
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.prepare import prepare

CONFIG = load_config(WarmConfig, None, (*WARM, "train.search=2", "train.batch=16", "train.epochs=2"))


@pytest.fixture(scope="module")
def problems():
    return read_problems("bundled:en").take(range(60))


@pytest.fixture
def parts(problems, tmp_path, monkeypatch):
    """The problems in two files, which are prepared in parts of 16."""
    monkeypatch.setattr(preparing, "PART", 16)
    write_table(problems.table[:25], tmp_path / "parts" / "a.parquet")
    write_table(problems.table[25:], tmp_path / "parts" / "b.jsonl")
    return tmp_path / "parts"


def prepared(parts, **more):
    constants = read_problems("bundled:en").constants
    return prepare(parts, parts.parent / "prepared", constants, CONFIG, **more)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_prepared_parts_train_what_problems_in_memory_train_bit_for_bit(problems, parts, share):
    ready = prepared(parts)
    assert [part.rows for part in ready.parts] == [16, 9, 16, 16, 3]
    chosen, known = chosen_gold(problems, share, 3), known_share(ready, share, 3)
    folders = parts.parent / "memory", parts.parent / "in parts"
    here = Warm.fit(FitInput(problems, chosen, CONFIG, 3), folders[0])
    there = Warm.fit_prepared(PreparedInput(ready, known, CONFIG, 3), folders[1])
    assert there.vocabulary == here.vocabulary
    assert there.origin.known == here.origin.known == len(chosen)
    for file in ("training.safetensors", "memory-0002-0-of-1.safetensors"):
        in_memory, in_parts = (load_file(folder / file) for folder in folders)
        for name, tensor in in_memory.items():
            assert tensor.equal(in_parts[name]), name


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_what_annotators_agreed_on_joins_D_s_of_prepared_parts(problems, parts, share):
    ready, chosen = prepared(parts), chosen_gold(problems, share, 3)
    agreed = {problems.ids[row]: parse_template("N0 + N1") for row in (5, 20, 41)}
    known = known_share(ready, share, 3, agreed)
    folders = parts.parent / "memory", parts.parent / "in parts"
    here = Warm.fit(FitInput(problems, chosen | agreed, CONFIG, 3), folders[0])
    there = Warm.fit_prepared(PreparedInput(ready, known, CONFIG, 3), folders[1])
    assert there.origin.known == here.origin.known == len(chosen | agreed)
    in_memory, in_parts = (load_file(folder / "training.safetensors") for folder in folders)
    assert all(tensor.equal(in_parts[name]) for name, tensor in in_memory.items())


def test_a_preparation_is_reused_while_data_and_settings_are_the_same(parts, monkeypatch):
    done = []

    def run(preparation, given):
        for part in given:
            done.append(part.number)
            yield preparation(part)

    first = prepared(parts, run=run)
    assert done == [0, 1, 2, 3, 4]
    assert prepared(parts, run=run) == first and len(done) == 5
    with (parts / "b.jsonl").open("a") as file:
        file.write(json.dumps({"id": "new", "text": "Ann has 5 of 6 pens", "answer": 1}) + "\n")
    assert prepared(parts, run=run).digest != first.digest and len(done) == 10


def test_who_prepares_what_another_prepares_waits_and_uses_it(parts):
    begun, go_on, waits, done = Event(), Event(), Event(), []

    def run(preparation, given):
        begun.set()
        assert go_on.wait(60)
        yield from map(preparation, given)

    def wait_for_it():
        done.append(prepared(parts, run=None, on_wait=waits.set))  # nothing is left to be run

    first = Thread(target=lambda: done.append(prepared(parts, run=run)))
    first.start()
    assert begun.wait(60)
    second = Thread(target=wait_for_it)
    second.start()
    assert waits.wait(60) and not done
    go_on.set()
    first.join(60)
    second.join(60)
    assert len(done) == 2 and done[0] == done[1]
    assert [path.name for path in (parts.parent / "prepared").iterdir()] == [done[0].folder.name]


def test_files_that_change_while_they_are_prepared_are_a_sentence_and_nothing_is_kept(parts):
    def run(preparation, given):
        yield from map(preparation, given)
        with (parts / "b.jsonl").open("a") as file:
            file.write("\n")

    with pytest.raises(WarmkitError, match=r"b\.jsonl: it changed while it was prepared"):
        prepared(parts, run=run)
    assert not (parts.parent / "prepared").exists()


@pytest.mark.parametrize("damage", ["gone", "cut off", "changed"])
def test_a_part_that_is_not_what_was_prepared_is_a_sentence(parts, damage):
    ready = prepared(parts)
    path = ready.folder / "part-000003.parquet"
    if damage == "gone":
        path.unlink()
    elif damage == "cut off":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        pl.read_parquet(path).with_columns(answer=pl.col("answer") + 1).write_parquet(path)
    told = "there is no such file" if damage == "gone" else "it is not what was prepared"
    with pytest.raises(WarmkitError, match=rf"part-000003\.parquet: {told}"):
        prepared(parts)  # before anything is sent to workers
    with pytest.raises(WarmkitError, match=rf"part-000003\.parquet: {told}"):
        Warm.fit_prepared(PreparedInput(ready, known_share(ready, 0, 0), CONFIG), parts.parent / "model")


def test_bad_rows_and_repeated_ids_of_parts_are_named_or_left_out(problems, parts):
    write_table(problems.table[3:5], parts / "c.parquet")
    with (parts / "b.jsonl").open("a") as file:
        file.write('{"id": "x", "text": "no number", "answer": 1}\n')
    with pytest.raises(WarmkitError, match=r"b\.jsonl, line 36, id x: its text has no number"):
        prepared(parts)
    assert not (parts.parent / "prepared").exists()
    skipped = SkippedRows()
    ready = prepared(parts, skipped=skipped)
    assert len(ready) == 60 and ready.skipped == 3
    places = [(Path(row.file).name, row.line) for row in skipped.first]
    assert places == [("b.jsonl", 36), ("c.parquet", 1), ("c.parquet", 2)]
    assert pl.concat(ready.frames(("id",)))["id"].to_list() == list(problems.ids)


def test_the_command_trains_on_parts_and_goes_on(parts):
    out, small = parts.parent / "model", ("--constants", "1,π", "--gold", "0.5", *sets(WARM))
    first = CliRunner().invoke(main, ["train", str(parts), "--out", str(out), "--json", *small])
    assert first.exit_code == 0, first.output
    assert json.loads(first.stdout)["problems"] == 60 and json.loads(first.stdout)["gold"] == 30
    assert len(list((out / "prepared").iterdir())) == 1
    longer = ["train", str(parts), "--out", str(out), "--resume", *small, "--set", "train.epochs=4"]
    assert CliRunner().invoke(main, longer).exit_code == 0
    assert [path.name for path in out.glob("memory-*")] == ["memory-0004-0-of-1.safetensors"]
    assert len(list((out / "prepared").iterdir())) == 1


def test_the_command_trains_on_parts_with_annotations_as_on_one_file(problems, parts):
    rows = [{"id": problems.ids[row], "equation": problems.table["equation"][row]} for row in (3, 30, 44)]
    file = parts.parent / "annotations.csv"
    pl.DataFrame([*rows, {"id": "of another set", "equation": "1 + 1"}]).write_csv(file)
    write_table(problems.table, parts.parent / "whole.parquet")
    small = ("--annotations", str(file), "--json", *sets(WARM))
    trained = {}
    for data in (parts, parts.parent / "whole.parquet"):
        out = parts.parent / f"model of {data.name}"
        done = CliRunner().invoke(main, ["train", str(data), "--out", str(out), *small])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["gold"] == 3
        assert "3 annotations of 3 problems" in done.stderr
        assert "1 are of problems that are not" in done.stderr
        trained[data] = load_file(out / "weights.safetensors")
    in_parts, whole = trained.values()
    assert all(tensor.equal(whole[name]) for name, tensor in in_parts.items())


def test_a_run_is_not_resumed_on_other_parts(parts):
    ready, folder = prepared(parts), parts.parent / "model"
    Warm.fit_prepared(PreparedInput(ready, known_share(ready, 0, 0), CONFIG), folder)
    (parts / "b.jsonl").unlink()
    other = prepared(parts)
    given = PreparedInput(other, known_share(other, 0, 0), CONFIG)
    with pytest.raises(WarmkitError, match="the data changed"):
        Warm.fit_prepared(given, folder, FitOptions(resume=True))


@pytest.mark.parametrize("damage", ["gone", "cut off", "changed"])
def test_input_that_is_gone_cut_off_or_changed_since_the_preparation_is_told(problems, parts, damage):
    out, part = parts.parent / "model", parts / "a.parquet"
    command = ["train", str(parts), "--out", str(out), "--constants", "1,π", *sets(WARM)]
    assert CliRunner().invoke(main, command).exit_code == 0
    weights = (out / "weights.safetensors").read_bytes()
    if damage == "gone":
        part.unlink()
    elif damage == "cut off":
        part.write_bytes(part.read_bytes()[:-100])
    else:
        write_table(problems.table[:25].with_columns(answer=pl.col("answer") + 1), part)
    longer = CliRunner().invoke(main, [*command, "--resume", "--set", "train.epochs=4"])
    assert longer.exit_code == 1
    told = (
        f"{part}: it can't be read: the Parquet file is broken" if damage == "cut off" else "the data changed"
    )
    assert told in longer.stderr
    assert (out / "weights.safetensors").read_bytes() == weights
    assert len(list((out / "prepared").iterdir())) == (1 if damage == "cut off" else 2)


def test_a_file_that_goes_away_while_it_is_prepared_is_a_sentence_and_nothing_is_kept(parts):
    def run(preparation, given):
        for part in given:
            (parts / "b.jsonl").unlink(missing_ok=True)
            yield preparation(part)

    with pytest.raises(WarmkitError, match=r"b\.jsonl: there is no such file"):
        prepared(parts, run=run)
    assert not (parts.parent / "prepared").exists()
