"""Data sets in Hugging Face's layout, read as its documentation says: by the card, then by Parquet."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import polars as pl
import pyarrow
import pyarrow.parquet
import pytest
import yaml
from click.testing import CliRunner

from toolkit.cli import main
from toolkit.data import Candidates, ProblemSet, read_problems, write_table
from toolkit.data.export import EQUATIONS, by_split, with_equations
from toolkit.data.hub import _size_category, write_hub
from toolkit.data.schema import CANDIDATES, PROBLEMS
from toolkit.equations import klass, parse
from toolkit.errors import WarmkitError

ROWS = [
    ("a", "Tom had 12 apples and ate five.", 7.0, "12-5", "en", "train"),
    ("b", "6 rows of 4 trees", 24.0, None, "en", "test"),
    ("c", "小明有20个苹果,分给4人", 5.0, None, "zh-CN", None),
    ("d", "3 hens and 4 more", 7.0, None, "en", "train"),
    ("e", "9 and 2", 4.0, None, "en", "test"),
]
FOUND = [("a", "N0 - N1", 0.8), ("b", "N0 * N1", 0.75), ("c", "N0 / N1", 0.25)]


@pytest.fixture
def files(tmp_path):
    """Problems, candidates and annotations."""
    write_table(pl.DataFrame(ROWS, schema=PROBLEMS, orient="row"), tmp_path / "p.jsonl")
    rows = [(name, "", text, klass(parse(text)), -1.0, share, 1, "warm") for name, text, share in FOUND]
    write_table(pl.DataFrame(rows, schema=CANDIDATES, orient="row"), tmp_path / "c.parquet")
    (tmp_path / "n.csv").write_text("id,equation,annotator\nd,3 + 4,ann\n", encoding="utf-8")
    return tmp_path


def export(folder: Path, *options: str):
    command = ["export", str(folder / "p.jsonl"), "--candidates", str(folder / "c.parquet"), *options]
    return CliRunner().invoke(main, command)


def card(folder: Path) -> tuple[dict[str, object], str]:
    """The facts and the text of a card."""
    empty, facts, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    assert empty == ""
    return yaml.safe_load(facts), text


def load(folder: Path) -> dict[str, pl.DataFrame]:
    """What `load_dataset` does: the files that the card names for each split, with the types it names."""
    facts, _ = card(folder)
    (config,) = facts["configs"]
    info = facts["dataset_info"]
    types = {"string": pyarrow.string(), "float64": pyarrow.float64()}
    features = pyarrow.schema([(feature["name"], types[feature["dtype"]]) for feature in info["features"]])
    loaded = {}
    for split in config["data_files"]:
        (file,) = folder.glob(split["path"])
        loaded[split["split"]] = pl.from_arrow(pyarrow.parquet.read_table(file).cast(features))
    assert {split["name"]: split["num_examples"] for split in info["splits"]} == {
        name: len(part) for name, part in loaded.items()
    }
    assert info["download_size"] == sum(file.stat().st_size for file in folder.glob("data/*"))
    assert info["dataset_size"] == sum(split["num_bytes"] for split in info["splits"])
    return loaded


def test_a_data_set_is_parquet_by_split_with_a_card_that_names_it(files):
    done = export(
        files, "--gold", "--annotations", str(files / "n.csv"), "--hub", str(files / "hub"), "--json"
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["files"] == {"train": 3, "test": 1}
    found = {str(path.relative_to(files / "hub")) for path in (files / "hub").rglob("*") if path.is_file()}
    assert found == {
        "README.md",
        "data/train-00000-of-00001.parquet",
        "data/test-00000-of-00001.parquet",
    }
    loaded = load(files / "hub")
    assert list(loaded) == ["train", "test"]
    assert loaded["train"].schema == EQUATIONS
    assert loaded["train"].select("id", "equation", "posterior", "origin", "split").rows() == [
        ("a", "12 - 5", 1.0, "gold", "train"),
        ("c", "20 / 4", 0.25, "warm", "train"),
        ("d", "3 + 4", 1.0, "annotator", "train"),
    ]
    assert not [path for path in files.iterdir() if path.name.startswith(".")]


def test_the_card_says_what_it_is_and_how_the_equations_were_made(files):
    export(files, "--gold", "--annotations", str(files / "n.csv"), "--hub", str(files / "hub"))
    facts, text = card(files / "hub")
    assert facts["language"] == ["en", "zh"]
    assert facts["license"] == "unknown"
    assert facts["size_categories"] == ["n<1K"]
    assert facts["task_categories"] == ["question-answering", "text-generation"]
    assert "math-word-problems" in facts["tags"]
    for column in EQUATIONS:
        assert f"| {column} |" in text
    assert "| equations | train | test | all |" in text
    assert "that gives the answer | 1 | 0 | 1 |" in text
    assert "checked against the answer | 1 | 0 | 1 |" in text
    assert "found from the answer | 1 | 1 | 2 |" in text
    assert "median is 0.50 and the lowest is 0.25; what is below 0 was left out" in text
    assert "4 math word problems" in text and "The source data has 5 problems" in text
    assert f"warmkit {version('warmkit')}." in text
    assert "licence is that of the source data" in text and "Fill it in" in text


def test_a_threshold_leaves_out_what_is_below_it_and_the_card_says_so(files):
    assert export(files, "--threshold", "0.5", "--hub", str(files / "hub")).exit_code == 0
    assert load(files / "hub")["train"]["id"].to_list() == ["a"]
    assert "what is below 0.5 was left out" in card(files / "hub")[1]


def test_without_generated_equations_the_card_speaks_of_no_posteriors(files):
    done = CliRunner().invoke(main, ["export", str(files / "p.jsonl"), "--hub", str(files / "hub")])
    assert done.exit_code == 0
    assert "median" not in card(files / "hub")[1]


def test_its_parquet_files_are_problem_sets_again(files):
    export(files, "--hub", str(files / "hub"))
    again = read_problems(files / "hub" / "data" / "test-00000-of-00001.parquet")
    assert again.table.select("id", "equation", "split").rows() == [("b", "6 * 4", "test")]


@pytest.mark.parametrize("target", ["--hub", "--chat", "--mwptoolkit"])
def test_a_folder_with_something_in_it_is_refused_and_an_empty_one_is_filled(files, target):
    (files / "taken").mkdir()
    (files / "taken" / "mine.txt").write_text("mine", encoding="utf-8")
    refused = export(files, target, str(files / "taken"))
    assert refused.exit_code == 1
    assert refused.stderr == f"Error: {files / 'taken'}: there is something already. Name a new folder.\n"
    assert [file.name for file in (files / "taken").iterdir()] == ["mine.txt"]
    assert export(files, target, str(files / "c.parquet")).exit_code == 1
    (files / "empty").mkdir()
    assert export(files, target, str(files / "empty")).exit_code == 0
    assert any((files / "empty").iterdir())
    assert not [path for path in files.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("target", ["--hub", "--chat"])
@pytest.mark.parametrize("split", ["../../escaped", "a b", "a-b", "a/b", "All", "a\nb", "", "*"])
def test_a_split_that_can_not_name_a_file_is_refused(tmp_path, target, split):
    rows = [("a", "Tom had 12 apples and ate five.", 7.0, "12-5", "en", split)]
    data = tmp_path / "folder" / "p.jsonl"
    data.parent.mkdir()
    write_table(pl.DataFrame(rows, schema=PROBLEMS, orient="row"), data)
    done = CliRunner().invoke(main, ["export", str(data), target, str(tmp_path / "folder" / "out")])
    if split == "":  # no split
        assert done.exit_code == 0
        return
    assert done.exit_code == 1
    assert "Rename it." in done.stderr and done.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.rglob("*")} == {"folder", "p.jsonl"}


def test_splits_that_differ_only_in_case_are_refused():
    rows = [(name, "5 and 6", 11.0, "5+6", "en", name, "N0 + N1", 1.0, "gold") for name in ("dev", "Dev")]
    with pytest.raises(WarmkitError, match="differ only in case"):
        by_split(pl.DataFrame(rows, schema=EQUATIONS, orient="row"))


def test_nothing_of_a_problem_set_is_written_on_the_card(tmp_path):
    """Its texts, ids and origins could otherwise write YAML or HTML there."""
    rows = [("---\nlicense: mit", "---\n<script>5 and 6</script>", 11.0, None, "en", None)]
    problems = ProblemSet(pl.DataFrame(rows, schema=PROBLEMS, orient="row"))
    found = (rows[0][0], "", "N0 + N1", klass(parse("N0 + N1")), -1.0, 1.0, 1, "---\n<script>")
    candidates = Candidates(pl.DataFrame([found], schema=CANDIDATES, orient="row"))
    write_hub(with_equations(problems, candidates, {}), tmp_path / "hub", 1)
    facts, text = card(tmp_path / "hub")
    assert facts["license"] == "unknown"
    assert "<script>" not in text and "mit" not in text.split()


@pytest.mark.parametrize(
    ("rows", "category"),
    [(1, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (10_000, "10K<n<100K"), (2_500_000, "1M<n<10M")],
)
def test_sizes_have_the_names_that_the_hub_gives_them(rows, category):
    assert _size_category(rows) == category


def test_a_folder_that_can_not_be_made_is_a_sentence(files):
    done = export(files, "--hub", str(files / "p.jsonl" / "hub"))
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {files / 'p.jsonl'}") and done.stderr.count("\n") == 1


def test_a_kill_while_it_is_written_leaves_no_folder_and_the_next_export_tidies_up(files):
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom toolkit.storage.folder import new_folder\n"
        "with new_folder(Path(sys.argv[1])) as built:\n"
        "    (built / 'README.md').write_text('half')\n    os._exit(9)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    killed = subprocess.run([sys.executable, "-c", code, str(files / "hub")], env=env, check=False)
    assert killed.returncode == 9
    assert not (files / "hub").exists()
    assert export(files, "--hub", str(files / "hub")).exit_code == 0
    assert not [path for path in files.iterdir() if path.name.startswith(".")]
    assert list(load(files / "hub")) == ["train", "test"]
