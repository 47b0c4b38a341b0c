"""Label Studio's own environment, here with a small package in its place: making one takes seconds so."""

import zipfile

import pytest

from annotation import environment
from annotation.environment import NotInstalled, find_environment


@pytest.fixture
def messages(monkeypatch, tmp_path):
    """A wheel with a `label-studio` program, instead of the real one."""
    wheel = tmp_path / "stand_in-1.0-py3-none-any.whl"
    info = "stand_in-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("stand_in.py", "def main():\n    print('it runs')\n")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: stand-in\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/entry_points.txt", "[console_scripts]\nlabel-studio = stand_in:main\n")
        file.writestr(f"{info}/RECORD", "")
    monkeypatch.setattr(environment, "REQUIREMENTS", (str(wheel),))
    monkeypatch.delenv("WARMKIT_LABEL_STUDIO_ENV", raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return []


def test_it_is_made_once_and_a_half_made_one_is_made_again(tmp_path, messages):
    root = tmp_path / "root"
    program = find_environment(root, messages.append)
    assert program.exists() and "once" in messages[-1]
    messages.clear()
    assert find_environment(root, messages.append) == program
    assert messages == []
    (program.parents[1] / "installed").unlink()  # as a kill in its middle leaves it
    program.unlink()
    assert find_environment(root, messages.append) == program
    assert program.exists() and "incomplete" in messages[0]


def test_what_hinders_the_installation_is_a_sentence_and_the_next_call_tries_again(
    tmp_path, messages, monkeypatch
):
    wheel = environment.REQUIREMENTS
    monkeypatch.setattr(environment, "REQUIREMENTS", ("no-such-package-at-all==1",))
    with pytest.raises(NotInstalled, match=r"(?s)no-such-package-at-all.*install\.log"):
        find_environment(tmp_path, messages.append)
    monkeypatch.setattr(environment, "REQUIREMENTS", wheel)
    assert find_environment(tmp_path).exists()


def test_an_environment_that_one_names_is_used_and_must_have_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("WARMKIT_LABEL_STUDIO_ENV", str(tmp_path))
    with pytest.raises(NotInstalled, match="WARMKIT_LABEL_STUDIO_ENV"):
        find_environment(tmp_path / "root")
    program = tmp_path / "bin" / "label-studio"
    program.parent.mkdir()
    program.touch()
    assert find_environment(tmp_path / "root") == program
    assert not (tmp_path / "root").exists()
