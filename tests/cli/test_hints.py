"""What the command line adds to the errors of the library."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest

from toolkit.cli.hints import COMMAND_HINTS, HINTS, with_hint
from toolkit.errors import WarmkitError

IN_COMMANDS = [pair for hints in COMMAND_HINTS.values() for pair in hints.items()]
ROOT = Path(__file__).parents[2]
TREES = {
    path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
    for folder in ("toolkit", "tune", "annotation")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


class Raised(NamedTuple):
    where: str
    code: str
    details: set[str]


def errors() -> set[str]:
    """WarmkitError and the names of all classes that derive from it."""
    classes = [node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    names: set[str] = set()
    found = {"WarmkitError"}
    while found - names:
        names |= found
        found = {node.name for node in classes if {ast.unparse(base) for base in node.bases} & names}
    return names


def raised() -> Iterator[Raised]:
    """Every error that has a code. A function that is given the code is read where it is called."""
    takes_code = dict.fromkeys(errors(), 1)  # name → position of the code among its arguments
    todo = list(takes_code)
    while todo:
        name = todo.pop()
        for where, function, call in calls(name):
            keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
            position = takes_code[name]
            code = call.args[position] if len(call.args) > position else keywords.pop("code", None)
            if isinstance(code, ast.Name) and code.id in function:
                takes_code[function[0]] = function.index(code.id) - 1
                todo.append(function[0])
            elif code is not None:
                yield from (Raised(where, text, set(keywords)) for text in texts(code) if text)


def calls(name: str) -> Iterator[tuple[str, list[str], ast.Call]]:
    """Where a function is called, the name and the arguments of the function around it, and the call."""

    def visit(node: ast.AST, function: list[str]) -> Iterator[tuple[list[str], ast.Call]]:
        if isinstance(node, ast.FunctionDef):
            function = [node.name, *(argument.arg for argument in node.args.args)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield function, node
        for child in ast.iter_child_nodes(node):
            yield from visit(child, function)

    for path, tree in TREES.items():
        for function, call in visit(tree, []):
            yield f"{path}, line {call.lineno}", function, call


def texts(code: ast.expr) -> list[str]:
    """What a code may be: a literal, or one of two."""
    if isinstance(code, ast.IfExp):
        return [*texts(code.body), *texts(code.orelse)]
    return [str(ast.literal_eval(code))]


def fields(hint: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(hint) if name}


RAISED = list(raised())


def test_every_code_that_is_raised_has_a_hint():
    assert RAISED
    assert [error for error in RAISED if error.code not in HINTS] == []


def test_every_hint_is_of_a_code_that_is_raised_somewhere():
    codes = {error.code for error in RAISED}
    assert set(HINTS) - codes == set()
    assert {code for code, _ in IN_COMMANDS} - codes == set()


def test_an_error_brings_all_that_its_hint_tells():
    missing = [
        (error, fields(hint))
        for error in RAISED
        for code, hint in (*HINTS.items(), *IN_COMMANDS)
        if code == error.code and not fields(hint) <= error.details
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("error", "command", "text"),
    [
        (WarmkitError("It is so."), None, "It is so."),
        (WarmkitError("It is so.", "no-cuda"), "train", "It is so. Use --device cpu."),
        (
            WarmkitError("It has {3}.", "port-taken", next=8081),
            None,
            "It has {3}. Take another: --port 8081, or --port 0 for any that is free.",
        ),
        (
            WarmkitError("Two rows:\n  a\n  b", "bad-rows"),
            None,
            "Two rows:\n  a\n  b\nFix them, or keep the good rows alone with --skip-bad.",
        ),
        (WarmkitError("Where?", "storage-not-shared"), "train", "Where? Name one with --storage."),
        (WarmkitError("Where?", "storage-not-shared"), "tune", "Where? Name one with --out."),
        (WarmkitError("Where?", "storage-not-shared"), "paper", "Where? Name one with --out."),
    ],
)
def test_a_hint_follows_the_message(error, command, text):
    assert with_hint(error, command) == text
