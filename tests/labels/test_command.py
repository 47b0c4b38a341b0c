"""bench/active.py as a person calls it."""

import importlib.util
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from labels.tiny_labels import write_data

SCRIPT = Path(__file__).parents[2] / "bench" / "active.py"


@pytest.fixture(scope="module")
def command():
    spec = importlib.util.spec_from_file_location("bench_active", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def test_without_time_the_page_says_that_nothing_was_measured(command, tmp_path):
    data, out = write_data(tmp_path / "data"), tmp_path / "out"
    options = ["--data", str(data), "--only", "allarith", "--out", str(out), "--budget", "0"]
    result = CliRunner().invoke(command, [*options, "--json"])
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert (figures["measured"], figures["left"], figures["comparisons"]) == (0, 40, [])
    assert "No pair of curves is there yet." in (out / "labels.html").read_text(encoding="utf-8")
    again = CliRunner().invoke(command, options)
    assert again.exit_code == 1 and "there is something already. Go on with --resume" in again.output
    resumed = CliRunner().invoke(command, [*options, "--resume"])
    assert resumed.exit_code == 0 and "0 pieces measured, 0 failed, 40 not run." in resumed.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--strategy", "margn"), "There is no strategy margn. Did you mean margin?"),
        (("--strategy", ""), "There is no strategy"),
        (("--strategy", "margin active.batches=3"), "active.batch"),
        (("--resume",), "there are no measurements to resume. Leave out --resume."),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(command, tmp_path, options, message):
    data = write_data(tmp_path / "data")
    given = ["--data", str(data), "--only", "allarith", "--out", str(tmp_path / "out"), "--budget", "0"]
    result = CliRunner().invoke(command, [*given, *options])
    assert result.exit_code == 1 and message in result.output
    assert "Traceback" not in result.output
