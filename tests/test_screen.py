"""Nothing that is printed can change the terminal, and everything stays readable."""

import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.annotators.terminal import Terminal
from toolkit.cli import main
from toolkit.cli.live import LiveView
from toolkit.cli.output import print_json, print_table, progress, waiting
from toolkit.equations import DEFAULT_CONSTANTS
from toolkit.screen import Screen, harmless

ROOT = Path(__file__).parents[1]
HOSTILE = {
    "colour": "\x1b[31mred",
    "title": "\x1b]0;owned\x07",
    "C1": "\x9b2J",
    "carriage return": "real\rfake",
    "backspace": "no\b\bok",
    "bidi override": "\u202eexe.txt",
    "isolate": "\u2066x",
    "line separator": "a\u2028b",
    "half a character": "\ud800",
    "NUL": "a\0b",
    "delete": "a\x7fb",
}
HARMFUL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_text_is_shown_without_what_a_terminal_would_obey(name):
    shown = harmless(HOSTILE[name])
    assert "�" in shown and not HARMFUL.search(shown)
    shown.encode()


def test_what_people_write_stays_as_it_is():
    for text in ("क्‍ष में 3", "小明有3个", "a\tb\nc", "π ≈ 3.14", "👩‍👩‍👧", "é"):
        assert harmless(text) == text


@pytest.mark.parametrize("name", HOSTILE)
def test_no_part_of_rich_lets_it_through(name):
    out = io.StringIO()
    screen = Screen(file=out)
    text = HOSTILE[name]
    table = Table(text, title=text)
    table.add_row(text)
    table.add_row(Text(text))
    for thing in (text, Text(text), table, Panel(Text(text), title=Text(text))):
        screen.print(thing)
    assert not HARMFUL.search(out.getvalue())
    out.getvalue().encode()


def test_markup_and_emoji_in_data_stay_literal(capsys):
    print_table("[bold]t[/bold]", [("[red]a[/red]", ":smile:")], ("[b]", "c"))
    shown = capsys.readouterr().out
    for literal in ("[bold]t[/bold]", "[red]a[/red]", ":smile:", "[b]"):
        assert literal in shown


def test_labels_of_bars_and_views_are_literal_and_harmless(monkeypatch, capsys):
    monkeypatch.setattr("toolkit.screen.Screen.is_terminal", True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    label = "[bold]x[/bold] \x1b]0;owned\x07 [/]"
    with progress(label, 3) as advance, waiting(label) as say:
        advance(1)
        say(label)
    with LiveView(label, 3, interactive=False) as view:
        view.say(label)
        view.stage(1, label)
    shown = "".join(capsys.readouterr())
    assert "[bold]x[/bold] �]0;owned" in shown
    assert "\x1b]0;" not in shown and "\x07" not in shown


def test_json_stays_json_and_means_the_same(capsys):
    print_json(HOSTILE)
    printed = capsys.readouterr().out
    assert json.loads(printed) == HOSTILE
    assert not HARMFUL.search(printed)
    print_json({"text": "क्ष 小明 π"})
    assert "क्ष 小明 π" in capsys.readouterr().out  # what can be read stays readable


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in ("half a character", "NUL")])
@pytest.mark.parametrize("command", ["show", "check", "split", "import"])
def test_no_command_lets_a_problem_change_the_terminal(tmp_path, name, command):
    text = HOSTILE[name]
    row = {"id": text, "text": f"{text} 3 and 4 {text}", "answer": 12, "equation": "3+4", "split": text}
    path = tmp_path / f"problems-{text}.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps({**row, "id": f"{text}2", "answer": text}) + "\n")
    out = ["--out", str(tmp_path / f"out{text}.csv")] if command in ("split", "import") else []
    for extra in ([], ["--skip-bad"]):
        result = CliRunner().invoke(main, ["data", command, str(path), *out, *extra])
        assert isinstance(result.exception, SystemExit | None), result.exception
        assert not HARMFUL.search(result.output), result.output


@pytest.mark.parametrize(
    "arguments", [["data", "check", "x\x1b[2J.json"], ["--\x1b[2J"], ["\x1b[2J"], ["solve", "-\x9b"]]
)
def test_an_error_quotes_an_argument_harmlessly(arguments):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code in (1, 2)
    assert not HARMFUL.search(result.output)


def test_an_argument_that_is_no_text_is_a_wrong_call():
    result = CliRunner().invoke(
        main, ["data", "split", "bundled:en", "--parts", "\udcff=1", "--out", "x.csv"]
    )
    assert result.exit_code == 2
    assert r"The argument '\udcff=1' is not text in UTF-8." in result.output


@pytest.mark.parametrize("name", HOSTILE)
def test_the_terminal_annotator_shows_a_question_harmlessly(name):
    text = HOSTILE[name]
    out = io.StringIO()
    terminal = Terminal(DEFAULT_CONSTANTS, source=io.StringIO("s\n"), output=out)
    question = Question(
        problem_id=text,
        round=1,
        text=f"[bold]{text}[/bold] 3",
        lang="en",
        numbers=(3,),
        answer=3.0,
        candidates=(ShownCandidate(f"{text} 3", "N0"),),
        complaint=text,
    )
    terminal.submit([question])
    assert len(terminal.collect()) == 1
    assert not HARMFUL.search(out.getvalue())
    assert "[bold]" in out.getvalue()


def test_all_output_of_the_commands_goes_through_one_place():
    for path in sorted((ROOT / "toolkit").rglob("*.py")):
        written = path.read_text(encoding="utf-8")
        if path.name not in ("output.py", "screen.py"):
            assert "click.echo" not in written and "click.secho" not in written, path
            assert not re.search(r"(?<![\w.])print\(", written), path
            assert not re.search(r"\bConsole\(", written), path
