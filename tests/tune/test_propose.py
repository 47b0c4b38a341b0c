"""A searcher that learns, without Ray: what a trial comes to is a formula here."""

import importlib.util
import math
import statistics

import pytest

from toolkit.errors import WarmkitError
from tune.plan import canonical
from tune.results import write_result
from tune.sweep import create_sweep, open_sweep

RATES = "space={train.lr: {low: 1e-5, high: 0.1, log: true}, beam_width: {low: 1, high: 12}}"
CHOICES = "space={gold: [0, 0.5], constants: [['1'], ['1', π]], beam_width: [1, 5]}"


def distance(trial):
    """From the best setting there is: a rate of 0.001 and a beam of 9."""
    rate, width = trial.keys["warm.train.lr"], trial.keys["warm.explore.beam_width"]
    return abs(math.log10(rate) + 3) + abs(width - 9) / 4


def finish(sweep, trial):
    write_result(sweep.file(trial), {"gold_equivalent": 1 / (1 + distance(trial)), "seconds": 1.0})


def test_later_proposals_come_nearer_to_the_best(config, tmp_path):
    sweep = create_sweep(tmp_path / "sweep", config("search=tpe", "draws=40", RATES))
    while new := sweep.more():
        (trial,) = new
        finish(sweep, trial)
    assert len(sweep.plan) == sweep.planned == 40 and sweep.left() == 0
    found = [distance(trial) for trial in sweep.plan]
    assert statistics.median(found[-10:]) < 0.5 * statistics.median(found[:10])
    assert all(isinstance(trial.keys["warm.explore.beam_width"], int) for trial in sweep.plan)


def test_a_sweep_that_was_killed_goes_on_with_the_same_proposals(config, tmp_path):
    sweeps = [
        create_sweep(tmp_path / name, config("search=tpe", "draws=12", "seeds=[0, 1]", RATES))
        for name in "ab"
    ]
    whole, killed = sweeps
    for _ in range(12):
        for sweep in (whole, killed):
            for trial in sweep.more():
                finish(sweep, trial)
        killed = open_sweep(killed.folder, killed.config)
    assert whole.plan == killed.plan
    assert [trial.seed for trial in whole.plan] == [0, 1] * 12
    assert (whole.planned, whole.left()) == (24, 0)


def test_a_setting_is_proposed_once_and_a_small_space_has_an_end(config, tmp_path):
    sweep = create_sweep(tmp_path / "sweep", config("search=tpe", "draws=20", CHOICES))
    assert (sweep.planned, sweep.left()) == (8, 8)
    while new := sweep.more():
        for trial in new:
            write_result(sweep.file(trial), {"gold_equivalent": 0.5})
    assert len({canonical(trial.config) for trial in sweep.plan}) == len(sweep.plan) == 8


def test_trials_without_a_figure_teach_nothing_and_do_no_harm(config, tmp_path):
    sweep = create_sweep(tmp_path / "sweep", config("search=tpe", "draws=5", RATES))
    for state in ("failed", "stopped", None, "failed", "done"):
        (trial,) = sweep.more()
        if state:
            write_result(sweep.file(trial), {"reached": 0.1}, state)
    assert sweep.more() == []
    assert sweep.left() == 3  # two failed, one runs


def test_proposals_that_can_not_be_read_are_a_sentence(config, tmp_path):
    sweep = create_sweep(tmp_path / "sweep", config("search=tpe", "draws=5", RATES))
    (sweep.folder / "proposed.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(WarmkitError, match=r"proposed\.json: it can't be read"):
        open_sweep(sweep.folder, sweep.config)


def test_without_optuna_it_is_said_what_to_do(config, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(WarmkitError, match=r"search: tpe needs Optuna: pip install optuna"):
        create_sweep(tmp_path / "sweep", config("search=tpe", RATES))
    assert not (tmp_path / "sweep").exists()
