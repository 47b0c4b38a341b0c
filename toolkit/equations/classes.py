"""Equivalence classes of templates: one integer per class.

Two templates are equivalent if they are the same function of N0, N1, …. A template is evaluated at one
fixed random point modulo the prime P = 2⁶¹ - 1; equal functions agree there, and unequal ones of degree d
collide with a chance of d / P (Schwartz 1980, Zippel 1979): for the degrees met here, one in 10¹⁷.

Powers: an exponent that is a whole number is computed exactly, so N0^2 is N0 * N0. Any other power is
opaque: equal bases and exponents make equal powers, and no law of exponents is known.
"""

from collections.abc import Iterable
from fractions import Fraction
from hashlib import blake2b

from toolkit.equations.evaluate import evaluate
from toolkit.equations.tree import Const, EquationError, Expr, Pi, Ref, has_pi, references

P = 2**61 - 1

UNDEFINED = -1
"""The class of templates that always divide by zero, such as 1 / (N0 - N0)."""

Ratio = tuple[int, int]  # numerator and denominator modulo P; all divisions are done together at the end


def _point(name: str) -> int:
    """The point at which N0, N1, … and π are evaluated. It must never change: classes are stored in files."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big") % P


_REFERENCES = [(_point(f"N{j}"), 1) for j in range(64)]
_PI = (_point("π"), 1)


def klass(tree: Expr) -> int:
    """The class of one template; use `klasses` for many."""
    return klasses([tree])[0]


def klasses(trees: Iterable[Expr]) -> list[int]:
    """The classes of many templates, with one modular inversion for all of them (Montgomery's trick)."""
    ratios = [_ratio(tree) for tree in trees]
    product, before = 1, []
    for _, denominator in ratios:
        before.append(product)
        product = product * (denominator or 1) % P
    inverse = pow(product, -1, P)
    found = [UNDEFINED] * len(ratios)
    for i in range(len(ratios) - 1, -1, -1):
        numerator, denominator = ratios[i]
        if denominator:
            found[i] = numerator * inverse % P * before[i] % P
            inverse = inverse * denominator % P
    return found


def _ratio(tree: Expr) -> Ratio:
    if isinstance(tree, Ref):
        return _REFERENCES[tree.index] if tree.index < len(_REFERENCES) else (_point(f"N{tree.index}"), 1)
    if isinstance(tree, Const):
        return tree.value.numerator % P, tree.value.denominator % P
    if isinstance(tree, Pi):
        return _PI
    a, b = _ratio(tree.left)
    if tree.op == "^":
        return _power((a, b), tree.right)
    c, d = _ratio(tree.right)
    if tree.op == "*":
        return a * c % P, b * d % P
    if tree.op == "/":
        # d = 0 marks an undefined divisor, which must not turn into a zero numerator.
        return (a * d % P, b * c % P) if d else (1, 0)
    if b == d:
        return (a + c if tree.op == "+" else a - c) % P, b
    return (a * d + c * b if tree.op == "+" else a * d - c * b) % P, b * d % P


def _power(base: Ratio, exponent: Expr) -> Ratio:
    if not references(exponent) and not has_pi(exponent):
        try:
            value = evaluate(exponent)
        except EquationError:
            return 1, 0
        if isinstance(value, Fraction) and value.denominator == 1:
            a, b = base if value >= 0 else base[::-1]
            return (pow(a, abs(int(value)), P), pow(b, abs(int(value)), P)) if base[1] else (1, 0)
    a, b = _quotient(base), _quotient(_ratio(exponent))
    if UNDEFINED in (a, b):
        return 1, 0
    return _point(f"{a}^{b}"), 1


def _quotient(ratio: Ratio) -> int:
    return ratio[0] * pow(ratio[1], -1, P) % P if ratio[1] else UNDEFINED
