"""Trees for people: a line of text, LaTeX, a drawing."""

from collections.abc import Sequence
from fractions import Fraction

from toolkit.equations.evaluate import Number, as_float
from toolkit.equations.tree import Const, Expr, Op, Operator, Pi, Ref, decimal_places

MOST_DIGITS = 24  # of a value that is shown exactly

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}


def show(tree: Expr) -> str:
    """One line with the fewest brackets from which `parse` makes the same tree again."""
    if isinstance(tree, Ref):
        return f"N{tree.index}"
    if isinstance(tree, Pi):
        return "π"
    if isinstance(tree, Const):
        return show_number(tree.value)
    left = _bracketed(show(tree.left), needs_brackets(tree.op, tree.left, "left"))
    right = _bracketed(show(tree.right), needs_brackets(tree.op, tree.right, "right"))
    return f"{left} {tree.op} {right}"


def _bracketed(written: str, wanted: bool) -> str:
    return f"({written})" if wanted else written


def needs_brackets(parent: Operator, child: Expr, side: str) -> bool:
    """At equal rank + - * / are read from the left and ^ from the right: the other side needs brackets."""
    if not isinstance(child, Op):
        return isinstance(child, Const) and child.value < 0
    inner, outer = _PRECEDENCE[child.op], _PRECEDENCE[parent]
    return inner < outer or (inner == outer and side == ("left" if parent == "^" else "right"))


def show_number(value: Fraction) -> str:
    """The exact number in its shortest form: 12, 0.25, 1(5/6)."""
    sign, value = ("-", -value) if value < 0 else ("", value)
    whole, rest = divmod(value, 1)
    if not rest:
        return f"{sign}{whole}"
    places = decimal_places(rest)
    if places is not None:
        return f"{sign}{whole}.{int(rest * 10**places):0{places}d}"
    return f"{sign}{whole}({rest})"


def show_value(value: Number) -> str:
    """A value for people: the exact number if that is short, else twelve digits of it."""
    if isinstance(value, Fraction) and len(written := show_number(value)) <= MOST_DIGITS:
        return written
    return f"{as_float(value):.12g}"


def show_unlike(value: Number, other: Number) -> str:
    """A value as a decimal that is not the other: with twelve digits, or as many as tell them apart."""
    is_decimal = isinstance(value, Fraction) and decimal_places(value) is not None
    shown = [show_value(value)] if is_decimal else [f"{as_float(value):.{digits}g}" for digits in (12, 17)]
    unlike = [written for written in shown if Fraction(written) != other]
    return unlike[0] if unlike else f"almost {show_value(other)}"


def latex(tree: Expr) -> str:
    """LaTeX for a formula, without the dollar signs."""
    if isinstance(tree, Ref):
        return f"N_{{{tree.index}}}"
    if isinstance(tree, Pi):
        return r"\pi"
    if isinstance(tree, Const):
        return _latex_number(tree.value)
    if tree.op == "/":
        return rf"\frac{{{latex(tree.left)}}}{{{latex(tree.right)}}}"
    left = _latex_side(tree.op, tree.left, "left")
    if tree.op == "^":
        return f"{left}^{{{latex(tree.right)}}}"
    sign = r" \times " if tree.op == "*" else f" {tree.op} "
    return f"{left}{sign}{_latex_side(tree.op, tree.right, 'right')}"


def _latex_number(value: Fraction) -> str:
    written = show_number(value)
    if "(" not in written:
        return written
    sign, size = ("-", -value) if value < 0 else ("", value)
    return rf"{sign}\frac{{{size.numerator}}}{{{size.denominator}}}"


def _latex_side(parent: Operator, child: Expr, side: str) -> str:
    inner = latex(child)
    if inner.startswith(r"\frac") and not (isinstance(child, Op) and child.op != "/"):
        wanted = parent == "^"  # a fraction bar groups by itself, except under an exponent
    else:
        wanted = needs_brackets(parent, child, side)
    return rf"\left({inner}\right)" if wanted else inner


def draw(tree: Expr, values: Sequence[str] = ()) -> str:
    """The tree on several lines, with `values[j]`, if given, beside N_j.

    -
    ├── N0  76
    └── N1  25
    """
    return "\n".join(_lines(tree, values))


def _lines(tree: Expr, values: Sequence[str]) -> list[str]:
    if isinstance(tree, Ref) and tree.index < len(values):
        return [f"{show(tree)}  {values[tree.index]}"]
    if not isinstance(tree, Op):
        return [show(tree)]
    left, right = _lines(tree.left, values), _lines(tree.right, values)
    return [
        tree.op,
        *(("├── " if i == 0 else "│   ") + line for i, line in enumerate(left)),
        *(("└── " if i == 0 else "    ") + line for i, line in enumerate(right)),
    ]
