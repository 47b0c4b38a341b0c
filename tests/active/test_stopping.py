import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from toolkit.active.stopping import RULES, Progress, Stop, StopConfig, cohen_kappa, why_stop

labels = st.lists(st.sampled_from([1, 2, 3, None]), min_size=1, max_size=12)


def rounds(*predictions, **last):
    """Ten annotations a round, with the predictions of each round; more of the last round."""
    history = [
        Progress(labels=10 * number, pool=100, predictions=of_round)
        for number, of_round in enumerate(predictions, start=1)
    ]
    return [*history[:-1], Progress(**{**vars(history[-1]), **last})]


def test_kappa_of_a_hand_example():
    # 20 + 15 of 50 agree; one says yes 25 times, the other 30: (0.7 - 0.5) / (1 - 0.5).
    one = ["yes"] * 25 + ["no"] * 25
    other = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(one, other) == pytest.approx(0.4)


@settings(deadline=None)
@given(labels)
def test_a_model_agrees_with_itself(predictions):
    assert cohen_kappa(predictions, predictions) == 1


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([1, 2, None]), st.sampled_from([1, 2, None])), min_size=1))
def test_kappa_is_the_same_both_ways_and_at_most_one(pairs):
    one, other = zip(*pairs, strict=True)
    assert cohen_kappa(one, other) == pytest.approx(cohen_kappa(other, one))
    assert -1 <= cohen_kappa(one, other) <= 1
    assert (cohen_kappa(one, other) == 1) == (one == other)


def test_kappa_of_nothing_or_of_other_problems_is_refused():
    with pytest.raises(ValueError, match="same problems"):
        cohen_kappa([], [])
    with pytest.raises(ValueError, match="same problems"):
        cohen_kappa([1], [1, 2])


def test_a_run_without_rounds_goes_on():
    assert why_stop([], StopConfig(budget=0)) is None


def test_an_empty_pool_ends_a_run():
    assert why_stop(rounds([1, 2], pool=0), StopConfig()).rule == "pool"
    assert why_stop(rounds([1, 2], pool=1), StopConfig()) is None


def test_a_spent_budget_ends_a_run():
    assert why_stop(rounds([1], labels=20), StopConfig(budget=20)) == Stop(
        "budget", "Annotators settled 20 problems, of a budget of 20."
    )
    assert why_stop(rounds([1], labels=19), StopConfig(budget=20)) is None


def test_as_many_rounds_are_done_as_are_wanted():
    assert why_stop(rounds([1], [2]), StopConfig(rounds=2)) is None
    assert why_stop(rounds([1], [2], [3]), StopConfig(rounds=2)).rule == "rounds"


def test_models_that_agree_twice_end_a_run():
    assert why_stop(rounds([3, 1], [1, 2], [1, 2]), StopConfig()) is None
    assert why_stop(rounds([1, 2], [1, 2]), StopConfig()) is None
    stop = why_stop(rounds([3, 1], [1, 2], [1, 2], [1, 2]), StopConfig())
    assert stop.rule == "kappa"
    assert "the mean kappa of the last 2 is 1.000, at least 0.99" in stop.sentence


def test_kappa_is_averaged_over_the_last_rounds():
    # Kappas 0.5 and 1.
    history = rounds([1, 1, 2, 2], [1, 1, 1, 2], [1, 1, 1, 2])
    assert why_stop(history, StopConfig(kappa=0.75)).rule == "kappa"
    assert why_stop(history, StopConfig(kappa=0.76)) is None
    assert why_stop(history, StopConfig(kappa=None)) is None


def test_agreement_without_new_annotations_says_nothing():
    assert why_stop([Progress(10, 9, [1, 2])] * 4, StopConfig()) is None


def test_models_that_solve_nothing_do_not_count_as_agreeing():
    nothing = [None, None]
    assert why_stop(rounds(nothing, nothing, nothing), StopConfig()) is None


def test_little_uncertainty_ends_a_run():
    assert why_stop(rounds([1], uncertainty=0.04), StopConfig(uncertainty=0.05)).rule == "uncertainty"
    assert why_stop(rounds([1], uncertainty=0.05), StopConfig(uncertainty=0.05)) is None
    assert why_stop(rounds([1]), StopConfig(uncertainty=0.05)) is None


def figures(*values):
    return [Progress(labels=n, pool=9, figure=value) for n, value in enumerate(values)]


def test_a_figure_that_no_longer_grows_ends_a_run():
    config = StopConfig(plateau_rounds=2, plateau_gain=0.01)
    assert why_stop(figures(0.5, 0.6, 0.605, 0.608), config).rule == "plateau"
    assert why_stop(figures(0.5, 0.6, 0.605, 0.65), config) is None
    assert why_stop(figures(0.6, 0.6), config) is None
    assert why_stop(figures(0.6, 0.6, 0.6), StopConfig(plateau_rounds=2, plateau_gain=0)).rule == "plateau"


def test_a_fall_is_no_gain():
    stop = why_stop(figures(0.7, 0.5, 0.6), StopConfig(plateau_rounds=2))
    assert stop.sentence == "The last 2 rounds gained 0.0000, no more than 0.005."


def test_of_rules_that_agree_the_first_in_order_is_named():
    same = Progress(labels=10, pool=0, predictions=[1, 2], uncertainty=0.0, figure=0.5)
    history = [Progress(**{**vars(same), "labels": n}) for n in (8, 9, 10)]
    keys = {"budget": 10, "rounds": 2, "uncertainty": 0.1, "plateau_rounds": 1}
    named = []
    for off in ("pool", "budget", "rounds", "kappa", "uncertainty", "plateau_rounds"):
        named.append(why_stop(history, StopConfig(**keys)).rule)
        if off == "pool":
            history = [Progress(**{**vars(progress), "pool": 5}) for progress in history]
        else:
            keys[off] = None
    assert named == list(RULES)
    assert why_stop(history, StopConfig(**keys)) is None


@pytest.mark.parametrize("wrong", [{"budget": -1}, {"kappa": 1.1}, {"kappa_rounds": 0}, {"kapa": 0.9}])
def test_a_rule_that_can_not_be_is_refused(wrong):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        StopConfig(**wrong)
