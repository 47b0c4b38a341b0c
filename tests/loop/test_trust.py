"""What is believed of candidates before anybody is asked, and learnt afterwards."""

import numpy as np
import polars as pl
import pytest

from toolkit.data import Candidates, ProblemSet, read_problems
from toolkit.data.schema import CANDIDATES
from toolkit.loop.generation import with_posterior
from toolkit.loop.part import found_part, trusted_part
from toolkit.loop.trust import FACTS, PRIOR, facts_of

PROBLEMS = {"a": "Ann has 3 pens and 40 caps and buys 5 pens.", "b": "Ben has 7 pens and buys 12."}
ANSWERS = {"a": 8.0, "b": 19.0}


@pytest.fixture(scope="module")
def problems():
    rows = [
        {"id": name, "text": text, "answer": ANSWERS[name], "equation": None, "lang": "en", "split": "train"}
        for name, text in PROBLEMS.items()
    ]
    return ProblemSet(pl.DataFrame(rows, schema=read_problems("bundled:en").table.schema))


def candidates_of(*rows):
    """(problem, template, log-probability): classes of their own, the likeliest first."""
    table = pl.DataFrame(
        [
            (problem, "", template, klass, score, 0.0, 1, "warm")
            for klass, (problem, template, score) in enumerate(rows)
        ],
        schema=CANDIDATES,
        orient="row",
    )
    return Candidates(with_posterior(table, 1.0))


def believed(candidates, problems):
    """The candidates as they are believed before anybody is asked."""
    return Candidates(trusted_part(found_part(problems, {}, candidates), PRIOR).candidates)


def test_facts_are_those_of_the_top_class(problems):
    found = facts_of(
        candidates_of(("a", "N0 + N2 * 1", -2.0), ("a", "N0 + N2", -3.0), ("b", "N0 + N1", -1.5)), problems
    )
    first, second = (dict(zip(FACTS, facts, strict=True)) for facts in found.values())
    assert list(found) == ["a", "b"]
    assert list(first.values()) == pytest.approx([1.0, 0, np.log(2), -1.0, 2, 1, 0, 1, np.log(9)])
    assert list(second.values()) == pytest.approx([0, 1, 0, -1.5, 1, 0, 0, 0, np.log(20)])


def test_a_problem_with_one_class_is_not_certain_before_anybody_is_asked(problems):
    candidates = candidates_of(("a", "N0 + N2", -3.0), ("b", "N0 + N1", -1.5))
    assert [top.posterior for top in candidates.top.values()] == [1, 1]
    top = believed(candidates, problems).top
    assert 0.3 < top["a"].posterior < top["b"].posterior < 0.999  # one of the numbers is left over


def test_a_long_equation_or_a_second_class_makes_it_less_certain(problems):
    def confidence(*rows):
        return believed(candidates_of(*rows), problems).top["b"].posterior

    short, long = confidence(("b", "N0 + N1", -2.0)), confidence(("b", "(N0 + N1) * 1 / 1 * 1", -8.0))
    two = confidence(("b", "N0 + N1", -2.0), ("b", "N0 + N1 * 1", -2.5))
    assert long < short and two < short


def test_no_candidates_are_no_trouble(problems):
    assert not len(believed(candidates_of(), problems))
