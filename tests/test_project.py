"""The project itself: style, types, packaging."""

import os
import subprocess
import sys
import venv
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | env,
    )


def required(requirements: list[str], extras: set[str], known: set[tuple[str, str]]) -> set[str]:
    """The names of all packages that these requirements come to, here and now."""
    for requirement in map(Requirement, requirements):
        marker = requirement.marker
        for extra in {"", *requirement.extras}:
            if (requirement.name, extra) in known:
                continue
            if marker is None or any(marker.evaluate({"extra": one}) for one in extras):
                known.add((requirement.name, extra))
                required(distribution(requirement.name).requires or [], {extra}, known)
    return {name for name, _ in known}


def link(names: set[str], folder: Path) -> None:
    """What is installed here under these names, in the packages of another environment: nothing is loaded."""
    for name in names:
        for file in distribution(name).files or []:
            place = folder / file.parts[0]
            if file.parts[0] not in ("..", "__pycache__") and not place.exists():
                place.symlink_to(distribution(name).locate_file(file.parts[0]))


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
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    installed = run(*pip, "install", "--quiet", "--no-deps", wheel)
    assert installed.returncode == 0, installed.stderr
    (packages,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    (metadata,) = packages.glob("warmkit-*.dist-info")
    link(required(PathDistribution(metadata).requires or [], {""}, set()), packages)
    complete = run(*pip, "check")
    assert complete.returncode == 0, complete.stdout
    command = tmp_path / "env" / "bin" / "warmkit"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    alone = {"cwd": elsewhere, "PYTHONPATH": ""}
    assert run(command, "--version", **alone).stdout.startswith("warmkit 0.")
    assert "Commands:" in run(command, "--help", **alone).stdout
    checked = run(command, "data", "check", "bundled:hi", "--no-search", **alone)
    assert checked.returncode == 0, checked.stderr
    assert "problems" in checked.stdout
    where = "import annotation, toolkit, tune; print(*(one.__file__ for one in (annotation, toolkit, tune)))"
    assert all(file.startswith(str(packages)) for file in run(python, "-c", where, **alone).stdout.split())


def test_the_same_words_are_said_in_the_readme_as_in_the_makefile():
    readme, makefile = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "Makefile"))
    for target in ("test", "quick", "install"):
        assert f"make {target}" in readme
        assert f"\n{target}:" in makefile
