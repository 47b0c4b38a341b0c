"""Nothing is worked out or read twice while a loop runs."""

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tiny import TINY

from toolkit.config import load_config
from toolkit.data import problems as problem_sets
from toolkit.data import read_problems, schema
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.run import open_run

SETTINGS = dict(setting.split("=", 1) for setting in TINY)


@pytest.fixture
def masked(monkeypatch):
    """How often each text was masked."""
    count, mask = Counter(), schema.mask

    def counting(text, lang):
        count[text] += 1
        return mask(text, lang)

    for module in (schema, problem_sets):
        monkeypatch.setattr(module, "mask", counting)
    return count


@pytest.fixture
def read(monkeypatch):
    """How often each part of candidates, and of their tops, was read, by its round."""
    count = Counter()

    def listening(reader):
        def reading(source, *arguments, **options):
            if isinstance(source, str | Path) and Path(source).parent.name in ("candidates", "tops"):
                count["/".join(Path(source).parts[-3:-1])] += 1
            return reader(source, *arguments, **options)

        return reading

    for name in ("read_parquet", "scan_parquet"):
        monkeypatch.setattr(pl, name, listening(getattr(pl, name)))
    return count


def test_candidates_are_read_once_a_round_and_texts_are_masked_once(tmp_path, read, masked):
    problems = read_problems("bundled:en")
    settings = {**SETTINGS, "stop.rounds": 3, "stop.kappa": "null"}
    loop = Loop.new(tmp_path / "a", problems, settings=settings)
    assert loop.run().rule == "rounds"
    assert read == {}  # what was just written is remembered
    used = [*loop.state.problems.table["text"], *loop.state.test.table["text"]]
    assert len(used) > 24 and {masked[text] for text in used} == {1}
    assert max(masked.values()) == 1


def test_a_resumed_run_reads_each_table_once(tmp_path, read, masked):
    settings = {**SETTINGS, "stop.rounds": 2, "stop.kappa": "null"}
    begun = Loop.new(tmp_path / "a", read_problems("bundled:en"), settings=settings)
    assert begun.run().rule == "rounds"
    masked.clear()
    longer = load_config(LoopConfig, begun.state.run.folder / "config.yaml", ["stop.rounds=3"])
    resumed = Loop(open_run(tmp_path, "a", longer))
    assert resumed.run().rule == "rounds"
    assert len(resumed.ledger.batch()) == 12
    rounds = ("round-01", "round-02", "round-03")
    assert read == {f"{name}/{table}": 1 for name in rounds for table in ("candidates", "tops")}
    assert set(masked.values()) == {1}
