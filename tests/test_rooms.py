"""Rooms import one way only, and the light ones load nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# From the bottom up: a room may import rooms of a lower rank, and its own.
RANKS = {
    "toolkit.errors": 0,
    "toolkit.statistics": 0,
    "toolkit.screen": 1,
    "toolkit.storage": 1,
    "toolkit.equations": 1,
    "toolkit.config": 2,
    "toolkit.data": 2,
    "toolkit.nn": 3,
    "toolkit.annotators": 3,
    "toolkit.methods": 4,
    "toolkit.solvers": 4.5,  # LBF is a method and a solver in one
    "toolkit.active": 4,
    "annotation": 4,
    "toolkit.report": 5,
    "toolkit.cluster": 5,
    "toolkit.compute": 6,
    "toolkit.pieces": 6,
    "toolkit.loop": 7,
    "toolkit.paper": 8,
    "toolkit.labels": 8,
    "tune": 8,
    "toolkit.cli": 9,
    "warmkit": 9,
}
FORBIDDEN = {  # beyond the order
    "toolkit.equations": {"toolkit.config", "toolkit.storage", "toolkit.errors"},
    "toolkit.active": {
        "toolkit.equations",
        "toolkit.data",
        "toolkit.nn",
        "toolkit.methods",
        "toolkit.solvers",
    },
    "annotation": {"toolkit.nn", "toolkit.active"},
    "toolkit.annotators": {"toolkit.nn"},
}


def room_of(module: str) -> str | None:
    parts = module.split(".")
    name = ".".join(parts[:2]) if parts[0] == "toolkit" else parts[0]
    return name if name in RANKS else None


def sources():
    for top in ("toolkit", "tune", "annotation", "warmkit"):
        for path in sorted((ROOT / top).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            if module != "toolkit":
                yield module, path


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("room", RANKS)
def test_a_room_imports_only_rooms_below_it(room):
    for module, path in sources():
        if room_of(module) != room:
            continue
        for imported in imports_of(path):
            other = room_of(imported)
            if other is None or other == room:
                continue
            assert RANKS[other] < RANKS[room], f"{module} imports {imported}, which is not below it"
            assert other not in FORBIDDEN.get(room, ()), f"{module} must not know {imported}"


def test_every_room_has_a_rank():
    assert {room_of(module) for module, _ in sources()} == set(RANKS)


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("warmkit", {"torch", "ray", "label_studio_sdk", "sympy", "polars", "numpy", "pydantic", "yaml"}),
        ("toolkit.data", {"torch", "ray", "label_studio_sdk", "sympy"}),
        ("toolkit.annotators.file", {"torch", "ray", "label_studio_sdk", "sympy"}),
        ("toolkit.methods", {"torch", "ray", "label_studio_sdk", "sympy"}),
        ("toolkit.solvers", {"torch", "ray", "label_studio_sdk", "sympy"}),
        ("toolkit.loop.run", {"torch", "ray", "label_studio_sdk", "sympy"}),
        ("tune.config", {"torch", "ray", "label_studio_sdk", "sympy"}),
        ("toolkit.paper.run", {"torch", "ray", "label_studio_sdk", "sympy"}),
        ("toolkit.compute", {"torch", "ray", "label_studio_sdk", "sympy"}),
    ],
)
def test_a_light_room_loads_nothing_heavy(module, heavy):
    code = f"import sys, {module}; sys.exit(' '.join({heavy!r} & set(sys.modules)) or 0)"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, f"{module} loads {result.stderr.strip()}"
