import json

import polars as pl
import pytest
from click.testing import CliRunner

from toolkit.cli import main
from toolkit.data import Candidates, ProblemSet, read_candidates, read_problems, write_table
from toolkit.data.export import MWPTOOLKIT_FILES, with_equations, write_mwptoolkit
from toolkit.data.schema import CANDIDATES, PROBLEMS
from toolkit.equations import klass, parse
from toolkit.errors import WarmkitError

ROWS = [
    ("a", "Tom had 12 apples and ate five.", 7.0, "12-5", "en", "train"),
    ("b", "6 rows of 4 trees", 24.0, None, "en", "test"),
    ("c", "20 and 4", 5.0, None, "en", None),
]


@pytest.fixture
def problems() -> ProblemSet:
    return ProblemSet(pl.DataFrame(ROWS, schema=PROBLEMS, orient="row"))


def candidates(*rows: tuple[str, str, float]) -> pl.DataFrame:
    full = [
        (name, "", template, klass(parse(template)), -1.0, share, 1, "warm") for name, template, share in rows
    ]
    return pl.DataFrame(full, schema=CANDIDATES, orient="row")


FOUND = (("a", "N0 - N1", 0.8), ("b", "N0 * N1", 0.6), ("b", "N1 * N0 * 1", 0.4), ("c", "N0 / N1", 0.3))


@pytest.mark.parametrize(
    ("gold", "threshold", "expected"),
    [
        (True, 0.0, {"a": ("12 - 5", "gold"), "b": ("6 * 4", "warm"), "c": ("20 / 4", "warm")}),
        (False, 0.5, {"a": ("12 - 5", "warm"), "b": ("6 * 4", "warm")}),
        (True, 0.9, {"a": ("12 - 5", "gold")}),
    ],
)
def test_a_problem_is_exported_with_its_gold_equation_or_its_likeliest(problems, gold, threshold, expected):
    known = problems.gold_templates if gold else {}
    table = with_equations(problems, Candidates(candidates(*FOUND)), known, threshold)
    found = {row["id"]: (row["equation"], row["origin"]) for row in table.iter_rows(named=True)}
    assert found == expected


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_an_exported_table_is_a_problem_set_again(problems, tmp_path, suffix):
    table = with_equations(problems, Candidates(candidates(*FOUND)), problems.gold_templates)
    write_table(table, tmp_path / f"x{suffix}")
    again = read_problems(tmp_path / f"x{suffix}").table
    assert again["equation"].to_list() == ["12 - 5", "6 * 4", "20 / 4"]


def test_mwptoolkit_gets_three_files_with_numbers_as_digits(problems, tmp_path):
    table = with_equations(problems, Candidates(candidates(*FOUND)), problems.gold_templates)
    assert write_mwptoolkit(table, problems, tmp_path) == {"train": 2, "valid": 0, "test": 1}
    first = json.loads((tmp_path / "trainset.json").read_text(encoding="utf-8"))[0]
    assert first == {
        "id": "a",
        "original_text": "Tom had 12 apples and ate five.",
        "segmented_text": "tom had 12 apples and ate 5 .",
        "equation": "x=12-5",
        "ans": 7.0,
    }
    assert read_problems(tmp_path / "testset.json").table["equation"].to_list() == ["x=6*4"]
    with pytest.raises(WarmkitError, match="already"):
        write_mwptoolkit(table, problems, tmp_path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ((), "is empty"),
        ((("z", "N0 - N1", 0.8),), "none of its problems"),
        ((("a", "N0 + N1", 0.8),), "problem a: N0 \\+ N1 does not give its answer 7"),
        ((("b", "N0 * N7", 0.8),), "row 1: the candidate of problem b uses a number that"),
    ],
)
def test_candidates_of_another_problem_set_are_refused(problems, tmp_path, rows, words):
    write_table(candidates(*rows), tmp_path / "c.parquet")
    with pytest.raises(WarmkitError, match=words):
        read_candidates(tmp_path / "c.parquet", problems)


def test_export_from_the_command_line(problems, tmp_path):
    write_table(problems.table, tmp_path / "p.jsonl")
    write_table(candidates(*FOUND), tmp_path / "c.parquet")
    arguments = ["export", str(tmp_path / "p.jsonl"), "--candidates", str(tmp_path / "c.parquet"), "--gold"]
    done = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "e.csv"), "--json"])
    figures = json.loads(done.stdout)
    assert (figures["equations"], figures["gold"], done.exit_code) == (3, 1, 0)
    assert CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "e.txt")]).exit_code == 2
    only_gold = CliRunner().invoke(main, [*arguments[:2], "--mwptoolkit", str(tmp_path / "m")])
    assert "1 of 3 problems have an equation, 1 of them gold" in only_gold.output
    assert {file.name for file in (tmp_path / "m").iterdir()} == set(MWPTOOLKIT_FILES.values())


@pytest.mark.parametrize(
    "targets", [[], ["--out", "e.csv", "--hub", "h"], ["--chat", "c", "--mwptoolkit", "m"]]
)
def test_an_export_has_exactly_one_target(problems, tmp_path, targets):
    write_table(problems.table, tmp_path / "p.jsonl")
    called = CliRunner().invoke(main, ["export", str(tmp_path / "p.jsonl"), *targets])
    assert called.exit_code == 2
    assert "Give one of --out, --hub, --chat and --mwptoolkit." in called.output
