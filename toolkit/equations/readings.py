"""How people write the numbers of a text, and which constants they need not find in it.

A person who reads "3/4 of 100 sweets" may write 100 * 3 / 4, and for 25% off a price of 80, 80 * 0.75. The
3, the 4 and the 0.75 are no numbers of the text, but they say a number of it:
- parts of a fraction or a percentage, anywhere in a product: 100 * 3 / 4, 240 / 3 * 2, 80 * (100 - 25) / 100;
- what is left or comes on top: 0.75 and 1.25 for 25%;
- a division for a fraction: 100 / 2 for half of it;
- another unit: 120 for 2 hours, if 60 is a constant.

`rescaled` finds the parts; `derived` and `in_units` have the rest. FACTORS and SUMMANDS are constants that a
person may use though the text does not name them: 2 sides, 7 days, 12 months, 100, 1000.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from toolkit.equations.classes import klass
from toolkit.equations.tree import ONE, Const, Expr, Op, Ref, postorder

FACTORS = frozenset(map(Fraction, (2, 3, 4, 7, 10, 12, 24, 30, 52, 60, 100, 180, 360, 365, 1000)))
SUMMANDS = frozenset(map(Fraction, (7, 12, 60, 100, 180, 360, 365, 1000)))  # wholes: 180 degrees, 12 months
UNITS = frozenset(map(Fraction, (7, 12, 24, 60, 100, 1000)))  # that a quantity is converted with
COMMON_UNITS = frozenset(map(Fraction, (60, 100, 1000)))  # hours and minutes, metres and centimetres, …

MOST_PARTS = 6  # literals of one scale: their subsets are tried
MOST_SCALES = 12
MOST_FRACTIONS = 6  # of one equation
MOST_LITERALS = 40  # of an equation whose parts are looked for

_HUNDRED = Fraction(100)
_HUNDREDTH = Const(Fraction(1, 100))
_SCALE = Ref(1_000)  # a variable that no equation can have
_WHOLE = Const(Fraction(1))  # a scale that became 1, as an object of its own: to be left out of products


def derived(numbers: Sequence[Fraction]) -> dict[Fraction, list[Expr]]:
    """Values that people write for the proper fractions p of a text: 1 - p, 1 + p, 1 / p, 1 / (1 - p)."""
    found: dict[Fraction, list[Expr]] = {}
    for j, share in enumerate(numbers):
        if not 0 < share < 1:
            continue
        rest = Op("-", ONE, Ref(j))
        for value, meaning in (
            (1 - share, rest),
            (1 + share, Op("+", ONE, Ref(j))),
            (1 / share, Op("/", ONE, Ref(j))),
            (1 / (1 - share), Op("/", ONE, rest)),
        ):
            if value not in numbers:
                found.setdefault(value, []).append(meaning)
    return found


def in_units(value: Fraction, numbers: Sequence[Fraction], units: Collection[Fraction]) -> list[Expr]:
    """The numbers of the text that the value says in another unit: 120 as N0 * 60, 1/2 as N0 / 60."""
    found: list[Expr] = []
    for j, number in enumerate(numbers):
        for unit in sorted(units):
            if unit in numbers or not number:
                continue
            if number * unit == value:
                found.append(Op("*", Ref(j), Const(unit)))
            elif number / unit == value:
                found.append(Op("/", Ref(j), Const(unit)))
    return found


def computed(numbers: Collection[Fraction], written: Collection[Fraction]) -> frozenset[Fraction]:
    """Sums and products of two numbers of which one is not written: somebody may have computed them in the
    head, so nobody knows whether they are constants."""
    pairs = [pair for pair in combinations(numbers, 2) if not set(pair) <= set(written)]
    return frozenset(a + b for a, b in pairs) | frozenset(a * b for a, b in pairs)


@dataclass(frozen=True)
class _Costs:
    """How far a literal is from the text: 0 if the text has it, 1 if it says a fraction of the text."""

    in_text: Collection[Fraction]
    derived: Collection[Fraction]

    def __call__(self, value: Fraction) -> int:
        if value == 1 or value in self.in_text:
            return 0
        return 1 if value in self.derived else 2

    def explains(self, value: Fraction) -> bool:
        return value != 1 and self(value) < 2


def rescaled(tree: Expr, in_text: Collection[Fraction], derived: Collection[Fraction]) -> Expr:
    """The tree with each number that it counts in parts as one literal: 100 * 3 / 4 as 100 * (3/4).

    Counting in s-ths writes x for the fraction x / s, and s for 1. It is undone if the tree is the same
    function with s as a variable, which is then 1. `derived` are the values of `derived`.
    """
    costs = _Costs(in_text, derived)
    tree = _without_hundredths(tree, in_text)
    if sum(isinstance(node, Const) for node in postorder(tree)) > MOST_LITERALS:
        return tree
    for _ in range(MOST_FRACTIONS):
        better = _rescaled_once(tree, costs)
        if better is None:
            break
        tree = better
    return tree


def _rescaled_once(tree: Expr, costs: _Costs) -> Expr | None:
    """The tree with one scale less: the one that brings it nearest to the text; None if none does."""
    literals = [node.value for node in postorder(tree) if isinstance(node, Const)]
    best, found = 0, None
    scales = sorted({value for value in literals if value > 1}, key=lambda value: (value != _HUNDRED, value))
    for scale in scales[:MOST_SCALES] if any(map(costs, literals)) else ():
        wholes = {i: ONE.value for i, value in enumerate(literals) if value == scale}
        parts = {
            i: value / scale
            for i, value in enumerate(literals)
            if costs.explains(value / scale) and (scale == _HUNDRED or (value / scale).denominator != 1)
        }
        places = {**wholes, **parts}
        if not parts or len(places) > MOST_PARTS:
            continue
        for chosen in _subsets(sorted(places)):
            gain = sum(costs(literals[i]) - costs(places[i]) for i in chosen)
            if gain > best and not wholes.keys().isdisjoint(chosen) and not parts.keys().isdisjoint(chosen):
                whole = _in_wholes(tree, {i: places[i] for i in chosen}, wholes.keys())
                if whole is not None:
                    best, found = gain, whole
    return found


def _in_wholes(tree: Expr, values: dict[int, Fraction], wholes: Collection[int]) -> Expr | None:
    """The tree with these literals counted in wholes; None if that is another function."""

    def scaled(i: int, literal: Const) -> Expr:
        if i not in values:
            return literal
        return _SCALE if i in wholes else Op("*", Const(values[i]), _SCALE)

    def whole(i: int, literal: Const) -> Expr:
        if i not in values:
            return literal
        return _WHOLE if i in wholes else Const(values[i])

    found = replaced(tree, whole)
    return _without_wholes(found) if klass(replaced(tree, scaled)) == klass(found) else None


def replaced(tree: Expr, meaning: Callable[[int, Const], Expr]) -> Expr:
    """The tree with its i-th literal, from left to right, replaced by `meaning(i, literal)`."""
    numbers = iter(range(1_000_000))

    def visit(node: Expr) -> Expr:
        if isinstance(node, Op):
            left = visit(node.left)
            return Op(node.op, left, visit(node.right))
        return meaning(next(numbers), node) if isinstance(node, Const) else node

    return visit(tree)


def _subsets(places: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The smallest first: nothing is reread without need."""
    for size in range(2, len(places) + 1):
        yield from combinations(places, size)


def _without_wholes(tree: Expr) -> Expr:
    if not isinstance(tree, Op):
        return tree
    left, right = _without_wholes(tree.left), _without_wholes(tree.right)
    if right is _WHOLE and tree.op in "*/":
        return left
    if left is _WHOLE and tree.op == "*":
        return right
    return Op(tree.op, left, right)


def _without_hundredths(tree: Expr, in_text: Collection[Fraction]) -> Expr:
    """5 * 0.01 as 5 / 100."""
    if not isinstance(tree, Op) or _HUNDREDTH.value in in_text:
        return tree
    left, right = _without_hundredths(tree.left, in_text), _without_hundredths(tree.right, in_text)
    if tree.op == "*" and right == _HUNDREDTH:
        return Op("/", left, Const(_HUNDRED))
    return Op(tree.op, left, right)


def without_reciprocals(tree: Expr) -> Expr:
    """a / (1 / b) as a * b, and a * (1 / b) as a / b."""
    if not isinstance(tree, Op):
        return tree
    left, right = without_reciprocals(tree.left), without_reciprocals(tree.right)
    if tree.op in "*/" and isinstance(right, Op) and right.op == "/" and right.left == ONE:
        return Op("/" if tree.op == "*" else "*", left, right.right)
    if tree.op == "*" and isinstance(left, Op) and left.op == "/" and left.left == ONE:
        return Op("/", right, left.right)
    return Op(tree.op, left, right)
