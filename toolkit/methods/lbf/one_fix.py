"""1-FIX: the cheapest change of one token by which a tree reaches the answer.

From the root down, every node has a target: what its value must be, so that the whole tree gives the answer.
The target of the root is the answer; inverting an operator gives the target of one operand, as the value of
the other is known. An operand can be fixed by a number or constant that has the value of the target, an
operator by another one that gives it. Changes wait in a queue, ordered by the log-probability that the tree
loses by them; the first that reaches the answer wins.

Targets are intervals of floats: what rounds to the answer (10 / 3 to 3.33) is within. What is found is
checked in fractions. A value that there is not, such as 1 / 0, is NaN, which is within no interval.
"""

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from typing import NamedTuple

from toolkit.equations import PI, PI_READINGS, Const, as_float, reaches, tolerance
from toolkit.equations.tree import Operator
from toolkit.nn.tokens import Tokens

Prefix = tuple[int, ...]
Scores = Sequence[Sequence[float]]  # log-probabilities of all tokens at each position of a prefix
Function = Callable[[float, float], float]

RESULT: dict[Operator, Function] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": math.pow,
}
# x op other = target, where x is wanted. Of the roots, the positive one.
INVERSE_LEFT: dict[Operator, Function] = {
    "+": lambda target, other: target - other,
    "-": lambda target, other: target + other,
    "*": lambda target, other: target / other,
    "/": lambda target, other: target * other if other else math.nan,
    "^": lambda target, other: math.pow(target, 1 / other),
}
# other op x = target.
INVERSE_RIGHT: dict[Operator, Function] = {
    "+": lambda target, other: target - other,
    "-": lambda target, other: other - target,
    "*": lambda target, other: target / other,
    "/": lambda target, other: other / target if other else math.nan,
    "^": lambda target, other: math.log(target) / math.log(other),
}


class Interval(NamedTuple):
    low: float
    high: float


def computed(function: Function, left: float, right: float) -> float:
    try:
        return function(left, right)
    except (ArithmeticError, ValueError):
        return math.nan


def inverted(inverse: Function, target: Interval, other: float) -> Interval:
    """The target of an operand whose neighbour has the value `other`."""
    low, high = computed(inverse, target.low, other), computed(inverse, target.high, other)
    return Interval(low, high) if low <= high else Interval(high, low)


class Case:
    """A problem as fixing sees it: its operands and its answer."""

    def __init__(self, tokens: Tokens, numbers: Sequence[Fraction], answer: float) -> None:
        self.tokens, self.operators = tokens, len(tokens.operators)
        self.numbers, self.answer = numbers, answer
        self.target = Interval(answer - tolerance(answer), answer + tolerance(answer))
        self.results = [RESULT[sign] for sign in tokens.operators]
        self.inverses = [(INVERSE_LEFT[sign], INVERSE_RIGHT[sign]) for sign in tokens.operators]
        self.pi = self.operators + tokens.constants.index(PI) if PI in tokens.constants else None
        leaves: list[Fraction | None] = [
            constant.value if isinstance(constant, Const) else None for constant in tokens.constants
        ]
        self.values = {  # of all operands but π
            token: as_float(value)
            for token, value in enumerate([*leaves, *numbers], self.operators)
            if value is not None
        }
        self.operands = list(self.values.items())
        if self.pi is not None:
            self.operands += [(self.pi, float(pi)) for pi in PI_READINGS]  # whatever it is read as
        self._known: dict[Prefix, bool] = {}

    def reached_by(self, prefix: Prefix) -> bool:
        """Whether a tree gives the answer. What was asked before is looked up."""
        known = self._known.get(prefix)
        if known is None:
            known = reaches(self.tokens.decode(prefix), self.numbers, self.answer)
            self._known[prefix] = known
        return known

    def alternatives(self, token: int) -> range:
        """The tokens of its kind, itself among them."""
        if token < self.operators:
            return range(self.operators)
        return range(self.operators, self.tokens.first_number + len(self.numbers))


def one_fix(case: Case, prefix: Prefix, scores: Scores) -> Prefix | None:
    """The tree itself if it reaches the answer, or with one other token; None if no token helps."""
    children = _children(prefix, case.operators)
    queue: list[tuple[float, int, int]] = []
    for pi in PI_READINGS if case.pi in prefix else PI_READINGS[:1]:
        values = _values(case, prefix, children, float(pi))
        if case.target.low <= values[0] <= case.target.high and case.reached_by(prefix):
            return prefix
        for node, token in _changes(case, prefix, children, values):
            heappush(queue, (scores[node][prefix[node]] - scores[node][token], node, token))
    while queue:
        _, node, token = heappop(queue)
        fixed = (*prefix[:node], token, *prefix[node + 1 :])
        if case.reached_by(fixed):
            return fixed
    return None


def _children(prefix: Prefix, operators: int) -> list[tuple[int, int]]:
    """The positions of the left and the right child of each operator; zeros for an operand."""
    children = [(0, 0)] * len(prefix)
    waiting: list[int] = []  # subtrees that a parent further left waits for
    for node in reversed(range(len(prefix))):
        if prefix[node] < operators:
            children[node] = waiting.pop(), waiting.pop()
        waiting.append(node)
    return children


def _values(case: Case, prefix: Prefix, children: Sequence[tuple[int, int]], pi: float) -> list[float]:
    """The value of each subtree."""
    values = [math.nan] * len(prefix)
    for node in reversed(range(len(prefix))):
        token = prefix[node]
        if token < case.operators:
            left, right = children[node]
            values[node] = computed(case.results[token], values[left], values[right])
        else:
            values[node] = case.values.get(token, pi)
    return values


def _changes(
    case: Case, prefix: Prefix, children: Sequence[tuple[int, int]], values: Sequence[float]
) -> Iterator[tuple[int, int]]:
    """Positions, and the tokens that bring the value there into its target."""
    waiting = [(0, case.target)]
    while waiting:
        node, target = waiting.pop()
        (low, high), token = target, prefix[node]
        if token >= case.operators:
            for operand, value in case.operands:
                if low <= value <= high and operand != token:
                    yield node, operand
            continue
        left, right = children[node]
        for other, result in enumerate(case.results):
            if other != token and low <= computed(result, values[left], values[right]) <= high:
                yield node, other
        of_left, of_right = case.inverses[token]
        waiting.append((left, inverted(of_left, target, values[right])))
        waiting.append((right, inverted(of_right, target, values[left])))
