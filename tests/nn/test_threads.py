"""How many threads the commands compute with: seen in a process in which torch was not loaded before."""

import os
import subprocess
import sys

import pytest

from toolkit.nn.threads import POOLS

# A command line is read, and nothing done.
READ = """
import os, sys
from toolkit.cli import main

command, words = main, sys.argv[1:]
while hasattr(command, "get_command"):
    command, words = command.get_command(None, words[0]), words[1:]
command.make_context("warmkit", words)
assert "torch" not in sys.modules
"""
VERBS = {
    "train": ("train", "bundled:en", "--out=model"),
    "generate": ("generate", "bundled:en", "--model=model", "--out=candidates.csv"),
    "loop": ("loop", "bundled:en"),
    "solver fit": ("solver", "fit", "bundled:en", "--out=solver"),
    "solve": ("solve", "How many are 2 and 3?", "--model=solver"),
    "evaluate": ("evaluate", "bundled:en", "--model=solver"),
    "annotate backend": ("annotate", "backend", "--run=mine"),
}


def read(words, then, **environment):
    """What a process prints that reads a command line."""
    own = {name: value for name, value in os.environ.items() if name not in POOLS} | environment
    command = [sys.executable, "-c", READ + then, *words]
    done = subprocess.run(command, capture_output=True, text=True, env=own, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("verb", VERBS)
def test_a_command_and_what_it_starts_have_one_thread(verb):
    assert read(VERBS[verb], f"print([os.environ[pool] for pool in {POOLS}])") == "['1', '1', '1']"


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="torch takes no more threads than there are cores")
def test_a_person_may_ask_for_more():
    torch = "import torch; print(torch.get_num_threads())"
    assert read(VERBS["train"], torch) == "1"
    assert read([*VERBS["train"], "--threads=2"], torch) == "2"
    assert read(VERBS["train"], torch, OMP_NUM_THREADS="2") == "2"
    assert read([*VERBS["train"], "--threads=1"], torch, OMP_NUM_THREADS="2") == "1"


def test_what_a_program_has_set_stays_when_it_imports_warmkit():
    code = "import torch, warmkit; torch.set_num_threads(2); warmkit.Loop; print(torch.get_num_threads())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "2\n"
