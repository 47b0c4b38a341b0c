import math
from pathlib import Path

from toolkit.config import load_config
from tune.config import TuneConfig
from tune.plan import describe, explores, trials

BEAM = "warm.explore.beam_width"


def test_a_grid_is_every_combination_with_every_seed_and_all_of_the_first_seed_come_first(config):
    planned = trials(config("seeds=[3, 4]"))
    assert [trial.seed for trial in planned] == [3] * 4 + [4] * 4
    assert [tuple(trial.keys.values()) for trial in planned[:4]] == [(0, 1), (0, 5), (0.5, 1), (0.5, 5)]
    assert [trial.number for trial in planned] == list(range(1, 9))
    last = planned[-1].config
    assert (last.known, last.warm.explore.beam_width, last.seed) == (0.5, 5, 4)


def test_a_budget_takes_the_first_trials(config):
    assert trials(config("budget.trials=3")) == trials(config())[:3]


def test_the_same_seed_draws_the_same_settings_and_another_others(config):
    rates = "train.lr: {low: 1e-4, high: 0.1, log: true}"
    space = f"space={{gold: {{low: 0.0, high: 0.5}}, {rates}, beam_width: {{low: 1, high: 3}}}}"
    draws = [trials(config("search=random", "draws=40", space, f"seed={seed}")) for seed in (0, 0, 1)]
    assert draws[0] == draws[1]
    assert [one.keys for one in draws[0]] != [one.keys for one in draws[2]]
    keys = [trial.keys for trial in draws[0]]
    assert len(keys) == 40
    assert all(0 <= one["gold"] <= 0.5 and 1e-4 <= one["warm.train.lr"] <= 0.1 for one in keys)
    assert {one[BEAM] for one in keys} == {1, 2, 3}
    small = sum(one["warm.train.lr"] < math.sqrt(1e-4 * 0.1) for one in keys)
    assert 10 <= small <= 30  # by its logarithm: half of them are below the geometric mean


def test_choices_are_drawn_too(config):
    planned = trials(config("search=random", "draws=30", "space={solver_kind: {choice: [gts, graph2tree]}}"))
    assert [trial.keys["solver_kind"] for trial in planned] in (["gts", "graph2tree"], ["graph2tree", "gts"])


def test_what_comes_to_the_same_is_tried_once(config):
    planned = trials(config("space={beam_width: [1, 5], beam_exploration: [true, false]}"))
    assert [describe(trial.keys) for trial in planned] == [
        "beam_width 1, beam_exploration yes",
        "beam_width 1, beam_exploration no",
        "beam_width 5, beam_exploration yes",
    ]
    alike = trials(
        config("space={beam_width: [1], beam_exploration: [true, false]}", "explore.lookahead=false")
    )
    assert len(alike) == 1 and not explores(alike[0].config)


def test_the_shipped_sweep_is_three_by_three_and_without_exploration():
    config = load_config(TuneConfig, Path(__file__).parents[2] / "configs" / "tune" / "gold_beam.yaml")
    planned = [trial for trial in trials(config) if trial.seed == config.seeds[0]]
    assert sum(explores(trial.config) for trial in planned) == 9
    assert sum(not explores(trial.config) for trial in planned) == 3
    assert config.limit == 300
