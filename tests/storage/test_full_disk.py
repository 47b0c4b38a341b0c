"""What commands leave behind if the disk is full: nothing. What they were to replace stays as it was.

A limit on the size of files makes writes fail as a full disk does, at any place and without a mount.
"""

import os
import resource
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from toolkit.data.read import read_problems
from toolkit.data.write import write_table

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
LIMIT = 16_384  # bytes of a file

COMMANDS = {
    "split into a folder": ("data", "split", "bundled:en", "--out", "parts"),
    "split into a table": ("data", "split", "bundled:en", "--out", "parts.parquet"),
    "import": ("data", "import", "bundled:en", "--out", "new/folder/problems.jsonl"),
    "import as CSV": ("data", "import", "bundled:en", "--out", "problems.csv"),
    "stories": ("data", "generate", "--out", "stories.parquet", "--count", "3000"),
    "export": ("export", "bundled:en", "--out", "equations.csv"),
    "export for MWPToolkit": ("export", "bundled:en", "--mwptoolkit", "new/mwptoolkit"),
    "export for Hugging Face": ("export", "bundled:en", "--hub", "new/folder/hub"),
    "export for fine-tuning": ("export", "bundled:en", "--chat", "chat"),
    "candidates": ("generate", "bundled:en", "--model", "../model", "--out", "candidates.csv"),
    "candidates as Parquet": ("generate", "bundled:en", "--model", "../model", "--out", "new/c.parquet"),
}
TARGETS = ("--out", "--hub", "--chat", "--mwptoolkit")


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


def warmkit(*arguments, folder, **how):
    command = [sys.executable, "-m", "toolkit.cli", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, **how)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("full")
    write_table(read_problems("bundled:en").table.head(10), folder / "few.jsonl")
    trained = warmkit("train", "few.jsonl", "--method", "search", "--out", "model", folder=folder)
    assert trained.returncode == 0, trained.stderr
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_a_sentence_and_leaves_nothing_behind(model, name):
    folder = model / "disk"
    folder.mkdir(exist_ok=True)
    result = warmkit(*COMMANDS[name], folder=folder, preexec_fn=limited)
    out = next(value for option, value in pairwise(COMMANDS[name]) if option in TARGETS)
    assert result.returncode == 1
    assert result.stderr.startswith(f"Error: {out}") and "can't be written: File too large." in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(folder.iterdir()) == []


def test_what_was_there_before_stays_as_it_was(tmp_path):
    (tmp_path / "parts").mkdir()
    for name in ("train", "test"):
        (tmp_path / "parts" / f"{name}.parquet").write_text(name, encoding="utf-8")
    arguments = ("data", "split", "bundled:en", "--parts", "test=0.02,train=0.98", "--out", "parts")
    assert warmkit(*arguments, folder=tmp_path, preexec_fn=limited).returncode == 1
    found = {file.name: file.read_text(encoding="utf-8") for file in (tmp_path / "parts").iterdir()}
    assert found == {"train.parquet": "train", "test.parquet": "test"}
