import polars as pl

from toolkit.data import Candidates

TABLE = pl.DataFrame(
    {"problem_id": ["a", "b", "a", "b"], "klass": [1, 2, 3, 4], "posterior": [0.4, 0.5, 0.6, 0.5]}
)


def test_of_each_problem_the_likeliest_is_taken_and_of_equals_the_first():
    assert Candidates(TABLE).likeliest.select("problem_id", "klass").rows() == [("a", 3), ("b", 2)]


def test_classes_keep_the_order_of_the_table():
    found = Candidates(TABLE).posteriors
    assert found == {"a": {1: 0.4, 3: 0.6}, "b": {2: 0.5, 4: 0.5}}
    assert list(found["b"]) == [2, 4]
