"""The bridge to SymPy: trees become SymPy expressions node by node, never through text.

SymPy simplifies for people, and is the tests' oracle for `classes`. It costs half a second to import,
so nothing on the way of a common command comes here.
"""

import sympy

from toolkit.equations.tree import Const, Expr, Pi, Ref


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


def simplified(tree: Expr) -> str:
    """The shortest form that SymPy finds, as text for people."""
    return str(sympy.simplify(to_sympy(tree))).replace("pi", "π").replace("**", "^")
