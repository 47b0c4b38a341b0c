"""Conversations for fine-tuning: verified equations only, in the language of the problem."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from toolkit.cli import main
from toolkit.data import read_problems, write_table
from toolkit.data.chat import write_chat
from toolkit.data.export import EQUATIONS, with_equations
from toolkit.data.languages import language
from toolkit.data.problems import ProblemSet
from toolkit.data.schema import CANDIDATES, PROBLEMS
from toolkit.equations import klass, parse, verify
from toolkit.errors import WarmkitError

ROWS = [
    ("en", "Tom had 12 apples and ate five.", 7.0, "12-5", "en", "train"),
    ("hi", "रीना के पास 12 सेब थे। उसने 5 खा लिए।", 7.0, "12-5", "hi", "train"),
    ("zh", "小明有12个苹果,吃了5个。", 7.0, "12-5", "zh-CN", "test"),
    ("de", "Tom hatte 12 Äpfel und aß 5.", 7.0, "12-5", "de", None),
    ("third", "A third of 12 apples, and 1 2/3 of 9", 19.0, "12*(1/3)+9*(1 2/3)", "en", "test"),
    ("none", "6 rows of 4 trees", 24.0, None, "en", "dev"),
]


@pytest.fixture
def data(tmp_path):
    write_table(pl.DataFrame(ROWS, schema=PROBLEMS, orient="row"), tmp_path / "p.jsonl")
    return tmp_path / "p.jsonl"


def conversations(folder: Path) -> dict[str, list[list[dict[str, str]]]]:
    files = sorted(folder.iterdir())
    assert all(file.suffix == ".jsonl" for file in files)
    return {
        file.stem: [json.loads(line)["messages"] for line in file.read_text(encoding="utf-8").splitlines()]
        for file in files
    }


def equations(folder: Path) -> dict[str, list[str]]:
    return {
        name: [json.loads(messages[-1]["content"])["equation"] for messages in part]
        for name, part in conversations(folder).items()
    }


def test_each_problem_is_a_conversation_that_ends_in_its_equation(data, tmp_path):
    done = CliRunner().invoke(main, ["export", str(data), "--chat", str(tmp_path / "chat"), "--json"])
    figures = json.loads(done.stdout)
    assert (figures["equations"], figures["unverified"]) == (5, 0)
    assert figures["files"] == {"train": 3, "test": 2}
    found = conversations(tmp_path / "chat")
    assert found["train"][0] == [
        {"role": "system", "content": language("en").request},
        {"role": "user", "content": "Tom had 12 apples and ate five."},
        {"role": "assistant", "content": '{"equation": "12 - 5"}'},
    ]
    assert equations(tmp_path / "chat")["test"] == ["12 - 5", "12 * (1 / 3) + 9 * (5 / 3)"]


def test_the_request_is_in_the_language_of_the_problem_and_english_otherwise(data, tmp_path):
    assert CliRunner().invoke(main, ["export", str(data), "--chat", str(tmp_path / "chat")]).exit_code == 0
    found = conversations(tmp_path / "chat")
    english, hindi, german = (messages[0]["content"] for messages in found["train"])
    chinese = found["test"][0][0]["content"]
    assert english == german == language("en").request
    assert hindi == language("hi").request and "समीकरण" in hindi
    assert chinese == language("zh").request and "算式" in chinese
    assert all('{"equation": "..."}' in request for request in (english, hindi, chinese))


def test_an_equation_that_does_not_give_the_answer_is_left_out_and_counted(data, tmp_path):
    """The first row of a candidates table is checked when it is read; the likeliest may be another one."""
    rows = [
        ("en", "", text, klass(parse(text)), -1.0, share, 1, "warm")
        for text, share in (("N0 - N1", 0.2), ("N0 + N1", 0.8))
    ]
    rows.append(("none", "", "N0 * N1", klass(parse("N0 * N1")), -1.0, 1.0, 1, "warm"))
    write_table(pl.DataFrame(rows, schema=CANDIDATES, orient="row"), tmp_path / "c.parquet")
    arguments = ["export", str(data), "--candidates", str(tmp_path / "c.parquet")]
    done = CliRunner().invoke(main, [*arguments, "--chat", str(tmp_path / "chat")])
    assert done.exit_code == 0
    assert done.stderr == "1 equations do not give the answer and were left out.\n"
    assert equations(tmp_path / "chat") == {"dev": ["6 * 4"]}


def test_without_any_equation_that_verifies_there_is_no_folder(tmp_path):
    problems = ProblemSet(pl.DataFrame(ROWS[:1], schema=PROBLEMS, orient="row"))
    wrong = pl.DataFrame([(*ROWS[0], "N0 + N1", 1.0, "warm")], schema=EQUATIONS, orient="row")
    with pytest.raises(WarmkitError, match="None of the equations"):
        write_chat(wrong, problems, tmp_path / "chat")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lang", ["en", "hi", "zh"])
def test_every_bundled_equation_reads_back_as_what_it_was(tmp_path, lang):
    problems = read_problems(f"bundled:{lang}")
    table = with_equations(problems, None, problems.gold_templates)
    counts = write_chat(table, problems, tmp_path / "chat")
    assert sum(counts.values()) == len(problems)
    rows = {row["text"]: row for row in table.iter_rows(named=True)}
    for part in conversations(tmp_path / "chat").values():
        for _, user, assistant in part:
            row = rows[user["content"]]
            numbers = problems.numbers[problems.row[row["id"]]]
            equation = json.loads(assistant["content"])["equation"]
            assert verify(equation, numbers, row["answer"], problems.constants).ok
