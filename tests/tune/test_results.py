import math

import polars as pl
import pytest

from toolkit.errors import WarmkitError
from tune.results import TrialResult, deviation, ranked, read_result, settings, table, write_result


def test_the_table_has_one_row_a_trial_with_every_varied_key(outcomes):
    config, found = outcomes("seeds=[0, 1]")
    rows = table(config, found)
    assert rows.columns[:4] == ["trial", "gold", "warm.explore.beam_width", "seed"]
    assert {"reached", "gold_equivalent", "answer_accuracy", "seconds", "state", "error"} < set(rows.columns)
    assert len(rows) == 8
    assert rows.schema["gold"] == pl.Float64 and rows.schema["warm.explore.beam_width"] == pl.Int64


def test_values_that_a_column_can_not_hold_become_text(outcomes):
    config, found = outcomes("space={constants: [['1'], ['1', π]], gold: [0, 0.5]}")
    assert table(config, found)["constants"].to_list() == ['["1"]', '["1"]', '["1", "π"]', '["1", "π"]']


def test_a_table_of_no_trial_still_has_its_columns(config):
    assert len(table(config(), [])) == 0
    assert "reached" in table(config(), []).columns


def test_the_best_is_the_setting_with_the_best_mean_over_seeds(outcomes):
    config, found = outcomes("seeds=[0, 1, 2]")
    best, *_, worst = ranked(config, found)
    assert best.keys == {"gold": 0.5, "warm.explore.beam_width": 5}
    assert worst.keys == {"gold": 0, "warm.explore.beam_width": 1}
    assert best.mean("gold_equivalent") == pytest.approx(0.64)
    assert deviation(best.values("gold_equivalent")) == pytest.approx(0.01)
    least = ranked(config.model_copy(update={"metric": "seconds", "mode": "min"}), found)[0]
    assert least.keys["warm.explore.beam_width"] == 1


def test_a_trial_that_failed_or_was_stopped_early_counts_for_no_mean(outcomes):
    config, (first, second, *_) = outcomes()
    failed, stopped = (
        TrialResult(first.trial, {}, "failed", "no"),
        TrialResult(second.trial, {"reached": 0.9}, "stopped"),
    )
    assert len(settings([failed, stopped])) == 2
    assert ranked(config, [failed, stopped]) == []
    assert table(config, [failed, stopped])["error"].to_list() == ["no", None]


def test_an_outcome_is_read_as_it_was_written_and_a_broken_one_is_named(outcomes, tmp_path):
    _, (one, *_) = outcomes()
    file = tmp_path / "trial-001.json"
    assert read_result(file, one.trial) is None
    write_result(file, {**one.figures, "loss": math.nan})
    read = read_result(file, one.trial)
    assert read is not None and read.state == "done" and read.figures["reached"] == one.figures["reached"]
    assert "loss" not in read.figures
    file.write_text("{", encoding="utf-8")
    with pytest.raises(WarmkitError, match=r"trial-001\.json: it can't be read"):
        read_result(file, one.trial)
