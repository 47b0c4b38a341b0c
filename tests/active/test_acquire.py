import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.active.acquire import (
    STRATEGIES,
    Pool,
    choose,
    dropout,
    entropy,
    farthest_first,
    find_strategy,
    least_confidence,
    margin,
)
from toolkit.active.cost import SecondsWeights, fit_seconds, predicted_seconds
from toolkit.errors import WarmkitError


def pool_of(*posteriors, **columns):
    columns.setdefault("operands", np.full(len(posteriors), 2))
    return Pool([np.array(shares, dtype=float) for shares in posteriors], **columns)


def rows(choices, kind=None):
    return [choice.row for choice in choices if kind in (None, choice.kind)]


def only(name, pool, batch, seed=0):
    """What the strategy alone picks."""
    return rows(
        choose(
            find_strategy(name), pool, batch, np.random.default_rng(seed), unsolved_quota=0, random_share=0
        )
    )


def some_pool(size, seed, unsolved=0.3):
    draw = np.random.default_rng(seed)
    posteriors, votes = [], []
    for _ in range(size):
        count = 0 if draw.random() < unsolved else int(draw.integers(1, 5))
        posteriors.append(np.sort(draw.dirichlet(np.ones(count)))[::-1] if count else np.empty(0))
        votes.append(dict(enumerate(posteriors[-1].tolist())))
    return Pool(
        posteriors,
        operands=draw.integers(1, 5, size),
        states=draw.normal(size=(size, 3)),
        dropout_votes=[votes, votes[::-1]],
        seconds=draw.uniform(0, 60, size),
    )


any_strategy = st.sampled_from(list(STRATEGIES.values()))
a_share = st.floats(0, 1)


@settings(deadline=None)
@given(any_strategy, st.integers(0, 25), st.integers(0, 30), a_share, a_share, a_share, st.integers(0, 999))
def test_a_batch_has_the_right_size_no_row_twice_and_is_the_same_for_the_same_seed(
    strategy, size, batch, quota, share, unsolved, seed
):
    pool = some_pool(size, seed, unsolved)
    once, again = (
        choose(strategy, pool, batch, np.random.default_rng(seed), unsolved_quota=quota, random_share=share)
        for _ in range(2)
    )
    assert once == again
    assert len(set(rows(once))) == len(once) == min(batch, size)
    assert set(rows(once)) <= set(range(size))
    assert all(choice.why for choice in once)


@settings(deadline=None)
@given(
    any_strategy.filter(lambda strategy: not strategy.blind),
    st.integers(1, 20),
    a_share,
    a_share,
    st.integers(0, 99),
)
def test_unsolved_problems_keep_to_their_quota_while_solved_ones_are_left(
    strategy, batch, quota, share, seed
):
    pool = some_pool(60, seed, unsolved=0.5)
    choices = choose(
        strategy, pool, batch, np.random.default_rng(seed), unsolved_quota=quota, random_share=share
    )
    empty = {row for row, shares in enumerate(pool.posteriors) if len(shares) == 0}
    by_chance = len(empty & set(rows(choices, "random")))
    assert len(empty & set(rows(choices))) <= max(by_chance, quota * batch + 1e-6)
    assert set(rows(choices, "unsolved")) <= empty
    assert not set(rows(choices, "strategy")) & empty


def test_a_batch_is_made_of_random_unsolved_and_uncertain_problems():
    pool = some_pool(400, 1)
    choices = choose(
        STRATEGIES["entropy"], pool, 20, np.random.default_rng(5), unsolved_quota=0.25, random_share=0.1
    )
    by_kind = Counter(choice.kind for choice in choices)
    unsolved = sum(len(pool.posteriors[row]) == 0 for row in rows(choices))
    assert by_kind["random"] == 2
    assert unsolved == 5  # those that came by chance are counted
    assert by_kind["strategy"] == 20 - 2 - by_kind["unsolved"]


@pytest.mark.parametrize(("batch", "share", "count"), [(3, 0.1, 0), (4, 0.1, 1), (4, 0.0, 0), (20, 0.1, 2)])
def test_the_random_share_is_at_least_one_from_a_batch_of_four_on(batch, share, count):
    pool = some_pool(50, 2)
    choices = choose(
        STRATEGIES["margin"], pool, batch, np.random.default_rng(0), unsolved_quota=0.2, random_share=share
    )
    assert len(rows(choices, "random")) == count


def test_random_picks_come_from_the_whole_pool_alike():
    pool = pool_of([], [0.5, 0.5], [1.0], [], [0.9, 0.1])
    rng = np.random.default_rng(0)
    drawn = Counter(
        rows(choose(STRATEGIES["margin"], pool, 4, rng, unsolved_quota=0, random_share=0.25), "random")[0]
        for _ in range(2000)
    )
    assert all(drawn[row] == pytest.approx(400, abs=80) for row in range(5))


def test_unsolved_problems_fill_up_where_the_solved_run_out():
    pool = pool_of([], [0.6, 0.4], [], [])
    choices = choose(
        STRATEGIES["margin"], pool, 3, np.random.default_rng(0), unsolved_quota=0, random_share=0
    )
    assert Counter(choice.kind for choice in choices) == {"strategy": 1, "unsolved": 2}


def test_solved_problems_fill_up_where_the_unsolved_run_out():
    pool = pool_of([], [0.6, 0.4], [0.7, 0.3], [0.8, 0.2])
    choices = choose(
        STRATEGIES["margin"], pool, 3, np.random.default_rng(0), unsolved_quota=1, random_share=0
    )
    assert rows(choices) == [0, 1, 2]


def test_every_pick_says_why():
    pool = pool_of([0.41, 0.38, 0.21], [], [1.0], seconds=np.array([30.0, 9.0, 10.0]))
    choices = choose(
        STRATEGIES["margin"], pool, 3, np.random.default_rng(0), unsolved_quota=0.4, random_share=0
    )
    assert {choice.row: choice.why for choice in choices} == {
        0: "uncertain: top class 0.41, next 0.38",
        1: "unsolved: no equation reaches the answer",
        2: "uncertain: top class 1.00, the only one that reaches the answer",
    }
    costly = choose(
        STRATEGIES["cost_aware"], pool, 1, np.random.default_rng(0), unsolved_quota=0, random_share=0
    )
    assert costly[0].why.endswith("0.38, and about 30 s to annotate")
    drawn = choose(STRATEGIES["random"], pool, 1, np.random.default_rng(0), unsolved_quota=0, random_share=1)
    assert drawn[0].why == "random, for the error estimate"


def test_confidence_margin_and_entropy_each_prefer_another_problem():
    pool = pool_of([0.5, 0.49, 0.01], [0.46, 0.40, 0.14], [0.48, 0.13, 0.13, 0.13, 0.13], [1.0])
    assert only("margin", pool, 1) == [0]
    assert only("least_confidence", pool, 1) == [1]
    assert only("entropy", pool, 1) == [2]
    assert all(only(name, pool, 4)[-1] == 3 for name in ("margin", "least_confidence", "entropy"))


def test_the_scores_are_the_formulas():
    pool, row = pool_of([0.5, 0.25, 0.25, 0.0], [1.0]), np.array([0, 1])
    assert least_confidence(pool, row) == pytest.approx([0.5, 0.0])
    assert margin(pool, row) == pytest.approx([-0.25, -1.0])
    assert entropy(pool, row) == pytest.approx([1.5 * math.log(2), 0.0])


def test_dropout_asks_where_passes_disagree_not_where_each_is_unsure():
    unsure, sure, contrary = {1: 0.5, 2: 0.5}, {1: 1.0}, {2: 1.0}
    pool = pool_of(
        [0.5, 0.5], [0.5, 0.5], [1.0], dropout_votes=[[unsure, sure, sure], [unsure, contrary, {}]]
    )
    assert dropout(pool, np.arange(3)) == pytest.approx([0.0, math.log(2), math.log(2)])
    assert 0 not in only("dropout", pool, 2)


def test_the_hybrid_keeps_away_from_what_is_labelled_and_from_itself():
    states = np.array([[0.0], [10.0], [10.5], [20.0]])
    pool = pool_of(*[[0.5, 0.5]] * 4, states=states, labelled_states=np.array([[0.0]]))
    assert only("hybrid", pool, 2) == [3, 1]


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(0, 12), st.integers(0, 4), st.integers(0, 999))
def test_each_pick_of_farthest_first_is_the_farthest(size, count, labelled, seed):
    draw = np.random.default_rng(seed)
    states = draw.integers(-4, 5, (size, 2)).astype(float)  # whole numbers: no rounding, many ties
    centres = draw.integers(-4, 5, (labelled, 2)).astype(float)
    picked = farthest_first(states, count, centres).tolist()
    assert len(set(picked)) == len(picked) == min(size, count)
    for place, best in enumerate(picked):
        near = [*centres, *states[picked[:place]]]
        gaps = {
            row: min((math.dist(states[row], other) for other in near), default=0.0)
            for row in set(range(size)) - set(picked[:place])
        }
        assert gaps[best] == max(gaps.values())


def test_centres_taken_block_by_block_give_the_same_picks():
    draw = np.random.default_rng(0)
    states, centres = draw.normal(size=(300, 4)), draw.normal(size=(20_000, 4))
    picked = farthest_first(states, 1, centres)
    nearest = [((centres - state) ** 2).sum(axis=1).min() for state in states]
    assert picked.tolist() == [int(np.argmax(nearest))]


def test_the_hybrid_is_varied_among_the_uncertain():
    twins = [[0.5, 0.5]] * 3 + [[0.55, 0.45]] * 3
    pool = pool_of(*twins, [1.0], states=np.array([[0.0], [0.0], [0.0], [9.0], [9.0], [9.0], [99.0]]))
    picked = only("hybrid", pool, 2)
    assert picked[0] in {0, 1, 2} and picked[1] in {3, 4, 5}


def test_the_hybrid_of_a_large_pool_takes_uncertain_ones_alone():
    draw = np.random.default_rng(0)
    tops = draw.uniform(0.5, 1, 20_000)
    pool = Pool(list(np.column_stack([tops, 1 - tops])), np.full(20_000, 2), draw.normal(size=(20_000, 32)))
    picked = only("hybrid", pool, 200)
    assert tops[picked].max() <= np.sort(tops)[1000]


def test_the_cost_aware_strategy_takes_the_cheaper_of_two_alike():
    pool = pool_of([0.5, 0.5], [0.6, 0.4], [0.5, 0.5], seconds=np.array([60.0, 20.0, 0.0]))
    assert only("cost_aware", pool, 3) == [2, 1, 0]


def test_random_takes_unsolved_problems_like_others_and_all_its_picks_are_random():
    pool = pool_of(*[[]] * 30, *[[0.6, 0.4]] * 10)
    choices = choose(
        STRATEGIES["random"], pool, 20, np.random.default_rng(0), unsolved_quota=0.1, random_share=0.1
    )
    assert {choice.kind for choice in choices} == {"random"}
    assert 10 <= sum(row < 30 for row in rows(choices)) < 20


def test_ties_are_broken_by_the_seed_not_by_the_row():
    pool = pool_of(*[[0.5, 0.5]] * 50)
    assert only("margin", pool, 5, seed=1) == only("margin", pool, 5, seed=1)
    assert only("margin", pool, 5, seed=1) != only("margin", pool, 5, seed=2)


@pytest.mark.parametrize("name", [name for name, strategy in STRATEGIES.items() if strategy.needs])
def test_a_missing_input_is_named(name):
    (need,) = STRATEGIES[name].needs
    with pytest.raises(WarmkitError, match=f"The strategy {name} needs the {need} of the pool"):
        only(name, pool_of([0.5, 0.5]), 1)


def test_an_unknown_strategy_is_answered_with_the_nearest_name():
    with pytest.raises(WarmkitError, match=r"no strategy entropie\. Did you mean entropy\?"):
        only("entropie", pool_of([1.0]), 1)
    with pytest.raises(WarmkitError, match=r"Take one of hybrid, least_confidence"):
        only("xyz", pool_of([1.0]), 1)


@pytest.mark.parametrize("wrong", [{"unsolved_quota": 1.5}, {"random_share": -0.1}, {"batch": -1}])
def test_a_share_or_a_batch_that_can_not_be_is_an_error(wrong):
    options = {"batch": 1, "unsolved_quota": 0.1, "random_share": 0.1, **wrong}
    with pytest.raises(WarmkitError, match=str(next(iter(wrong.values())))):
        choose(STRATEGIES["random"], pool_of([1.0]), rng=np.random.default_rng(0), **options)


def test_a_pool_with_a_column_of_another_length_is_refused():
    with pytest.raises(ValueError, match="one row a problem"):
        pool_of([1.0], [1.0], states=np.zeros((3, 4)))


def test_longer_problems_are_predicted_to_take_longer():
    assert predicted_seconds([40, 80], [2, 2], [3, 3]) == pytest.approx([29.0, 39.0])
    assert predicted_seconds(40, 2, 3, SecondsWeights(1, 0, 0, 0)) == pytest.approx(1.0)


def test_the_weights_that_made_the_times_are_found_but_for_breaks():
    draw = np.random.default_rng(0)
    words, operands, candidates = draw.integers(10, 90, 60), draw.integers(1, 5, 60), draw.integers(0, 6, 60)
    true = SecondsWeights(3.0, 0.5, 2.0, 1.0)
    seconds = predicted_seconds(words, operands, candidates, true)
    seconds[7], seconds[8] = 5000.0, np.nan
    fitted = fit_seconds(words, operands, candidates, seconds)
    assert vars(fitted) == pytest.approx(vars(true))


@settings(deadline=None)
@given(st.lists(st.floats(0, 500), min_size=20, max_size=30), st.integers(0, 99))
def test_fitted_weights_are_never_negative_and_no_worse_than_a_mean(seconds, seed):
    draw = np.random.default_rng(seed)
    terms = draw.integers(0, 9, (3, len(seconds)))
    fitted = fit_seconds(*terms, seconds)
    assert min(vars(fitted).values()) >= 0
    loss = ((predicted_seconds(*terms, fitted) - seconds) ** 2).sum()
    assert loss <= ((np.mean(seconds) - seconds) ** 2).sum() + 1e-6


def test_few_times_leave_the_default():
    assert fit_seconds([10], [2], [1], [900.0]) == SecondsWeights()
