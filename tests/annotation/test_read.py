"""Annotations from files, and the commands that take them."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result
from commands import sets

import warmkit
from annotation.read import read_annotations
from annotation.store import TaskStore
from annotation.summary import AnnotationSummary
from annotation.tasks import Key, RawAnnotation
from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.cli import main
from toolkit.data import ProblemSet, write_table
from toolkit.data.schema import ANNOTATIONS, PROBLEMS
from toolkit.equations import DEFAULT_CONSTANTS, show
from toolkit.errors import WarmkitError

SMALL = sets(("epochs=1", "members=1", "hidden=8", "embedding=8"))
ROWS = [
    ("p0", "Tom had 5 pens and 5 books, and lost 3 books. How many are left?", 2.0),
    ("p1", "A room is 12 by 5 metres. How long are its walls?", 34.0),
    ("p2", "Each pack costs 76 dollars, with 25 off.", 51.0),
    ("p3", "3/4 of 100 sweets are red. How many?", 75.0),
    ("p4", "There are 8 boys and 6 girls. How many children?", 14.0),
    ("p5", "There are 9 boys and 6 girls. How many more boys?", 3.0),
]
TABLE = pl.DataFrame([(*row, None, "en", "train") for row in ROWS], schema=PROBLEMS, orient="row")


@pytest.fixture
def problems() -> ProblemSet:
    return ProblemSet(TABLE)


@pytest.fixture
def data(tmp_path) -> Path:
    write_table(TABLE, tmp_path / "mine.jsonl")
    return tmp_path / "mine.jsonl"


def result(**values):
    return [{"from_name": name, "value": value} for name, value in values.items()]


PICKED = result(pick={"choices": ["N1 - N2"]})  # of two fives, the books


def written(equation):
    return result(pick={"choices": ["own"]}, equation={"text": [equation]})


def exported(problem_id, *results, **more):
    return {
        "id": 7,
        "data": {"problem_id": problem_id, "round": 1, "attempt": 0, "problem": "…"},
        "annotations": [
            {"id": i, "completed_by": {"id": i, "email": f"ann{i}@example.org"}, "result": given, **more}
            for i, given in enumerate(results, 1)
        ],
    }


EXPORT = [
    exported("p0", PICKED),
    exported("p1", written("2*(12+5)"), written("12+12+5+5")),
    exported("p2", written("76 + 25")),
    exported("p3", written("100*3/4"), written("100*0.75")),
    exported("p4", written("8 + 6"), result(pick={"choices": ["bad"]}, reason={"choices": ["unclear text"]})),
    exported("p5", [], was_cancelled=True),
    exported("q9", written("1 + 1")),
]


@pytest.fixture
def export(tmp_path) -> Path:
    (tmp_path / "export.json").write_text(json.dumps(EXPORT))
    return tmp_path / "export.json"


def test_an_export_of_label_studio_is_judged_like_responses_of_the_loop(export, problems):
    found = read_annotations(export, problems)
    assert {name: show(template) for name, template in found.templates.items()} == {
        "p0": "N1 - N2",
        "p1": "2 * (N0 + N1)",
        "p3": "N1 * N0",
    }
    assert {name: resolution.verdict for name, resolution in found.resolutions.items()} == {
        **dict.fromkeys(("p0", "p1", "p3"), "accepted"),
        **{"p2": "rejected", "p4": "disputed", "p5": "skipped"},
    }
    assert found.resolutions["p1"].annotators == ("ann1@example.org", "ann2@example.org")
    assert (found.responses, found.elsewhere) == (9, 1)
    assert any("p2" in sentence and "It gives 101" in sentence for sentence in found.sentences())


def test_an_export_of_another_project_counts_by_its_only_text(tmp_path, problems):
    task = {
        "data": {"id": "p2", "text": "…"},
        "annotations": [
            {
                "id": 3,
                "completed_by": 12,
                "result": [{"from_name": "formula", "type": "textarea", "value": {"text": ["76-25"]}}],
            }
        ],
    }
    (tmp_path / "theirs.json").write_text(json.dumps([task]))
    (resolution,) = read_annotations(tmp_path / "theirs.json", problems).resolutions.values()
    assert (show(resolution.template), resolution.annotators) == ("N0 - N1", ("user 12",))


def test_what_pull_writes_keeps_the_meaning_of_a_picked_candidate(tmp_path, problems):
    store = TaskStore(tmp_path / "store")
    candidates = (ShownCandidate("5 - 3", "N0 - N2"), ShownCandidate("5 - 3", "N1 - N2"))
    question = Question("p0", 1, ROWS[0][1], 2.0, "en", problems.numbers[0], candidates)
    store.ask([question])
    store.add_tasks({1: Key("p0", 1, 0)})
    when = "2026-01-01T00:00:00+00:00"
    store.add([RawAnnotation(1, 1, "ann", when, when, 12.5, False, json.dumps(PICKED))])
    table = AnnotationSummary(store, DEFAULT_CONSTANTS).table()
    assert table.schema == ANNOTATIONS
    write_table(table, tmp_path / "annotations.parquet")
    found = read_annotations(tmp_path / "annotations.parquet", problems)
    assert {name: show(template) for name, template in found.templates.items()} == {"p0": "N1 - N2"}
    assert table["seconds"].to_list() == [12.5]


CSV = """id,equation,annotator
p2,76 - 25,ann
p2,76-25,bob
p4,8+6,ann
p4,6*2+2,bob
p5,,ann
p3,100*3/4,bob
"""


def test_a_table_of_equations_is_enough(tmp_path, problems):
    (tmp_path / "mine.csv").write_text(CSV)
    found = read_annotations(tmp_path / "mine.csv", problems)
    assert {name: show(template) for name, template in found.templates.items()} == {
        "p2": "N0 - N1",
        "p3": "N1 * N0",
        "p4": "N0 + N1",  # what bob wrote is no equation of this problem
    }
    assert found.resolutions["p2"].annotators == ("ann", "bob")
    assert "p5" not in found.resolutions


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "a.csv",
            "id,text\np2,x\n",
            "these are no annotations. They are a table with the columns id",
        ),
        ("a.csv", "id,equation\nother,1+1\n", "none of its annotations is of a problem in the problem set"),
        ("a.csv", "id,equation\np2,\n", "it is empty"),
        ("a.json", '[{"data": {"problem_id": "x"}, "annotations": 5}]', "it is empty"),
        ("a.json", "[[1]]", "these are no annotations"),
        ("a.csv", "", "the file is empty"),
    ],
)
def test_a_file_that_is_no_annotations_is_one_sentence(tmp_path, problems, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(WarmkitError) as caught:
        read_annotations(tmp_path / name, problems)
    assert words in str(caught.value) and name in str(caught.value) and "\n" not in str(caught.value)


def test_odd_annotations_are_named_and_the_others_count(tmp_path, problems):
    odd = exported("p4", written("8+6"))
    odd["annotations"].append({"id": "x", "result": 5})
    rows = [odd, {"data": {"text": "no id"}, "annotations": []}, exported("p2", written("76-25"))]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    found = read_annotations(tmp_path / "a.json", problems)
    assert found.templates.keys() == {"p2", "p4"}
    assert len(found.odd) == 2 and all("a.json, line 1" in sentence for sentence in found.odd)
    (tmp_path / "b.csv").write_text("id,equation,verdict\np2,76-25,perhaps\np4,8+6,\n")
    found = read_annotations(tmp_path / "b.csv", problems)
    assert found.templates.keys() == {"p4"} and "line 2" in found.odd[0] and "'perhaps'" in found.odd[0]


def run(*arguments: str | Path) -> Result:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_data_import_writes_the_equations_of_annotators(data, export, tmp_path):
    done = run("data", "import", data, "--annotations", export, "--out", tmp_path / "out.jsonl", "--json")
    assert json.loads(done.stdout)["annotated"] == 3
    equations = dict(pl.read_ndjson(tmp_path / "out.jsonl").select("id", "equation").iter_rows())
    assert equations["p0"] == "N1 - N2"  # 5 - 3 would be the pens
    assert equations["p1"] == "2 * (12 + 5)"
    assert equations["p2"] is None
    again = ProblemSet(warmkit.read_problems(tmp_path / "out.jsonl").table)
    assert show(again.gold_templates["p0"]) == "N1 - N2"


def test_export_solver_and_train_take_annotations(data, export, tmp_path):
    out = tmp_path / "equations.csv"
    done = run("export", data, "--annotations", export, "--out", out, "--json")
    figures = json.loads(done.stdout)
    assert (figures["equations"], figures["annotated"], figures["gold"]) == (3, 3, 0)
    assert "9 annotations of 6 problems: 3 accepted, 1 disputed, 1 rejected, 1 skipped" in done.stderr
    assert set(pl.read_csv(out)["origin"]) == {"annotator"}
    solver = tmp_path / "gts"
    assert run("solver", "fit", data, "--annotations", export, "--out", solver, *SMALL).exit_code == 0
    assert [*map(show, warmkit.load_solver(solver).constants)] == ["1", "2", "π"]
    model = tmp_path / "model"
    trained = run(
        *("train", data, "--annotations", export, "--out", model, "--json"),
        *sets(("train.epochs=1", "model.hidden=8", "model.embedding=8", "train.search=1")),
    )
    figures = json.loads(trained.stdout)
    assert (figures["gold"], figures["constants"]) == (3, ["1", "2", "π"])


def test_a_list_of_constants_refuses_others_of_annotators_too(data, tmp_path):
    out = tmp_path / "equations.csv"
    (tmp_path / "one.csv").write_text("id,equation\np1,2*(12+5)\np4,8+6\n")
    done = run("export", data, "--annotations", tmp_path / "one.csv", "--constants", "1,π", "--out", out)
    assert "problem p1: 2*(12+5): 2 is not a number of the problem" in done.stderr
    assert pl.read_csv(out)["id"].to_list() == ["p4"]


def test_an_annotations_file_that_is_missing_is_one_sentence(data, tmp_path):
    done = run("export", data, "--annotations", tmp_path / "none.csv", "--out", tmp_path / "o.csv")
    assert done.exit_code == 1 and "none.csv" in done.output and "Traceback" not in done.output
