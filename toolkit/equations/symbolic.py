"""The bridge to SymPy: trees become SymPy expressions node by node, never through text.

SymPy simplifies for people, and is the tests' oracle for `classes`. It takes half a second to import,
so common commands don't import this file. Its time and memory grow with the terms of an equation, so that
they are counted before it is called.
"""

from math import ceil, comb

import sympy

from toolkit.equations.evaluate import MAX_EXPONENT
from toolkit.equations.tree import Const, Expr, Op, Pi, Ref, count_operators, postorder

MAX_OPERATORS = 30
MAX_BITS = 512  # of the numbers that it computes
MAX_TERMS = 100  # of an equation that is written out as one fraction, which SymPy does on its way


def to_sympy(tree: Expr) -> sympy.Expr:
    if isinstance(tree, Ref):
        return sympy.Symbol(f"N{tree.index}")
    if isinstance(tree, Const):
        return sympy.Rational(tree.value.numerator, tree.value.denominator)
    if isinstance(tree, Pi):
        return sympy.pi
    left, right = to_sympy(tree.left), to_sympy(tree.right)
    if tree.op == "+":
        return left + right
    if tree.op == "-":
        return left - right
    if tree.op == "*":
        return left * right
    if tree.op == "/":
        return left / right
    return left**right


def simplified(tree: Expr) -> str | None:
    """The shortest form that SymPy finds, as text for people; None if that might take long."""
    if count_operators(tree) > MAX_OPERATORS or not _tame(tree):
        return None
    if sum(_terms(tree)) > MAX_TERMS or _bits(tree) > MAX_BITS:
        return None
    return str(sympy.simplify(to_sympy(tree))).replace("pi", "π").replace("**", "^").replace("zoo", "∞")


def _tame(tree: Expr) -> bool:
    """Whether every exponent is a small literal and no base has a power. SymPy would compute 9^9^9."""
    powers = [node for node in postorder(tree) if isinstance(node, Op) and node.op == "^"]
    return all(
        isinstance(power.right, Const)
        and abs(power.right.value) <= MAX_EXPONENT
        and not any(isinstance(node, Op) and node.op == "^" for node in postorder(power.left))
        for power in powers
    )


def _terms(tree: Expr) -> tuple[int, int]:
    """At most how many terms the numerator and the denominator have if the tree is written as one fraction.

    (a + b) / c + d has three over one, (a + b + c)^2 six over one. Exponents are literals.
    """
    if not isinstance(tree, Op):
        return 1, 1
    above, below = _terms(tree.left)
    if tree.op == "^":
        assert isinstance(tree.right, Const)
        times = ceil(abs(tree.right.value))
        powers = comb(above + times - 1, times), comb(below + times - 1, times)
        return powers if tree.right.value >= 0 else powers[::-1]
    other_above, other_below = _terms(tree.right)
    if tree.op in "+-":
        return above * other_below + other_above * below, below * other_below
    if tree.op == "/":
        other_above, other_below = other_below, other_above
    return above * other_above, below * other_below


def _bits(tree: Expr) -> int:
    """At most how many bits the numbers have that SymPy computes. Exponents are literals."""
    if isinstance(tree, Const):
        return tree.value.numerator.bit_length() + tree.value.denominator.bit_length()
    if not isinstance(tree, Op):
        return 0
    if tree.op == "^":
        assert isinstance(tree.right, Const)
        return _bits(tree.left) * ceil(abs(tree.right.value))
    return _bits(tree.left) + _bits(tree.right)
