"""Exact values of expressions, and what it means to reach an answer.

Values are fractions. Floats are only the roots that are no fractions, and numbers whose digits show that they
came out of float arithmetic (0.3333333333333333), with all that is made of them. Nothing here can run for
long: the size of every value is bounded, that of a power before it is computed.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from toolkit.equations.tree import (
    Const,
    EquationError,
    Expr,
    Operator,
    Pi,
    Ref,
    TooLarge,
    decimal_places,
    has_pi,
)

Number = Fraction | float

PI_READINGS = (
    Fraction(2646693125139304345, 842468587426513207),  # π to 37 decimals, though no finite decimal
    Fraction("3.14"),
    Fraction(22, 7),
)
"""The values of π in school books. An equation with π reaches an answer if one of them gives it."""

MAX_EXPONENT = 100
MAX_BITS = 4_096  # of a numerator or denominator
MAX_VALUE = Fraction(2**1023)  # no value is larger, so that each is also a float

FLOAT_DIGITS = (16, 17)  # of a float that was computed, such as 0.1 + 0.2 = 0.30000000000000004
FLOAT_ERROR = 4  # of such a float, in units of its last bit


def evaluate(tree: Expr, values: Sequence[Number] = (), pi: Number = PI_READINGS[0]) -> Number:
    """The value of a tree whose N_j is values[j]. Division by zero and the like are `EquationError`s."""
    if isinstance(tree, Const):
        return _known(tree.value)
    if isinstance(tree, Ref):
        if tree.index >= len(values):
            raise EquationError(f"the problem has no number N{tree.index}")
        return _known(values[tree.index])
    if isinstance(tree, Pi):
        return pi
    return apply(tree.op, evaluate(tree.left, values, pi), evaluate(tree.right, values, pi))


def apply(op: Operator, left: Number, right: Number) -> Number:
    """`left op right`, bounded as every value is."""
    try:
        if op == "+":
            return _bounded(left + right)
        if op == "-":
            return _bounded(left - right)
        if op == "*":
            return _bounded(left * right)
        if op == "/":
            return _bounded(left / right)
        return _bounded(_power(left, right))
    except ZeroDivisionError:
        raise EquationError("it divides by zero") from None
    except OverflowError:
        raise TooLarge("its value is too large") from None


def _known(number: Number) -> Number:
    """A number of a problem or an equation, as a float if it is one that was computed."""
    if isinstance(number, float):
        return number
    if is_too_large(number):
        raise TooLarge("its value is too large")
    return float(number) if _was_computed(number) else number


def _was_computed(number: Fraction) -> bool:
    """Whether a number has the digits of a float that was computed. Whole numbers are exact."""
    if number.numerator.bit_length() + 3 * number.denominator.bit_length() < 50:
        return False  # it has fewer than 16 digits: this only saves time
    return number.denominator != 1 and _count_digits(number) in FLOAT_DIGITS


def _count_digits(number: Fraction) -> int:
    """How many digits a finite decimal has, without zeros at its ends; 0 for other numbers."""
    places = decimal_places(number)
    return 0 if places is None else len(str(abs(int(number * 10**places))).rstrip("0"))


def _bounded(value: Number) -> Number:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TooLarge("its value is too large")
        return value
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise EquationError("its value has too many digits")
    if is_too_large(value):
        raise TooLarge("its value is too large")
    return value


def is_too_large(value: Fraction) -> bool:
    """Whether a number is larger than any value may be."""
    return value.numerator.bit_length() > 1023 and abs(value) > MAX_VALUE  # the first test only saves time


def _power(base: Number, exponent: Number) -> Number:
    if not -MAX_EXPONENT <= exponent <= MAX_EXPONENT:
        raise EquationError(f"its exponent is larger than {MAX_EXPONENT}")
    if base == 0 and exponent < 0:
        raise EquationError("it divides by zero")
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        root = _root(base, exponent)
        if root is not None:
            return _whole_power(root, exponent.numerator)
    if base < 0:
        raise EquationError("it takes a root of a negative number")
    return math.pow(base, exponent)


def _whole_power(base: Fraction, exponent: int) -> Fraction:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if bits * abs(exponent) > MAX_BITS:
        raise TooLarge("its value is too large")
    return Fraction(base**exponent)


def _root(base: Fraction, exponent: Fraction) -> Fraction | None:
    """The root of the base that the exponent takes: 2/3 for 4/9 and 1/2; None if it is no fraction."""
    if exponent.denominator == 1:
        return base
    above, below = (_whole_root(part, exponent.denominator) for part in base.as_integer_ratio())
    return None if above is None or below is None else Fraction(above, below)


def _whole_root(number: int, degree: int) -> int | None:
    """The root of a whole number, bit by bit; None if it is not whole."""
    if number < 2:
        return None if number < 0 else number
    root = 0
    for bit in reversed(range(number.bit_length() // degree + 1)):
        if (root + (1 << bit)) ** degree <= number:
            root += 1 << bit
    return root if root**degree == number else None


def as_float(value: Number) -> float:
    """The nearest float, which is infinite for a value beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


class _Written(NamedTuple):
    """What the digits of an answer say."""

    exact: Fraction
    rounding: Fraction  # values that are no finite decimal are rounded to it if they are nearer than this
    error: float | None  # of the float arithmetic that it came out of; None if it did not


@lru_cache(maxsize=50_000, typed=True)  # a fraction keeps all digits of an answer, a float does not
def _written(answer: Number) -> _Written:
    """An answer as it was written, of which a float keeps the shortest decimal."""
    exact = answer if isinstance(answer, Fraction) else Fraction(repr(float(answer)))
    places = decimal_places(exact) or 0
    error = None
    if _was_computed(exact):
        error = FLOAT_ERROR * math.ulp(float(exact))
    elif isinstance(answer, float) and abs(answer) >= 2**53 and _count_digits(exact) in FLOAT_DIGITS:
        error = 0.0  # of more than 16 digits a float keeps no more
    return _Written(exact, Fraction(1, 2 * 10**places) if places >= 2 else Fraction(0), error)


def matches(value: Number, answer: Number) -> bool:
    """Whether a value is the answer.

    It is if both are equal. A value that is no finite decimal (a third, π, a root) also is if it rounds to
    an answer of two or more decimals: 10 / 3 to 3.33, but not to 3.3. An answer that float arithmetic
    made (0.30000000000000004) shows that by its digits, and is compared as a float.
    """
    if not math.isfinite(as_number := as_float(answer)):
        return value == answer
    written = _written(answer)
    if value == written.exact:
        return True
    if written.error is not None:
        return abs(as_float(value) - as_number) <= written.error
    if isinstance(value, float):
        return abs(value - as_number) <= max(FLOAT_ERROR * math.ulp(as_number), float(written.rounding))
    return abs(value - written.exact) < written.rounding and decimal_places(value) is None


def tolerance(answer: float) -> float:
    """How far a value that floats computed may be from an answer that it reaches.

    For arithmetic on arrays, which is faster than fractions: what is farther does not reach the answer, and
    what is nearer does if `reaches` says so.
    """
    return float(_written(answer).rounding) + 1e-9 * max(1.0, abs(answer))


def reaches(tree: Expr, values: Sequence[Number], answer: Number) -> bool:
    """Whether the tree gives the answer, with any reading of π if it has π."""
    readings = PI_READINGS if has_pi(tree) else PI_READINGS[:1]
    for pi in readings:
        try:
            if matches(evaluate(tree, values, pi), answer):
                return True
        except EquationError:
            continue
    return False
