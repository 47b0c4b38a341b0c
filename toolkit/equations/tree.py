"""Expressions as frozen trees.

A leaf is a number of the problem (`Ref(0)` prints as N0), a constant, or π; an inner node is one of
the five binary operators. The same tree has two uses: an equation as a person wrote it has
constants for leaves ("76 - 25"), a template has references ("N0 - N1").
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

Operator = Literal["+", "-", "*", "/", "^"]
OPERATORS: tuple[Operator, ...] = ("+", "-", "*", "/", "^")

MAX_DEPTH = 120  # `parse` refuses deeper trees, so every function here may recurse


@dataclass(frozen=True, slots=True)
class Ref:
    """N_j: the j-th number in the problem's text."""

    index: int


@dataclass(frozen=True, slots=True)
class Const:
    """A number that stands for itself."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Pi:
    """π, the only constant that is not a fraction."""


@dataclass(frozen=True, slots=True)
class Op:
    op: Operator
    left: "Expr"
    right: "Expr"


Expr: TypeAlias = Ref | Const | Pi | Op
Constant: TypeAlias = Const | Pi

ONE = Const(Fraction(1))
PI = Pi()
DEFAULT_CONSTANTS: tuple[Constant, ...] = (ONE, PI)
"""V_const of the paper (section 5.2)."""


class EquationError(ValueError):
    """An equation that can't be used, in words for the person who wrote it.

    `position` is the index of the character at which parsing failed, None if it did not fail at a character.
    """

    def __init__(self, message: str, position: int | None = None) -> None:
        self.message = message
        self.position = position
        super().__init__(message if position is None else f"{message} (at character {position + 1})")


class TooLarge(EquationError):
    """A number or a value that is larger than any float."""


def decimal_places(value: Fraction) -> int | None:
    """How many digits follow the point of a finite decimal; None if the value is none, such as 1/3."""
    rest = value.denominator
    twos = (rest & -rest).bit_length() - 1
    rest >>= twos
    fives = 0
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    return max(twos, fives) if rest == 1 else None


def postorder(tree: Expr) -> Iterator[Expr]:
    """Every node, children before their parent, left before right."""
    if isinstance(tree, Op):
        yield from postorder(tree.left)
        yield from postorder(tree.right)
    yield tree


def count_operators(tree: Expr) -> int:
    return sum(isinstance(node, Op) for node in postorder(tree))


def references(tree: Expr) -> set[int]:
    """The j of every N_j in the tree."""
    return {node.index for node in postorder(tree) if isinstance(node, Ref)}


def has_pi(tree: Expr) -> bool:
    return any(isinstance(node, Pi) for node in postorder(tree))
