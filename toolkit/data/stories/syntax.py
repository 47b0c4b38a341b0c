"""The small language of the story files: statements, expressions and texts with slots.

They are parsed by Python's `ast` and never run as Python. `check` admits a few kinds of nodes and only names
that are known; `interpreter` computes with what is left.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass, replace

_SLOT = re.compile(r"\{([^{}]*)\}")
_AGREEMENT = re.compile(r"(\w+):(.*)")
_COMMENT = re.compile(r"(?:^|\s\s)#")
_CALL = re.compile(r"[a-z_]+(\(.*\))?")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_NODES = (
    *(ast.Name, ast.Load, ast.Call, ast.keyword, ast.Attribute, ast.Constant, ast.Tuple, ast.IfExp),
    *(ast.BinOp, *_OPERATORS, ast.Mod, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)


class Unreadable(ValueError):
    """A sentence of a story file that is not allowed; the message says why."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """`{who:his|her}`: the form that agrees with the gender of a word."""

    name: str
    forms: tuple[str, ...]


Statement = tuple[tuple[str, ...], ast.expr]
"""`a, b = value`. Without names it is there for its effect: `need(a > b)`."""
Text = tuple[str | ast.expr | Agreement, ...]
Paragraph = tuple[Text, ...] | ast.expr
"""Sentences of which one is said, or an expression that gives asides: `about(who)`."""


@dataclass(frozen=True, slots=True)
class Names:
    """What a sentence may use."""

    variables: frozenset[str]
    lists: Collection[str]  # of words
    functions: Collection[str]
    forms: Collection[str]  # of words: {who.he}
    genders: int

    def drawing(self, names: Collection[str]) -> Names:
        """The same with more variables."""
        return replace(self, variables=self.variables.union(names))


def read_expression(source: str) -> ast.expr:
    try:
        return ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise Unreadable(f"can't read {source.strip()!r}") from None


def read_statements(source: str | list[str]) -> tuple[Statement, ...]:
    """One statement a line."""
    return tuple(map(_statement, _lines(source if isinstance(source, str) else "\n".join(source))))


def _statement(line: str) -> Statement:
    left, equals, value = line.partition(" = ")
    names = tuple(name.strip() for name in left.split(",")) if equals else ()
    if not all(name.isidentifier() for name in names):
        raise Unreadable(f"can't read {line!r}")
    return names, read_expression(value if equals else line)


def read_text(source: str) -> Text:
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
    return tuple(parts)


def read_texts(source: str) -> tuple[Text, ...]:
    """One text a line."""
    return tuple(map(read_text, _lines(source)))


def read_paragraphs(source: str) -> tuple[Paragraph, ...]:
    """Between blank lines either texts or one expression."""
    blocks = [block.strip() for block in re.split(r"\n\s*\n", source) if block.strip()]
    return tuple(read_expression(block) if _CALL.fullmatch(block) else read_texts(block) for block in blocks)


def _lines(source: str) -> list[str]:
    """The lines that say something, without comments."""
    return [line for line in (_COMMENT.split(line)[0].strip() for line in source.splitlines()) if line]


def names_in(part: Text | ast.AST) -> set[str]:
    """The variables and word lists that are used; functions are no names."""
    if isinstance(part, tuple):
        found = (names_in(slot) for slot in part if isinstance(slot, ast.expr))
        return {slot.name for slot in part if isinstance(slot, Agreement)}.union(*found)
    called = {id(node.func) for node in ast.walk(part) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(part) if isinstance(node, ast.Name) and id(node) not in called}


def check(part: Text | ast.expr, known: Names) -> None:
    """Refuse what the language does not have, and names that nothing has drawn."""
    if unknown := sorted(names_in(part) - known.variables):
        raise Unreadable(f"{unknown[0]} is used, but not drawn")
    for slot in part if isinstance(part, tuple) else (part,):
        if isinstance(slot, Agreement) and len(slot.forms) != known.genders:
            raise Unreadable(
                f"{{{slot.name}:{'|'.join(slot.forms)}}} needs {known.genders} forms, one a gender"
            )
        if isinstance(slot, ast.expr):
            _check_expression(slot, known)


def _check_expression(expression: ast.expr, known: Names) -> None:
    for node in ast.walk(expression):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name not in known.functions:
                raise Unreadable(f"there is no function {name}()")
            case ast.Attribute(attr=name) if name not in known.forms:
                raise Unreadable(f"no word has a form .{name}")
            case ast.Constant(value=str(source)):
                check(read_text(source), known)
            case ast.Call(func=function) if not isinstance(function, ast.Name):
                raise Unreadable(f"can't use {ast.unparse(expression)!r}")
            case _ if not isinstance(node, _NODES):
                raise Unreadable(f"can't use {ast.unparse(expression)!r}")


def check_equation(node: ast.expr, variables: Collection[str]) -> set[str]:
    """The numbers of an equation. It has + - * /, drawn numbers, 1, π, and `a if condition else b`."""
    match node:
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
            return check_equation(left, variables) | check_equation(right, variables)
        case ast.IfExp(body=left, orelse=right):
            return check_equation(left, variables) | check_equation(right, variables)
        case ast.Constant(value=1) | ast.Name(id="π"):
            return set()
        case ast.Name(id=name) if name in variables:
            return {name}
        case ast.Name(id=name):
            raise Unreadable(f"the equation uses {name}, which is not drawn")
    raise Unreadable(f"an equation can't have {ast.unparse(node)!r}")


def count_steps(equation: ast.expr) -> int:
    """How many operators an equation has."""
    return sum(isinstance(node, ast.BinOp) for node in ast.walk(equation))
