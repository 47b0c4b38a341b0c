"""The bridge to SymPy: trees become SymPy expressions node by node, never through text.

SymPy simplifies for people, and is the tests' oracle for `classes`. It costs half a second to import,
so nothing on the way of a common command comes here.
"""

import sympy

from toolkit.equations.evaluate import MAX_EXPONENT
from toolkit.equations.tree import Const, Expr, Op, Pi, Ref, count_operators, postorder

MAX_OPERATORS = 30


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
    """The shortest form that SymPy finds, as text for people; None where it might take long to find."""
    if count_operators(tree) > MAX_OPERATORS or not _tame(tree):
        return None
    return str(sympy.simplify(to_sympy(tree))).replace("pi", "π").replace("**", "^").replace("zoo", "∞")


def _tame(tree: Expr) -> bool:
    """Whether every power is of a plain thing to a small literal: SymPy would compute 9^9^9 to the end."""
    powers = [node for node in postorder(tree) if isinstance(node, Op) and node.op == "^"]
    return all(
        isinstance(power.right, Const)
        and abs(power.right.value) <= MAX_EXPONENT
        and not any(isinstance(node, Op) and node.op == "^" for node in postorder(power.left))
        for power in powers
    )
