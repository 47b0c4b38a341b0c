import polars as pl
import pytest

from toolkit.data import Candidates, ProblemSet, read_candidates
from toolkit.data.schema import CANDIDATES, PROBLEMS
from toolkit.data.write import write_table
from toolkit.errors import WarmkitError

TABLE = pl.DataFrame(
    {"problem_id": ["a", "b", "a", "b"], "klass": [1, 2, 3, 4], "posterior": [0.4, 0.5, 0.6, 0.5]}
)


def test_of_each_problem_the_likeliest_is_taken_and_of_equals_the_first():
    assert Candidates(TABLE).likeliest.select("problem_id", "klass").rows() == [("a", 3), ("b", 2)]


def test_classes_keep_the_order_of_the_table():
    found = Candidates(TABLE).posteriors
    assert found == {"a": {1: 0.4, 3: 0.6}, "b": {2: 0.5, 4: 0.5}}
    assert list(found["b"]) == [2, 4]


ROW = {
    "problem_id": "a",
    "equation": "5 + 6",
    "template": "N0 + N1",
    "klass": 1,
    "log_prob": -0.5,
    "posterior": 1.0,
    "steps": 1,
    "origin": "search",
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"template": None}, "of problem a has an empty field"),
        ({"problem_id": None}, "of problem None has an empty field"),
        ({"posterior": float("nan")}, "a posterior that is not between 0 and 1"),
        ({"posterior": 2.0}, "a posterior that is not between 0 and 1"),
        ({"log_prob": float("nan")}, "a log_prob that is not a number"),
        ({"template": "N0 + N7"}, "uses a number that its problem does not have"),
        ({"template": f"N{10**30}"}, "uses a number that its problem does not have"),
        ({"template": "N0 +"}, "its template can't be read"),
        ({"template": "(" * 900}, "its template can't be read"),
        ({"template": "__import__('os')"}, "its template can't be read"),
    ],
)
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_candidate_that_nothing_can_be_made_of_is_named_with_its_row(tmp_path, change, reason, suffix):
    problems = ProblemSet.from_frame(pl.DataFrame({"id": ["a"], "text": ["5 and 6"], "answer": [11]}))
    path = tmp_path / f"candidates{suffix}"
    write_table(pl.DataFrame([ROW, {**ROW, "klass": 2, **change}], schema=CANDIDATES), path)
    with pytest.raises(WarmkitError) as caught:
        read_candidates(path, problems)
    assert str(caught.value).startswith(f"{path}, row 2: ") and reason in str(caught.value)


@pytest.mark.parametrize("name", ["gone.parquet", "gone"])
def test_candidates_that_are_not_there_are_a_sentence(tmp_path, name):
    problems = ProblemSet(pl.DataFrame(schema=PROBLEMS))
    with pytest.raises(WarmkitError, match=f"{name}: there is no such file or folder"):
        read_candidates(tmp_path / name, problems)
