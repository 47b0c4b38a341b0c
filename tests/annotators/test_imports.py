"""Imports point one way: the bridge and the annotators know nothing of models, of the loop or of torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = ("toolkit", "annotation", "tune")


def imported(folder):
    """Every module of ours that a folder's files import, with the file."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            yield from ((path, name) for name in names if name and name.split(".")[0] in (*OURS, "torch"))


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [
        ("toolkit/annotators", ("annotators", "equations", "data", "storage", "screen", "errors", "config")),
        ("annotation", ("equations", "data", "annotators", "storage", "errors", "config")),
    ],
)
def test_a_folder_imports_only_what_it_may(folder, allowed):
    prefixes = tuple(f"toolkit.{name}" for name in allowed)
    modules = list(imported(folder))
    assert modules
    for path, name in modules:
        is_own = folder == "annotation" and name.startswith("annotation")
        assert is_own or name.startswith(prefixes), f"{path} imports {name}"


def test_naming_the_annotators_loads_nothing_heavy():
    code = (
        "import sys, toolkit.loop.annotators\n"
        "heavy = {'torch', 'polars', 'label_studio_sdk', 'sympy', 'annotation', 'httpx'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_an_annotator_that_does_not_exist_is_a_sentence_with_those_that_do():
    from toolkit.config import load_config
    from toolkit.errors import WarmkitError
    from toolkit.loop.annotators import ANNOTATORS
    from toolkit.loop.config import LoopConfig

    for name in ANNOTATORS:
        assert load_config(LoopConfig, None, (f"annotator.name={name}",)).annotator.name == name
    with pytest.raises(
        WarmkitError, match=r"annotator\.name: there is no annotator \{nobody\}\. Take one of oracle, t"
    ):
        load_config(LoopConfig, None, ('annotator.name="{nobody}"',))
