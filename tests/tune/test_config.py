import pytest
import yaml

from toolkit.config import load_config, to_yaml
from toolkit.errors import WarmkitError
from toolkit.loop.config import PLUGINS, LoopConfig
from tune.config import TuneConfig
from tune.plan import trials

BEAM = "warm.explore.beam_width"


def test_a_key_may_be_short_and_is_known_by_its_full_name(config):
    assert list(config().space) == ["gold", BEAM]
    assert config().space[BEAM].choice == (1, 5)


def test_the_rest_of_a_sweep_is_a_configuration_of_the_loop(config):
    base = config("warm.train.epochs=7", "search=random").base
    assert type(base) is LoopConfig
    assert (base.warm.train.epochs, base.limit) == (7, 24)


def test_the_settings_of_any_method_can_be_varied(config):
    planned = trials(config("search=grid", "space={method: [search], plain_search.operators: [1, 2]}"))
    assert [trial.config.plain_search.operators for trial in planned] == [1, 2]
    assert [trial.config.method for trial in planned] == ["search"] * 2


def test_a_configuration_that_is_written_down_reads_the_same(config, tmp_path):
    made = config(
        "search=random", "space={gold: {low: 0, high: 0.5}, train.lr: {low: 1e-4, high: 0.1, log: true}}"
    )
    path = tmp_path / "config.yaml"
    path.write_text(to_yaml(made), encoding="utf-8")
    assert load_config(TuneConfig, path) == made


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("space={beam_widht: [1]}", r"space: beam_widht is no key; did you mean warm\.explore\.beam_width\?"),
        ("space={}", "space: name at least one key"),
        ("space={gold: 0.5}", "space.gold: write a list of values, or low and high"),
        ("space={gold: []}", "space.gold: write a list of values"),
        ("space={gold: {low: 0}}", "space.gold: write a list of values, or low and high"),
        ("space={gold: {low: 1, high: 0}}", "space.gold: a range has low < high"),
        ("space={gold: {low: 0, high: 1, log: true}}", "above 0 with log"),
        ("space={gold: {lo: 0, high: 1}}", "there is no key space.gold.lo"),
        (
            "space={gold: {low: 0, high: 1}}",
            "search: gold is a range: list its values, or set search: random or tpe",
        ),
        ("space={data: [a, b]}", "space: data can't be varied: no trial reads it"),
        ("space={warm: [a, b]}", "space: warm can't be varied"),
        ("space={seed: [1, 2]}", "space: seed can't be varied"),
        ("space={warm.train.seed: [1, 2]}", r"space: warm\.train\.seed is no key"),
        ("warm.train.seed=1", r"there is no key warm\.train\.seed\. Did you mean seed\?"),
        ("solver.seed=1", r"there is no key solver\.seed\. Did you mean seed\?"),
        ("method=wram", r"method: there is no method wram\. Did you mean warm\?"),
        ("space={active.batch: [1, 2]}", "active.batch can't be varied"),
        ("space={hidden: [8, 16]}", "space: hidden is no key"),  # of two sections
        ("sweeds=[1]", "there is no key sweeds. Did you mean seeds?"),
        ("seeds=[]", "seeds"),
        ("search=optuna", "search: Input should be 'grid', 'random' or 'tpe'"),
        ("metric=luck", "metric: Input should be"),
        ("budget.trials=0", "budget.trials: Input should be greater than or equal to 1"),
        ("warm.train.epoch=3", "Did you mean warm.train.epochs?"),
    ],
)
def test_what_is_wrong_is_a_sentence_with_the_key(config, override, words):
    with pytest.raises(WarmkitError, match=words):
        config(override)


def test_a_metric_of_the_solver_needs_a_solver(config):
    with pytest.raises(WarmkitError, match="metric: answer_accuracy needs measure_solver: true"):
        config("measure_solver=false", "metric=answer_accuracy")


def test_a_value_that_its_key_can_not_have_is_told_before_anything_runs(config):
    with pytest.raises(
        WarmkitError, match=r"space: gold 0, beam_width 0: .*greater than or equal to 1 \(0\)"
    ):
        trials(config("space={gold: [0], beam_width: [0]}"))
    with pytest.raises(WarmkitError, match=r"space: beam_width 0: .*greater than or equal to 1 \(0\)"):
        trials(config("search=tpe", "space={beam_width: {low: 0, high: 5}}"))


def test_the_defaults_are_the_papers_questions():
    assert yaml.safe_load(to_yaml(TuneConfig()))["space"] == {"gold": [0.0, 0.05, 0.2], BEAM: [1, 5, 10]}


def test_no_section_of_a_method_or_solver_hides_a_key():
    sections = {plugin.section for plugin in PLUGINS}
    assert sections.isdisjoint(TuneConfig.__annotations__)
    assert sections <= LoopConfig.model_fields.keys()
