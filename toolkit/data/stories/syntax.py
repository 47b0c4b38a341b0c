"""The small language of the story files: which sentences of it are allowed, and how they are read.

Statements (`count = whole(3, 40)`, `need(a > b)`), expressions and the slots of a text are parsed by
Python's `ast` and are never run as Python: `check` admits a few kinds of nodes and known names only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_SLOT = re.compile(r"\{([^{}]*)\}")
_AGREEMENT = re.compile(r"(\w+):(.*)")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_GLUE = (ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.Tuple, ast.List, ast.keyword)
_ALLOWED = (*_OPERATORS, *_COMPARISONS, *_GLUE, ast.Mod, ast.And, ast.Or, ast.Not, ast.Load)


class Unreadable(ValueError):
    """A sentence of a story file that is not allowed; the message says why."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """`{who:his|her}`: the form that agrees with the gender of a word."""

    name: str
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assignment:
    """`names = value`; a statement without names is there for its effect: `need(a > b)`."""

    names: tuple[str, ...]
    value: ast.expr


Text = tuple[str | ast.expr | Agreement, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names a sentence may use."""

    variables: Collection[str]
    functions: Collection[str]
    attributes: Collection[str]  # forms of words: {who.he}
    genders: int = 0  # how many forms an agreement has


def read_expression(source: str) -> ast.expr:
    """An expression, not yet checked."""
    try:
        return ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise Unreadable(f"can't read {source.strip()!r}") from None


def read_statements(source: str) -> Iterator[Assignment]:
    """One statement a line, not yet checked."""
    for line in filter(None, map(str.strip, source.splitlines())):
        if line.startswith("#"):
            continue
        names, equals, value = line.partition(" = ")
        if not equals:
            yield Assignment((), read_expression(line))
            continue
        found = tuple(name.strip() for name in names.split(","))
        if not all(name.isidentifier() for name in found):
            raise Unreadable(f"can't read {line!r}")
        yield Assignment(found, read_expression(value))


def read_text(source: str) -> Text:
    """Literal parts and slots, not yet checked."""
    parts: list[str | ast.expr | Agreement] = []
    for position, part in enumerate(_SLOT.split(source)):
        if position % 2 == 0:
            if "{" in part or "}" in part:
                raise Unreadable(f"the braces do not match in {source!r}")
            parts.append(part)
        elif agreement := _AGREEMENT.fullmatch(part):
            parts.append(Agreement(agreement[1], tuple(agreement[2].split("|"))))
        else:
            parts.append(read_expression(part))
    return tuple(part for part in parts if part != "")


def names_in(node: ast.AST) -> set[str]:
    """The variables and word lists that an expression uses; functions are no names."""
    called = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and id(child) not in called}


def slots_in(text: Text) -> set[str]:
    """The variables that a text mentions."""
    found: set[str] = set()
    for part in text:
        if isinstance(part, Agreement):
            found.add(part.name)
        elif isinstance(part, ast.expr):
            found |= names_in(part)
    return found


def check(node: ast.expr, vocabulary: Vocabulary) -> None:
    """Refuse what the little language does not have, and names that nothing has drawn."""
    for child in ast.walk(node):
        match child:
            case ast.Call(func=ast.Name(id=name)):
                if name not in vocabulary.functions:
                    raise Unreadable(f"there is no function {name}() in {ast.unparse(node)!r}")
            case ast.Attribute(attr=name):
                if name not in vocabulary.attributes:
                    raise Unreadable(f"no word has a form .{name} in {ast.unparse(node)!r}")
            case ast.Constant(value=str(source)):
                check_text(read_text(source), vocabulary)
            case ast.Constant(value=bool() | int() | float()) | ast.Name():
                pass
            case _ if not isinstance(child, _ALLOWED):
                raise Unreadable(f"can't use {ast.unparse(node)!r}")
    for name in sorted(names_in(node)):
        if name not in vocabulary.variables:
            raise Unreadable(f"{name} is not drawn, but used in {ast.unparse(node)!r}")


def check_text(text: Text, vocabulary: Vocabulary) -> None:
    """The same for the slots of a text."""
    for part in text:
        if isinstance(part, ast.expr):
            check(part, vocabulary)
        elif isinstance(part, Agreement):
            if part.name not in vocabulary.variables:
                raise Unreadable(f"{part.name} is not drawn, but used in {{{part.name}:…}}")
            if len(part.forms) != vocabulary.genders:
                raise Unreadable(
                    f"{{{part.name}:{'|'.join(part.forms)}}} needs {vocabulary.genders} forms, one a gender"
                )


def check_equation(node: ast.expr, variables: Collection[str]) -> None:
    """An equation has + - * /, drawn numbers, 1 and π; `a if condition else b` chooses a number."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
            check_equation(left, variables)
            check_equation(right, variables)
        case ast.IfExp(body=body, orelse=orelse):
            check_equation(body, variables)
            check_equation(orelse, variables)
        case ast.Constant(value=1):
            pass
        case ast.Name(id=name):
            if name != "π" and name not in variables:
                raise Unreadable(f"the equation uses {name}, which is not drawn")
        case _:
            raise Unreadable(f"an equation can't have {ast.unparse(node)!r}")


def equation_numbers(node: ast.expr) -> set[str]:
    """The numbers that an equation uses and a text must therefore mention."""
    match node:
        case ast.BinOp(left=left, right=right):
            return equation_numbers(left) | equation_numbers(right)
        case ast.IfExp(body=body, orelse=orelse):
            return equation_numbers(body) | equation_numbers(orelse)
        case ast.Name(id=name) if name != "π":
            return {name}
    return set()


def equation_steps(node: ast.expr) -> int:
    """How many operators an equation has."""
    match node:
        case ast.BinOp(left=left, right=right):
            return 1 + equation_steps(left) + equation_steps(right)
        case ast.IfExp(body=body):
            return equation_steps(body)
    return 0
