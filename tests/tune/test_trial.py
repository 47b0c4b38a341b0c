"""A trial without Ray."""

import json

import polars as pl
import pytest

from toolkit.data import ProblemSet
from toolkit.loop.sets import read_sets
from tune.plan import trials
from tune.results import FIGURES
from tune.trial import run_trial


@pytest.fixture
def parts(config):
    return read_sets(config())


def go(parts, trial, folder, **settings):
    problems, test = parts
    figures = run_trial(
        problems, settings.get("test", test), trial.config, folder, settings.get("on_epoch", len_)
    )
    figures.pop("seconds")
    return figures


def len_(epoch):
    return epoch.epoch


def test_a_trial_has_all_figures_and_the_share_of_gold_equations_that_was_asked_for(config, parts, tmp_path):
    epochs = []
    none, half = (trials(config())[at] for at in (0, 2))
    bare = go(parts, none, tmp_path / "a")
    given = go(parts, half, tmp_path / "b", on_epoch=epochs.append)
    assert {*given, "seconds"} == {*FIGURES, "right"}
    assert given["right"].count("1") / len(given["right"]) == given["answer_accuracy"]
    assert (bare["gold_equations"], given["gold_equations"]) == (0, 12)
    assert given["reached"] >= 0.5 and given["gold_equivalent"] >= 0.5  # what is given is known
    assert [one.epoch for one in epochs] == [1, 2]
    assert given["reached"] == epochs[-1].reached


def test_the_same_seed_gives_the_same_trial_and_another_another(config, parts, tmp_path):
    first, *_, other = (one for one in trials(config("seeds=[0, 1]")) if one.keys["gold"] == 0.5)
    assert go(parts, first, tmp_path / "a") == go(parts, first, tmp_path / "b")
    assert go(parts, first, tmp_path / "a2") != go(parts, other, tmp_path / "c")


def test_a_trial_that_was_stopped_goes_on_and_ends_as_one_that_was_not(config, parts, tmp_path):
    trial = trials(config())[1]
    whole = go(parts, trial, tmp_path / "whole")

    def stop(epoch):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        go(parts, trial, tmp_path / "again", on_epoch=stop)
    epochs = []
    assert go(parts, trial, tmp_path / "again", on_epoch=epochs.append) == whole
    assert [one.epoch for one in epochs] == [2]


def test_without_a_test_part_no_solver_is_trained(config, parts, tmp_path):
    assert "answer_accuracy" not in go(parts, trials(config())[0], tmp_path, test=None)


def test_without_gold_equations_in_the_data_nothing_is_said_of_them(config, parts, tmp_path):
    problems, test = parts
    bare = ProblemSet(problems.table.with_columns(equation=pl.lit(None, dtype=pl.String)))
    figures = go((bare, test), trials(config())[2], tmp_path)
    assert (figures["gold_equations"], figures["gold_equivalent"]) == (0, None)


def test_the_method_of_a_trial_is_a_key_as_any_other(config, parts, tmp_path):
    warm, search = trials(config("space={method: [warm, search]}"))
    assert (warm.setting, search.setting) == ("method warm", "method search")
    assert (warm.config.method, search.config.method) == ("warm", "search")
    learnt, searched = (go(parts, trial, tmp_path / trial.name) for trial in (warm, search))
    assert (learnt["epochs"], searched["epochs"]) == (2, 1)
    assert learnt["loss"] is not None and searched["loss"] is None
    assert set(learnt) == set(searched)
    described = json.loads((tmp_path / search.name / "model.json").read_text(encoding="utf-8"))
    assert described["method"] == "search"
