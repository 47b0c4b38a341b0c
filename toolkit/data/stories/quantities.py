"""Quantities that know both how they are written and what they are worth.

The equation of a story, `note - 3 * price`, becomes a tree over the numbers of its text. How it is written,
its value and its template all come from that tree: they cannot drift apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

_SUM, _PRODUCT, _ATOM = 1, 2, 3
_RANK = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT}


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the text. In a draft it is its `mark`, one private character, replaced at the end.

    The mark tells where in the text the number stands, whatever it is said as.
    """

    value: Fraction | float
    literal: str  # in the equation: "1250", "25%", "3/4"
    spoken: str = ""  # in the text: "1,250", "25%", "three quarters"
    mark: str = ""  # empty for the constants, which no text mentions

    def __str__(self) -> str:
        return self.mark


@dataclass(frozen=True, slots=True)
class Operation:
    """`left op right`, with op one of + - * /."""

    op: str
    left: Number | Operation
    right: Number | Operation


Quantity = Number | Operation
ONE = Number(Fraction(1), "1")
PI = Number(math.pi, "π")


def value(quantity: Quantity) -> Fraction | float:
    """The exact value; a float once π takes part."""
    if isinstance(quantity, Number):
        return quantity.value
    left, right = value(quantity.left), value(quantity.right)
    match quantity.op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return left / right


def steps(quantity: Quantity) -> int:
    """How many operators it has."""
    return 1 + steps(quantity.left) + steps(quantity.right) if isinstance(quantity, Operation) else 0


def written(quantity: Quantity, name: Callable[[Number], str] = lambda number: number.literal) -> str:
    """The equation with the brackets it needs and no others; `name` says how a number is written."""
    return _written(quantity, name)[0]


def _written(quantity: Quantity, name: Callable[[Number], str]) -> tuple[str, int]:
    if isinstance(quantity, Number):
        text = name(quantity)
        return text, _PRODUCT if "/" in text else _ATOM
    rank = _RANK[quantity.op]
    left, left_rank = _written(quantity.left, name)
    right, right_rank = _written(quantity.right, name)
    if left_rank < rank:
        left = f"({left})"
    # `8 * 3/4` would be read as `(8 * 3) / 4`: a fraction on the right stays together.
    fraction = rank == _PRODUCT and isinstance(quantity.right, Number)
    if right_rank < rank or (right_rank == rank and (quantity.op in "-/" or fraction)):
        right = f"({right})"
    return f"{left} {quantity.op} {right}", rank


def template(quantity: Quantity, order: str) -> str:
    """The equation over N0, N1, … in the `order` of the marks in a text; a + b and b + a give the same."""
    if isinstance(quantity, Number):
        return f"N{order.index(quantity.mark)}" if quantity.mark else quantity.literal
    sides = [template(quantity.left, order), template(quantity.right, order)]
    if quantity.op in "+*":
        sides.sort()
    return f"({sides[0]} {quantity.op} {sides[1]})"
