"""Exact values of expressions, and what it means to reach an answer.

Values are fractions; only π and roots make floats. Nothing here can run for long: powers are bounded before
they are computed.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from toolkit.equations.tree import Const, EquationError, Expr, Pi, Ref, has_pi

Number = Fraction | float

PI_READINGS = (math.pi, 3.14, 22 / 7)
"""The values of π in school books. An equation with π reaches an answer if one of them gives it."""

MAX_EXPONENT = 100
MAX_BITS = 4_096  # of a numerator or denominator; a larger power is refused, not computed


def evaluate(tree: Expr, values: Sequence[Number] = (), pi: float = math.pi) -> Number:
    """The value of a tree whose N_j is values[j]. Division by zero and the like are `EquationError`s."""
    if isinstance(tree, Const):
        return tree.value
    if isinstance(tree, Ref):
        if tree.index >= len(values):
            raise EquationError(f"the problem has no number N{tree.index}")
        return values[tree.index]
    if isinstance(tree, Pi):
        return pi
    left, right = evaluate(tree.left, values, pi), evaluate(tree.right, values, pi)
    try:
        if tree.op == "+":
            return left + right
        if tree.op == "-":
            return left - right
        if tree.op == "*":
            return left * right
        if tree.op == "/":
            return left / right
        return _power(left, right)
    except ZeroDivisionError:
        raise EquationError("it divides by zero") from None
    except OverflowError:
        raise EquationError("its value is too large") from None


def _power(base: Number, exponent: Number) -> Number:
    if not -MAX_EXPONENT <= exponent <= MAX_EXPONENT:
        raise EquationError(f"its exponent is larger than {MAX_EXPONENT}")
    if isinstance(base, Fraction) and exponent == int(exponent):
        whole = int(exponent)
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits * abs(whole) > MAX_BITS:
            raise EquationError("its value is too large")
        return Fraction(base**whole)
    if base < 0:
        raise EquationError("it takes a root of a negative number")
    if base == 0 and exponent < 0:
        raise EquationError("it divides by zero")
    return math.pow(base, exponent)


def tolerance(answer: float) -> float:
    """How far a value may be from an answer that it reaches.

    One part in 10⁹, which float arithmetic needs. For an answer with five or more decimals (a third written
    0.33333), one unit of the last decimal, because such answers are rounded.
    """
    exact = 1e-9 * max(1.0, abs(answer))
    decimals = len(repr(answer).partition(".")[2]) if "e" not in repr(answer) else 0
    return max(exact, 10.0**-decimals) if decimals >= 5 else exact


def matches(value: Number, answer: float) -> bool:
    """Whether a value is the answer, within `tolerance`."""
    try:
        return abs(float(value) - answer) <= tolerance(answer)
    except OverflowError:
        return False


def reaches(tree: Expr, values: Sequence[Number], answer: float) -> bool:
    """Whether the tree gives the answer, with any reading of π if it has π."""
    readings = PI_READINGS if has_pi(tree) else PI_READINGS[:1]
    for pi in readings:
        try:
            if matches(evaluate(tree, values, pi), answer):
                return True
        except EquationError:
            continue
    return False
