"""What a test needs beside Python: told by its fixtures, its folder or a list, so that nobody can forget it.

`server` is a real Label Studio, `ray` are real Ray processes, `browser` is a real browser. A test that starts
one of them without the mark is an error, so `make quick` starts none.
"""

import os
from collections.abc import Iterable
from pathlib import Path

FIXTURES = {"label_studio": "server", "session": "ray", "cluster": "ray", "browser": "browser"}
FOLDERS = {"tests/cluster/": "ray"}
NEEDS = ("server", "ray", "browser")
PROGRAMS = {
    **dict.fromkeys(("ray", "raylet", "gcs_server"), "ray"),
    **dict.fromkeys(("chromedriver", "chromium", "chromium-browser", "google-chrome"), "browser"),
}
# Files, or tests of them, that need nothing but many seconds.
SLOW = (
    "tests/loop/",  # each of them trains
    "tests/kills/",
    "tests/llm/test_asking.py",
    "tests/llm/test_loop.py",
    "tests/cli/test_loop.py",
    "tests/cli/test_train.py::test_both_steps_in_one_go",
    "tests/data/test_s3.py::test_the_commands_do_the_same",
    "tests/docs/test_python.py",
    "tests/docs/test_console.py::test_the_commands_of_a_page_run",
    "tests/methods/test_methods.py",
    "tests/solvers/test_solvers.py",
    "tests/solvers/test_training.py",
    "tests/solvers/test_workers.py",
    "tests/nn/test_workers.py",
    "tests/nn/test_threads.py::test_a_person_may_ask_for_more",
    "tests/tune/test_trial.py",
    "tests/paper/test_measuring.py",
    "tests/paper/test_results.py",
    "tests/paper/test_command.py::test_a_table_is_measured",
    "tests/annotation/test_environment.py",
    "tests/equations/test_classes.py::test_classes_agree_with_sympy_on_thousands",
    "tests/test_project.py::test_the_type_checker_has_nothing_to_say",
    "tests/test_project.py::test_a_wheel_installs_in_a_clean_environment_and_runs_from_another_folder",
)
# The tests of a group run in one process, one after the other, for they share something that takes seconds to
# start. In the order in which they begin: what takes longest comes first.
GROUPS = {
    "tests/integration/": "Label Studio",
    "tests/cluster/test_workers.py": "Ray session",
    "tests/cluster/test_faults.py": "Ray session",
    "tests/cluster/test_solver.py": "Ray session",
    "tests/tune/test_command.py": "Ray session",
    "tests/paper/test_spread.py": "Ray session",
    "tests/cluster/": "Ray clusters",
}


def marks(nodeid: str, fixtures: Iterable[str]) -> set[str]:
    """Of a test that uses these fixtures (those of its fixtures among them)."""
    found = {FIXTURES[name] for name in fixtures if name in FIXTURES}
    found |= {mark for folder, mark in FOLDERS.items() if nodeid.startswith(folder)}
    return found | ({"slow"} if nodeid.startswith(SLOW) else set())


def group(nodeid: str) -> str:
    """Its group, or its file: what is made once for a file is made once then."""
    named = (name for prefix, name in GROUPS.items() if nodeid.startswith(prefix))
    return next(named, nodeid.partition("::")[0])


def rank(nodeid: str) -> int:
    """What takes longest begins first, so that nothing waits for it at the end."""
    first = [*dict.fromkeys(GROUPS.values()), *dict.fromkeys(map(group, SLOW))]
    return first.index(group(nodeid)) if group(nodeid) in first else len(first)


def need_of(command: object) -> str | None:
    """What a process that is about to start stands for."""
    first = command[0] if isinstance(command, list | tuple) and command else command
    if not isinstance(first, str | os.PathLike):
        return None
    program = Path(first)
    if program.name == "label-studio" and program.with_name("python").exists():  # no stand-in for it
        return "server"
    return PROGRAMS.get(program.name)
