"""Folders that appear whole, and folders that lead nowhere else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolkit.errors import WarmkitError
from toolkit.storage.folder import appear, building, check_file, check_folder, working_in

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "folder"
    (folder / "round-01" / "model").mkdir(parents=True)
    (folder / "round-01" / "model" / "weights").write_text("own")
    (tmp_path / "precious").write_text("precious")
    return folder


@pytest.mark.parametrize("place", ["lock", "round-01/lock", "round-01/model/lock"])
@pytest.mark.parametrize("target", ["precious", "nothing", "folder/../precious", "."])
@pytest.mark.parametrize("relative", [True, False])
def test_a_link_that_leads_out_is_refused_wherever_it_is(folder, place, target, relative):
    there = f"{folder.parent}/{target}"
    (folder / place).symlink_to(os.path.relpath(there, (folder / place).parent) if relative else there)
    with pytest.raises(WarmkitError, match=f"{place}: this link leads out of {folder}"):
        check_folder(folder)


def test_links_in_a_circle_are_refused(folder):
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    with pytest.raises(WarmkitError, match="leads out"):
        check_folder(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_is_refused_and_nobody_waits_for_it(folder):
    os.mkfifo(folder / "round-01" / "config.yaml")
    with pytest.raises(WarmkitError, match=r"config\.yaml: this is not an ordinary file"):
        check_folder(folder)
    with pytest.raises(WarmkitError, match=r"config\.yaml: this is not an ordinary file"):
        check_file(folder / "round-01" / "config.yaml")


def test_folders_in_folders_without_end_are_refused(folder):
    (folder / "/".join("d" * 60)).mkdir(parents=True)
    with pytest.raises(WarmkitError, match="too deep"):
        check_folder(folder)


def test_links_within_the_folder_and_a_link_to_the_folder_are_allowed(folder):
    (folder / "newest").symlink_to("round-01")
    (folder / "round-01" / "again").symlink_to("model/weights")
    check_folder(folder)
    linked = folder.parent / "linked"
    linked.symlink_to(folder)
    check_folder(linked)
    check_folder(folder.parent / "not there")


def test_a_folder_appears_under_the_first_name_that_is_free(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to("nowhere")
    with building(tmp_path) as built:
        (built / "file").write_text("whole")
        assert appear(built, [tmp_path / "a", tmp_path / "b"]) is None
        assert appear(built, [tmp_path / "a", tmp_path / "b", tmp_path / "c"]) == tmp_path / "c"
    assert (tmp_path / "c" / "file").read_text() == "whole"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]


def test_what_fails_while_it_is_built_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), building(tmp_path / "new"):
        raise RuntimeError
    assert list((tmp_path / "new").iterdir()) == []


def test_what_a_kill_left_behind_goes_with_the_next_but_not_what_is_being_built(tmp_path):
    code = "import os, sys; from pathlib import Path; from toolkit.storage.folder import building\n"
    code += "with building(Path(sys.argv[1])) as built: (built / 'file').touch(); os._exit(0)"
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True, cwd=ROOT)
    assert len(list(tmp_path.iterdir())) == 2
    with building(tmp_path) as first:
        (first / "file").touch()
        with building(tmp_path) as second:
            assert sorted(tmp_path.glob("*")) == sorted(
                [first, second, first.with_suffix(".lock"), second.with_suffix(".lock")]
            )
        assert (first / "file").exists()
    assert list(tmp_path.iterdir()) == []


def test_what_a_kill_left_of_a_large_table_is_swept_up(folder):
    (folder / ".pieces-x").mkdir()
    (folder / ".pieces-x" / "part-00000000.parquet").write_text("half")
    with working_in(folder, str):
        assert sorted(path.name for path in folder.iterdir()) == ["lock", "round-01"]
