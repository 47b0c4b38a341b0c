import polars as pl

from toolkit.data import ProblemSet
from toolkit.data.check import summarise
from toolkit.data.schema import PROBLEMS

ROWS = [
    ("a", "Ann has 5 red and 6 green apples.", 11.0, "5+6", "en", "train"),
    ("b", "Each of 4 boxes has 6 pens.", 24.0, "4*6", "en", "train"),
    ("c", "A dozen eggs, 3 broke.", 9.0, "12-3", "en", "test"),
    ("d", "There are 7 days.", 8.0, "7+3-2", "en", "test"),  # 3 and 2 are not in the text
    ("e", "5 and 9 plums, 2 bad.", 1234.5, "5*9-2", "en", None),  # gives 43
    ("f", "A circle of radius 5 cm.", 31.4, None, "en", None),  # 5 is needed twice
]
SOME = ProblemSet(pl.DataFrame(ROWS, schema=PROBLEMS, orient="row"))


def test_the_summary_counts_what_holds():
    summary = summarise([SOME], k=3)
    assert (summary.problems, summary.with_equation) == (6, 5)
    assert (summary.equation_ok, summary.bound) == (4, 4)
    assert summary.gold_in_candidates == 3
    assert summary.unreached == ["e", "f"]
    assert summary.reached == 4
    assert dict(summary.doubtful) == {
        "d": "3 is not a number of the problem",
        "e": "it gives 43, but the answer is 1234.5",
    }
    assert summary.langs == {"en": 6}
    assert summary.splits == {"test": 2, "train": 2}
    assert summary.numbers == {1: 2, 2: 3, 3: 1}
    assert summary.steps == {1: 3, 2: 2}
    assert summary.operators == {"*": 2, "+": 2, "-": 3}


def test_without_search_its_figures_are_unknown():
    summary = summarise([SOME], k=None)
    assert (summary.reached, summary.gold_in_candidates, summary.unreached) == (None, None, [])


def test_progress_is_told_for_every_problem():
    done = []
    summarise([SOME], k=1, advance=done.append)
    assert sum(done) == len(SOME)


def test_a_problem_with_forty_numbers_is_told_to_be_searched_less_deep():
    text = " ".join(str(10 * i + 3) for i in range(40))
    frame = pl.DataFrame([("x", text, 3.0, None, "en", None)], schema=PROBLEMS, orient="row")
    assert summarise([ProblemSet(frame)], k=3).shallow == 1
