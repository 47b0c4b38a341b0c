"""From an equation over values to templates over the numbers of its problem.

"76 - 25" has the literals 76 and 25; the model uses N0 and N1. `bind` finds which number of the text each
literal is. If a value occurs in the text more than once, every binding is kept, the likeliest first: each
occurrence is used once before any is used again, in reading order, numbers of the text before constants.

People may write a quantity differently from the text, so a literal that is not in the text is also read as
- a fraction: (1/6) if the text has the number 1/6, 50/100 or 5*0.01 if it has 50% or 5%;
- hundredths: 25 * 80 / 100 or 80 * (100 - 25) / 100 if it has 25%;
- π: 3.14 (or 3.1416, …), if π is a constant;
- a square or cube: 5^2 is bound as N0 * N0;
- a sign: 5 + (-3), -3 + 5 and 5 - 3 are the same if the text has 3.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, product
from typing import NamedTuple

from toolkit.equations.classes import klass, klasses
from toolkit.equations.evaluate import apply
from toolkit.equations.show import show_value
from toolkit.equations.tree import (
    DEFAULT_CONSTANTS,
    ONE,
    PI,
    Const,
    Constant,
    EquationError,
    Expr,
    Op,
    Operator,
    Pi,
    Ref,
    count_operators,
    postorder,
    references,
)

MAX_BINDINGS = 64
MAX_LEAVES = 100_000  # of all bindings that are looked at
MAX_OPERATORS_IN_POWER = 20  # in the base of a square or cube, which is written out as a product

_CONSTANT = 10**6  # the rank of a constant, after all numbers of the text
_HUNDRED = Const(Fraction(100))
_HUNDREDTH = Const(Fraction(1, 100))
_ZERO = Const(Fraction(0))


class NotInProblem(EquationError):
    """The equation uses a number that is neither in the problem nor a constant."""

    def __init__(self, value: Fraction) -> None:
        super().__init__(f"{show_value(value)} is not a number of the problem")


def bind(
    tree: Expr, numbers: Sequence[Fraction], constants: Sequence[Constant] = DEFAULT_CONSTANTS
) -> list[Expr]:
    """Templates, one for each class that the equation may mean, the likeliest first. Never empty.

    Raises `NotInProblem` for a literal that is neither in the text nor a constant.
    """
    for index in references(tree):
        if index >= len(numbers):
            raise EquationError(f"the problem has no number N{index}")
    binder = _Binder(numbers, constants)
    tree = binder.without_signs(_without_powers(tree))
    skeleton = binder.resolve(binder.with_percents(binder.folded(tree)))
    slots = [node.value for node in postorder(skeleton) if isinstance(node, Const)]
    choices = [binder.meanings[value] for value in slots]
    if all(len(meanings) == 1 for meanings in choices):
        return [_fill(skeleton, iter([meanings[0] for meanings in choices]))]
    most = max(1, MAX_LEAVES // len(slots))  # of long equations, fewer bindings are looked at
    filled = sorted(islice(product(*choices), min(most, MAX_BINDINGS**2)), key=_unlikeliness)
    templates = [_fill(skeleton, iter(leaves)) for leaves in filled[: min(most, 4 * MAX_BINDINGS)]]
    by_class: dict[int, Expr] = {}
    for template, class_ in zip(templates, klasses(templates), strict=True):
        by_class.setdefault(class_, template)
    return list(by_class.values())[:MAX_BINDINGS]


def _unlikeliness(leaves: tuple[Expr, ...]) -> tuple[int, int, list[int]]:
    """A sort key: fewest numbers used twice, then fewest constants, then reading order."""
    order = [leaf.index if isinstance(leaf, Ref) else _CONSTANT for leaf in leaves]
    used = set(order) - {_CONSTANT}
    constants = order.count(_CONSTANT)
    return len(order) - constants - len(used), constants, order


def _fill(skeleton: Expr, leaves: Iterator[Expr]) -> Expr:
    """The skeleton with each literal, in order, replaced by what it means."""
    if isinstance(skeleton, Op):
        left = _fill(skeleton.left, leaves)
        return Op(skeleton.op, left, _fill(skeleton.right, leaves))
    return next(leaves) if isinstance(skeleton, Const) else skeleton


class _Folded(NamedTuple):
    tree: Expr
    value: Fraction | None  # None if it has other leaves than literals, or no value
    unknown: bool  # whether a literal has no meaning by itself


def _applied(op: Operator, left: Fraction | None, right: Fraction | None) -> Fraction | None:
    if left is None or right is None:
        return None
    try:
        value = apply(op, left, right)
    except EquationError:
        return None
    return value if isinstance(value, Fraction) else None


class _Binder:
    def __init__(self, numbers: Sequence[Fraction], constants: Sequence[Constant]) -> None:
        self.meanings: dict[Fraction, list[Expr]] = {}
        for j, value in enumerate(numbers):
            self.meanings.setdefault(value, []).append(Ref(j))
        self.in_text = frozenset(self.meanings)
        for constant in constants:
            if isinstance(constant, Const):
                self.meanings.setdefault(constant.value, []).append(constant)
        self.pi_is_constant = PI in constants

    def folded(self, tree: Expr) -> Expr:
        """The tree with subtrees of literals that write one number of the text replaced by that number.

        (1/6) is the number 1/6. But 6/3 is a division even if the text has a 2: a subtree with a whole value
        is folded only if it can't be bound otherwise.
        """
        return self._folded(tree).tree

    def _folded(self, tree: Expr) -> _Folded:
        if not isinstance(tree, Op):
            value = tree.value if isinstance(tree, Const) else None
            return _Folded(tree, value, isinstance(tree, Const) and self._unknown(tree))
        left, right = self._folded(tree.left), self._folded(tree.right)
        value, unknown = _applied(tree.op, left.value, right.value), left.unknown or right.unknown
        fraction = tree.op == "/" and value is not None and value.denominator != 1
        if value is not None and value in self.in_text and (fraction or unknown):
            return _Folded(Const(value), value, unknown)
        return _Folded(Op(tree.op, left.tree, right.tree), value, unknown)

    def _unknown(self, literal: Const) -> bool:
        return literal.value not in self.meanings

    def with_percents(self, tree: Expr) -> Expr:
        """450 * (100 - 20) / 100 as 450 * (1 - 20%), if the text has 20% but neither 20 nor 100.

        Such an equation counts in hundredths. It may be counted in wholes if its class stays the same when
        its hundreds become ones and its 20 becomes 20%.
        """
        if not self._unknown(_HUNDRED):
            return tree
        scaled = self._in_wholes(tree)
        return scaled if scaled != tree and klass(scaled) == klass(tree) else tree

    def _in_wholes(self, tree: Expr) -> Expr:
        if isinstance(tree, Op):
            if (tree.op, tree.right) in (("/", _HUNDRED), ("*", _HUNDRED), ("*", _HUNDREDTH)):
                return self._in_wholes(tree.left)
            return Op(tree.op, self._in_wholes(tree.left), self._in_wholes(tree.right))
        if tree == _HUNDRED:
            return ONE
        if isinstance(tree, Const) and self._unknown(tree) and tree.value / 100 in self.in_text:
            return Const(tree.value / 100)
        return tree

    def resolve(self, tree: Expr) -> Expr:
        """The tree, if every literal has a meaning. 3.14 becomes π if the text has no 3.14."""
        if isinstance(tree, Op):
            return Op(tree.op, self.resolve(tree.left), self.resolve(tree.right))
        if isinstance(tree, Const) and self._unknown(tree):
            if self.pi_is_constant and _looks_like_pi(tree.value):
                return PI
            raise NotInProblem(tree.value)
        if isinstance(tree, Pi) and not self.pi_is_constant:
            raise EquationError("π is not a constant here")
        return tree

    def without_signs(self, tree: Expr) -> Expr:
        """The same equation without unary minus, unless the text has that negative number."""
        unneeded = (
            node == _ZERO or (isinstance(node, Const) and node.value < 0)
            for node in postorder(tree)
            if not (isinstance(node, Const) and node.value in self.in_text)
        )
        if not any(unneeded):
            return tree
        negative, positive = self._sign(tree)
        if not negative:
            return positive
        if isinstance(positive, Op) and positive.op == "-":
            return Op("-", positive.right, positive.left)
        return tree  # a negative result of positive numbers: `resolve` reports that 0 is missing

    def _sign(self, tree: Expr) -> tuple[bool, Expr]:
        """Whether the tree has a leading minus sign, and the tree without it."""
        if isinstance(tree, Const) and tree.value < 0 and tree.value not in self.in_text:
            return True, Const(-tree.value)
        if not isinstance(tree, Op) or tree.op == "^":
            return False, tree
        minus_left, left = self._sign(tree.left)
        minus_right, right = self._sign(tree.right)
        if tree.op in "*/":
            return minus_left != minus_right, Op(tree.op, left, right)
        minus_right ^= tree.op == "-"
        if left == _ZERO and 0 not in self.in_text:
            return minus_right, right
        if minus_left == minus_right:
            return minus_left, Op("+", left, right)
        return (False, Op("-", left, right)) if minus_right else (False, Op("-", right, left))


def _without_powers(tree: Expr) -> Expr:
    """Squares and cubes as products: their exponent is not a number of the text, even if it has a 2."""
    if not isinstance(tree, Op):
        return tree
    left = _without_powers(tree.left)
    if tree.op == "^" and isinstance(tree.right, Const) and tree.right.value in (2, 3):
        if count_operators(left) > MAX_OPERATORS_IN_POWER:
            raise EquationError("its powers are too large")
        square = Op("*", left, left)
        return square if tree.right.value == 2 else Op("*", square, left)
    return Op(tree.op, left, _without_powers(tree.right))


def _looks_like_pi(value: Fraction) -> bool:
    return value.denominator > 10 and abs(value - Fraction(math.pi)) < Fraction(2, 1000)


def over_values(template: Expr, numbers: Sequence[Fraction]) -> Expr:
    """The inverse of `bind`: the template over the numbers of the problem, N0 - N1 as 76 - 25."""
    if isinstance(template, Op):
        return Op(template.op, over_values(template.left, numbers), over_values(template.right, numbers))
    return Const(numbers[template.index]) if isinstance(template, Ref) else template
