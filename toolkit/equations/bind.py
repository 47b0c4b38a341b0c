"""From an equation over values to templates over the numbers of its problem.

"76 - 25" has the literals 76 and 25; the model uses N0 and N1. `bind` finds which number of the text each
literal is. If a value occurs in the text more than once, every binding is kept, the likeliest first: each
occurrence is used once before any is used again, in reading order, numbers of the text before constants.

People may write a quantity differently from the text, so a literal that is not in the text is also read as
- a fraction: (1/6) if the text has the number 1/6, 50/100 or 5*0.01 if it has 50% or 5%;
- a part of one, its complement or another unit: see `toolkit.equations.readings`;
- π: 3.14 (or 3.1416, …), if π is a constant;
- a square or cube: 5^2 is bound as N0 * N0;
- a sign: 5 + (-3), -3 + 5 and 5 - 3 are the same if the text has 3.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, product
from typing import NamedTuple

from toolkit.equations.classes import klasses
from toolkit.equations.evaluate import apply
from toolkit.equations.readings import (
    COMMON_UNITS,
    FACTORS,
    SUMMANDS,
    UNITS,
    computed,
    derived,
    in_units,
    replaced,
    rescaled,
    without_reciprocals,
)
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
_ZERO = Const(Fraction(0))


class NotInProblem(EquationError):
    """The equation uses a number that is neither in the problem nor a constant."""

    def __init__(self, value: Fraction) -> None:
        super().__init__(f"{show_value(value)} is not a number of the problem")


def bind(
    tree: Expr,
    numbers: Sequence[Fraction],
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
    *,
    more_constants: bool = False,
) -> list[Expr]:
    """Templates, one for each class that the equation may mean, the likeliest first. Never empty.

    With `more_constants` it may also use a small constant that neither is named: 2 sides, 7 days, 100 (see
    FACTORS and SUMMANDS). Raises `NotInProblem` for a literal that is neither in the text nor a constant.
    """
    for index in references(tree):
        if index >= len(numbers):
            raise EquationError(f"the problem has no number N{index}")
    binder = _Binder(numbers, constants, more_constants)
    skeleton = binder.skeleton(tree)
    choices = list(binder.choices(skeleton))
    if all(len(meanings) == 1 for meanings in choices):
        return [_fill(skeleton, [meanings[0] for meanings in choices])]
    most = max(1, MAX_LEAVES // len(choices))  # of long equations, fewer bindings are looked at
    filled = sorted(islice(product(*choices), min(most, MAX_BINDINGS**2)), key=_unlikeliness)
    templates = [_fill(skeleton, leaves) for leaves in filled[: min(most, 4 * MAX_BINDINGS)]]
    by_class: dict[int, Expr] = {}
    for template, class_ in zip(templates, klasses(templates), strict=True):
        by_class.setdefault(class_, template)
    return list(by_class.values())[:MAX_BINDINGS]


def _unlikeliness(leaves: tuple[Expr, ...]) -> tuple[int, int, int, list[int]]:
    """A sort key: fewest constants beside 1, fewest numbers used twice, fewest constants, reading order."""
    order = [
        leaf.index if isinstance(leaf, Ref) else min(references(leaf), default=_CONSTANT) for leaf in leaves
    ]
    used = set(order) - {_CONSTANT}
    constants = order.count(_CONSTANT)
    beside_one = sum(isinstance(leaf, Const) and leaf != ONE for leaf in leaves)
    return beside_one, len(order) - constants - len(used), constants, order


def _fill(skeleton: Expr, leaves: Sequence[Expr]) -> Expr:
    """The skeleton with each literal, in order, replaced by what it means."""
    template = replaced(skeleton, lambda i, literal: leaves[i])
    return without_reciprocals(template) if any(isinstance(leaf, Op) for leaf in leaves) else template


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
    def __init__(
        self, numbers: Sequence[Fraction], constants: Sequence[Constant], more_constants: bool
    ) -> None:
        self.numbers, self.more_constants = tuple(numbers), more_constants
        self.meanings: dict[Fraction, list[Expr]] = {}
        for j, value in enumerate(numbers):
            self.meanings.setdefault(value, []).append(Ref(j))
        self.in_text = frozenset(self.meanings)
        self.derived = derived(numbers) if ONE in constants else {}
        self.meanings |= self.derived
        for constant in constants:
            if isinstance(constant, Const):
                self.meanings.setdefault(constant.value, []).append(constant)
        self.constants = frozenset(constant.value for constant in constants if isinstance(constant, Const))
        self.pi_is_constant = PI in constants
        self._computed: frozenset[Fraction] = frozenset()

    def skeleton(self, tree: Expr) -> Expr:
        """The equation over literals that each say one number of the text, or a constant."""
        tree = self.folded(self.without_signs(_without_powers(tree)))
        return self.with_pi(rescaled(tree, self.in_text, self.derived))

    def choices(self, skeleton: Expr) -> Iterator[list[Expr]]:
        """What each literal may mean, from left to right."""
        written = {node.value for node in postorder(skeleton) if isinstance(node, Const)}
        written |= {self.numbers[j] for j in references(skeleton)}
        self._computed = computed(self.in_text, written)
        yield from self._choices(skeleton, None)

    def _choices(self, tree: Expr, operator: Operator | None) -> Iterator[list[Expr]]:
        """`operator` is the one above the tree."""
        if isinstance(tree, Op):
            yield from self._choices(tree.left, tree.op)
            yield from self._choices(tree.right, tree.op)
        elif isinstance(tree, Const):
            yield self._meanings(tree.value, operator)

    def _meanings(self, value: Fraction, operator: Operator | None) -> list[Expr]:
        found = self.meanings.get(value, [])
        if value in self.in_text or value in self.constants:
            return found
        found = found + self._unnamed(value, operator)
        if not found:
            raise NotInProblem(value)
        return found

    def _unnamed(self, value: Fraction, operator: Operator | None) -> list[Expr]:
        """What a value may mean that is neither in the text nor a constant of V_const."""
        if operator is None or value in self._computed:  # the numbers themselves are wanted
            return []
        if not self.more_constants:
            return in_units(value, self.numbers, UNITS & self.constants)
        is_factor, is_summand = operator in ("*", "/"), operator in ("+", "-")
        if (is_factor and value in FACTORS) or (is_summand and value in SUMMANDS):
            return [Const(value)]
        if is_factor and value and 1 / value in FACTORS:  # 0.5 * 6 * 4
            return [Op("/", ONE, Const(1 / value))]
        return in_units(value, self.numbers, COMMON_UNITS | (UNITS & self.constants))

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
            return _Folded(Const(value), value, False)
        return _Folded(Op(tree.op, left.tree, right.tree), value, unknown)

    def _unknown(self, literal: Const) -> bool:
        return literal.value not in self.meanings

    def with_pi(self, tree: Expr) -> Expr:
        """The tree with π for 3.14, if the text has no 3.14."""
        if isinstance(tree, Op):
            return Op(tree.op, self.with_pi(tree.left), self.with_pi(tree.right))
        if isinstance(tree, Const) and self.pi_is_constant and self._unknown(tree):
            return PI if _looks_like_pi(tree.value) else tree
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
        return tree  # a negative result of positive numbers: 0 is reported as missing

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
