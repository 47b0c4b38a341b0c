"""The bridge to SymPy: trees become SymPy expressions node by node, never through text.

SymPy simplifies for people, and is the tests' oracle for `classes`. It takes half a second to import,
so common commands don't import this file.
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
    """The shortest form that SymPy finds, as text for people; None if that might take long."""
    if count_operators(tree) > MAX_OPERATORS or not _tame(tree):
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
