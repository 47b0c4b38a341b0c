"""The commands of README, docs and every --help: all of them parse, and those that need no server run.

A page's commands run in order in one folder, with settings so small that training takes a second; what they
print is compared with the page: to the letter, or with all figures masked where training makes them.
"""

import itertools
import json
import re
import shlex
import shutil
from pathlib import Path

import click
import polars as pl
import pytest
from click.testing import CliRunner
from commands import sets
from docs.pages import PAGES, ROOT, Command, commands
from tiny import TINY, WARM

from toolkit.cli import COMMANDS, main
from toolkit.data import read_problems, write_table

SMALL = {
    ("loop",): sets((*TINY, "stop.rounds=1")),
    ("train",): sets(WARM),
    ("solver", "fit"): sets(("epochs=1", "members=1", "hidden=8", "embedding=8")),
}
MASKED = ("loop", "train", "generate")  # whose figures depend on the settings
NOT_COMPARED = ("solve",)  # another solver, another equation
# What needs a server, a person, a cluster or Ray is parsed here, and run by the tests of those rooms.
ELSEWHERE = (
    "annotate",
    "tune",
    "paper",
    "terminal",
    "file",
    "label-studio",
    "--workers",
    "--address",
    "--llm",
)
MADE_ELSEWHERE = ("runs/tune/", "llm.url=")
NEWLINES = ("\n" * 5, "\n" * 5)  # so that the bad rows stand in the lines that README names
SHELL = ("make", "source", "export", "ray")


def words_of(command: Command) -> list[str] | None:
    """The words after `warmkit`; None for a command of the shell."""
    if command.words[:2] == ("make", "loop"):  # as the Makefile has it
        return ["loop", "--config", str(ROOT / "configs/demo.yaml")]
    if command.words[0] in SHELL:
        return None
    assert command.words[0] == "warmkit", command
    return list(command.words[1:])


def parse(words: list[str]) -> None:
    """What click makes of a command line, without running it; an unknown option or value is an error."""
    context = main.make_context("warmkit", list(words), resilient_parsing=False)
    group: click.Command = main
    rest = list(words)
    while isinstance(group, click.Group) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        found = group.get_command(context, name)
        assert found is not None, f"there is no command {name}"
        group = found
        if not isinstance(group, click.Group):
            with group.make_context(name, rest, parent=context):
                pass  # files that it opened are closed again


def examples(command: click.Command, path: tuple[str, ...] = ()):
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from examples(found, (*path, name))
    for line in (command.epilog or "").splitlines():
        if "warmkit " in line:
            yield " ".join(path), line[line.index("warmkit ") :].strip()


def test_every_example_of_every_help_parses(folder):
    found = list(examples(main))
    assert {path.split()[0] for path, _ in found if path} == set(COMMANDS)
    for path, example in found:
        words = list(itertools.takewhile(lambda word: word not in (">", "|"), shlex.split(example)[1:]))
        try:
            parse(words)
        except click.ClickException as error:
            pytest.fail(f"{path}: {example}: {error.format_message()}")


@pytest.mark.parametrize(
    "command", [command for page in PAGES for command in commands(page) if words_of(command)], ids=str
)
def test_every_command_of_the_pages_parses(command):
    words = words_of(command)
    assert words is not None
    if words != ["--help"]:
        parse(words)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that the pages speak of."""
    monkeypatch.chdir(tmp_path)
    hindi = read_problems("bundled:hi").table
    rows = (
        hindi.head(40).select("id", "text", "answer", "lang").rename({"text": "question", "answer": "gold"})
    )
    write_table(rows, Path("mine.csv"))
    write_table(hindi.tail(20), Path("test.jsonl"))
    annotated = hindi.head(20).select(problem_id="id", equation="equation", annotator=pl.lit("ann"))
    Path("label-studio").mkdir()
    write_table(annotated, Path("label-studio", "annotations.parquet"))
    chinese = [
        {"id": name, "original_text": text, "equation": f"x={equation}", "ans": str(answer)}
        for name, text, answer, equation in read_problems("bundled:zh")
        .table.head(40)
        .select("id", "text", "answer", "equation")
        .iter_rows()
    ]
    Path("math_23k.json").write_text("\n".join(map(json.dumps, chinese)), encoding="utf-8")
    Path("gsm8k").mkdir()
    solved = {
        "question": "Ann had 36 pears and half as many plums.",
        "answer": "<<36/2=18>>18 <<36+18=54>>54 #### 54",
    }
    Path("gsm8k", "train.jsonl").write_text(json.dumps(solved), encoding="utf-8")
    questions = [
        {"iIndex": i, "sQuestion": f"Ann had {i} pears and {i + 1} plums.", "lEquations": [f"X={i}+{i + 1}"],
         "lSolutions": [2 * i + 1]} for i in (3, 4)
    ]  # fmt: skip
    Path("questions.json").write_text(json.dumps(questions), encoding="utf-8")
    Path("fold0.txt").write_text("3\n", encoding="utf-8")
    Path("fold1.txt").write_text("4\n", encoding="utf-8")
    problem = (
        '<Problem ID="nluds-{:04d}">\n<Body>{} has 4 pens and 5 pencils.</Body>\n<Question>{}?</Question>\n'
        "<Answer>{}</Answer>\n<Formula>4+5=9</Formula>\n{}</Problem>\n"
    )
    good = "".join(problem.format(i, "Ann", "How many things", 9, "") for i in range(1, 3))
    first = problem.format(30, "Ann", "Who", "Mrs. Hilt", "")
    rest = "".join(problem.format(i, "Ann", "How many", 9, "") for i in range(31, 42))
    last = problem.format(76, "Ann", "Is it many", "Yes", "")
    Path("problems.txt").write_text("Tom had 12 apples and ate 5.\n", encoding="utf-8")
    Path("asdiv.xml").write_text(
        f"<Machine>\n{good}{NEWLINES[0]}{first}{rest}{NEWLINES[1]}{last}</Machine>\n", encoding="utf-8"
    )
    return tmp_path


def run(words: list[str]):
    small = next((extra for verb, extra in SMALL.items() if tuple(words[: len(verb)]) == verb), [])
    return CliRunner().invoke(main, [*words, *small], catch_exceptions=False)


def masked(line: str) -> str:
    return " ".join(re.sub(r"\d[\d.,]*", "#", line).split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_run_and_print_what_it_says(page, folder):
    ran = 0
    for command in commands(page):
        words = words_of(command)
        if words is None or any(word in ELSEWHERE or word.startswith(MADE_ELSEWHERE) for word in words):
            continue
        result = run(words)
        ran += 1
        assert result.exit_code in (0, 1), f"{command}: {result.output}"
        assert (result.exit_code == 0) == (not fails(command)), f"{command}: {result.output}"
        if words[0] not in NOT_COMPARED:
            compare(command, words, result.output)
    assert ran or page.name != "README.md"
    shutil.rmtree("runs", ignore_errors=True)


def fails(command: Command) -> bool:
    """Whether the page shows an error."""
    return any(line.startswith(("Error:", "no:")) for line in command.output)


def compare(command: Command, words: list[str], printed: str) -> None:
    """Every line that the page shows is printed, in this order; `…` stands for any lines."""
    mask = masked if words[0] in MASKED else str.rstrip
    lines = iter([mask(line) for line in printed.splitlines()])
    for line in command.output:
        if line.strip() in ("", "…"):
            continue
        assert any(mask(line) == other for other in lines), f"{command}: no line {line!r} in\n{printed}"
