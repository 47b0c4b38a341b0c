"""The project itself: style, types, packaging."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("arguments", [("check",), ("format", "--check")], ids=["lint", "format"])
def test_ruff_has_nothing_to_say(arguments):
    result = run(sys.executable, "-m", "ruff", *arguments, ".")
    assert result.returncode == 0, result.stdout


def test_the_type_checker_has_nothing_to_say():
    result = run(sys.executable, "-m", "mypy")
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_help_loads_no_heavy_library(arguments):
    code = (
        "import sys\nfrom toolkit.cli import main\n"
        f"try:\n    main({list(arguments)!r})\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'ray', 'label_studio_sdk', 'sympy', 'polars', 'numpy'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    result = run(sys.executable, "-c", code)
    assert result.returncode == 0, result.stderr


def test_a_wheel_installs_in_a_clean_environment_and_runs_from_another_folder(tmp_path):
    built = run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path / "dist")
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = (tmp_path / "dist").glob("warmkit-*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    installed = run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel)
    assert installed.returncode == 0, installed.stderr
    command = tmp_path / "env" / "bin" / "warmkit"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert run(command, "--version", cwd=elsewhere).stdout.startswith("warmkit 0.")
    assert "Commands:" in run(command, "--help", cwd=elsewhere).stdout
    checked = run(command, "data", "check", "bundled:hi", "--no-search", cwd=elsewhere)
    assert checked.returncode == 0, checked.stderr
    assert "problems" in checked.stdout


def test_the_same_words_are_said_in_the_readme_as_in_the_makefile():
    readme, makefile = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "Makefile"))
    for target in ("test", "install"):
        assert f"make {target}" in readme
        assert f"\n{target}:" in makefile
