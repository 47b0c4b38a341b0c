"""Constants are chosen by what held-out answers profit from, and luck is not enough."""

import json
import random

import polars as pl
import pytest
from kinds import everyday, fence, made, percentage, side

from toolkit.data import PROBLEMS, ProblemSet, read_problems
from toolkit.data.constants import (
    SCHOOL,
    TO_SEARCH,
    ConstantChoice,
    Evidence,
    choose_constants,
    parse_constants,
    with_constants_of,
)
from toolkit.data.split import gold_ids
from toolkit.equations import DEFAULT_CONSTANTS, parse, show
from toolkit.errors import WarmkitError


def names(problems: ProblemSet, **more) -> tuple[str, ...]:
    return choose_constants(problems, **more).names


@pytest.mark.parametrize("seed", range(3))
def test_a_constant_that_problems_of_a_kind_need_is_found_and_no_other(seed):
    choice = choose_constants(made({everyday: 120, percentage: 12}, seed))
    assert choice.names == ("1", "100", "π")
    (hundred,) = choice.found
    assert hundred.template == "N1 / N0 * 100" and hundred.lost <= 1
    assert 8 <= hundred.in_class <= hundred.won <= 12 and hundred.gain > hundred.chance
    assert "100 wins" in choice.sentence()


def test_constants_are_found_one_after_the_other():
    choice = choose_constants(made({everyday: 120, percentage: 14, side: 10}, 0))
    assert choice.names == ("1", "2", "100", "π")
    assert {row.template for row in choice.found} == {"N1 / N0 * 100", "N0 / 2 - N1"}


@pytest.mark.parametrize("seed", range(3))
def test_problems_that_need_no_constant_get_none(seed):
    choice = choose_constants(made({everyday: 200}, seed))
    assert choice.constants == DEFAULT_CONSTANTS and not choice.found
    assert choice.sentence() == "constants 1, π: no other constant would win answers"


def test_twice_a_sum_needs_no_constant():
    assert names(made({everyday: 100, fence: 15}, 0)) == ("1", "π")


@pytest.mark.parametrize("seed", range(3))
def test_answers_that_have_nothing_to_do_with_their_problems_ask_for_nothing(seed):
    problems = made({everyday: 150, percentage: 50}, seed)
    answers = random.Random(seed).sample(problems.answers, len(problems))
    shuffled = problems.table.with_columns(answer=pl.Series(answers))
    assert names(ProblemSet(shuffled)) == ("1", "π")


@pytest.mark.parametrize("lang", ["en", "hi", "zh"])
def test_the_bundled_problems_need_no_more_than_their_gold_equations_use(lang):
    problems = read_problems(f"bundled:{lang}")
    some = problems.take(range(min(len(problems), 300)))
    assert names(some) == names(some, gold=gold_ids(some, 1.0, 0)) == ("1", "π")


def test_gold_equations_count_only_if_they_may_be_looked_at():
    rows = [
        (f"d{i}", f"A shelf has {i} dozens of eggs and {i + 2} pans.", 144.0 * i, f"{i}*144", "en", None)
        for i in range(3, 8)
    ]
    table = pl.concat([made({everyday: 40}, 0).table, pl.DataFrame(rows, schema=PROBLEMS, orient="row")])
    problems = ProblemSet(table)
    assert names(problems) == ("1", "π")
    allowed = choose_constants(problems, gold=[row[0] for row in rows])
    assert allowed.names == ("1", "144", "π")
    assert allowed.found == (Evidence("144", True, gold=5),)
    assert "144 is in 5 gold equations" in allowed.sentence()
    assert names(problems, gold=["d3", "d4"]) == ("1", "π")  # two may be misread texts
    wrong = problems.table.with_columns(answer=pl.col("answer") + 1)
    assert names(ProblemSet(wrong), gold=[row[0] for row in rows]) == ("1", "π")


def test_the_choice_does_not_depend_on_the_order_of_the_rows_and_begins_with_the_constants_of_the_set():
    problems = made({everyday: 120, percentage: 12}, 1)
    back = problems.take(range(len(problems))[::-1])
    assert choose_constants(back) == choose_constants(problems)
    given = problems.with_constants(parse_constants(["1", "7", "100"]))
    choice = choose_constants(given)
    assert choice.names == ("1", "7", "100") and not choice.found
    assert {row.constant for row in choice.evidence} == {str(value) for value in SCHOOL} - {"7", "100"}


def test_very_few_problems_have_the_constants_they_began_with():
    problems = made({percentage: 2}, 0)
    assert names(problems) == names(problems.take([0])) == names(problems.take([])) == ("1", "π")


def test_progress_counts_every_constant():
    counts = []
    choose_constants(made({everyday: 5}, 0), advance=counts.append)
    assert sum(counts) == TO_SEARCH


def test_a_choice_is_the_same_after_json():
    choice = choose_constants(made({everyday: 60, percentage: 12}, 2))
    written = json.loads(json.dumps(choice.as_dict()))
    assert written["constants"] == ["1", "100", "π"]
    assert ConstantChoice.from_dict(written) == choice


def test_the_chance_of_a_gain_is_that_of_the_sign_test():
    assert Evidence("2", won=5, lost=0).p_value == 1 / 32
    assert Evidence("2", won=1, lost=1).p_value == 0.75
    assert Evidence("2").p_value == 1


def test_a_problem_set_takes_over_the_constants_of_templates_and_of_its_gold_equations():
    problems = made({percentage: 5}, 0)
    assert with_constants_of(problems, [parse("N0 + 1")]) is problems
    with_seven = with_constants_of(problems, [parse("N0 * 7"), parse("N1")])
    assert [show(constant) for constant in with_seven.constants] == ["1", "7", "π"]
    with_gold = with_constants_of(problems, [], from_gold=True)
    assert [show(constant) for constant in with_gold.constants] == ["1", "100", "π"]
    assert all(with_gold.gold)


def test_a_constant_that_is_none_is_an_error():
    with pytest.raises(WarmkitError, match="two"):
        parse_constants(["1", "two"])
