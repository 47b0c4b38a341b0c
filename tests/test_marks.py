"""What a test needs is known before it runs."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from marks import NEEDS, SLOW, group, marks, need_of, rank

ROOT = Path(__file__).parents[1]


def test_every_test_that_uses_a_server_ray_or_a_browser_has_its_mark(request):
    wanting = []
    for item in request.session.items:
        own = {mark.name for mark in item.iter_markers()}
        uses = set(item.fixturenames)
        expected = {
            "server": bool(uses & {"label_studio", "personal_token"}),
            "ray": bool(uses & {"session", "ray", "cluster"}) or "cluster" in item.path.parts,
            "browser": "browser" in uses,
        }
        wanting += [(item.nodeid, need) for need in NEEDS if expected[need] and need not in own]
    assert wanting == []


def test_what_shares_a_server_or_a_session_is_of_one_group(request):
    for fixture in ("label_studio", "session"):
        of = {group(item.nodeid) for item in request.session.items if fixture in item.fixturenames}
        assert len(of) <= 1, fixture


def test_what_is_called_slow_is_there():
    for prefix in SLOW:
        path, _, name = prefix.partition("::")
        assert (ROOT / path).exists(), prefix
        assert not name or f"def {name}" in (ROOT / path).read_text(encoding="utf-8"), prefix


def test_a_mark_comes_from_a_fixture_the_folder_or_the_list():
    somewhere = "tests/data/test_read.py::test_a"
    assert marks(somewhere, ["tmp_path"]) == set()
    assert marks(somewhere, ["label_studio", "browser"]) == {"server", "browser"}
    assert marks("tests/cluster/test_nodes.py::test_a", []) == {"ray"}
    assert marks(f"{SLOW[1]}::test_a", []) == {"slow"}


def test_files_of_no_group_are_their_own_and_come_last():
    assert group("tests/data/test_read.py::test_a[x::y]") == "tests/data/test_read.py"
    assert group("tests/cluster/test_nodes.py::test_a") != group("tests/cluster/test_workers.py::test_a")
    order = ("tests/integration/test_push.py::a", "tests/cluster/test_workers.py::a", f"{SLOW[1]}::a", "x.py")
    assert sorted(order, key=rank) == list(order)


@pytest.mark.parametrize("program", ["raylet", "/usr/bin/ray", "chromium"])
def test_a_test_without_a_mark_can_not_start_what_it_has_no_mark_for(program):
    with pytest.raises(AssertionError, match="the test needs the mark"):
        subprocess.Popen([program, "--version"])


def test_a_stand_in_for_label_studio_is_no_server(tmp_path):
    program = tmp_path / "label-studio"
    assert need_of([str(program), "start"]) is None
    (tmp_path / "python").touch()  # an environment
    assert need_of([program, "start"]) == "server"
    assert need_of("ls") is None and need_of([]) is None and need_of(None) is None


def test_a_process_has_one_thread_to_compute_with_and_so_have_those_it_starts():
    assert torch.get_num_threads() == 1
    code = "import os; print(os.environ['OMP_NUM_THREADS'])"
    started = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert started.stdout == "1\n"
