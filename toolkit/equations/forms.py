"""The two other forms of a tree: WARM's bottom-up steps and the prefix of the tree decoders.

Steps (paper, section 4.3.4): each is (op, left, right), where left and right are indices into OpDict.
OpDict starts as N0 … N(n-1) and then V_const, and each step appends its result.
"""

from collections.abc import Sequence
from typing import NamedTuple

from toolkit.equations.parse import parse
from toolkit.equations.show import show
from toolkit.equations.tree import (
    DEFAULT_CONSTANTS,
    OPERATORS,
    Constant,
    EquationError,
    Expr,
    Op,
    Operator,
    Ref,
    postorder,
)


class Step(NamedTuple):
    op: Operator
    left: int
    right: int


def to_steps(tree: Expr, n: int, constants: Sequence[Constant] = DEFAULT_CONSTANTS) -> list[Step]:
    """The steps that build a template over n numbers. A subtree that occurs twice is built once."""
    opdict: dict[Expr, int] = {**{Ref(j): j for j in range(n)}}
    opdict |= {constant: n + i for i, constant in enumerate(constants)}
    steps: list[Step] = []
    for node in postorder(tree):
        if node in opdict:
            continue
        if not isinstance(node, Op):
            raise EquationError(f"{show(node)} is neither one of the {n} numbers nor a constant")
        steps.append(Step(node.op, opdict[node.left], opdict[node.right]))
        opdict[node] = n + len(constants) + len(steps) - 1
    return steps


def from_steps(
    steps: Sequence[tuple[str, int, int]],
    n: int,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
    start: int | None = None,
) -> Expr:
    """The tree of the last step's result. Steps that it does not use are dropped.

    Without steps, `start` is the entry of OpDict that is the template (a single number).
    """
    opdict: list[Expr] = [*(Ref(j) for j in range(n)), *constants]
    for number, (op, left, right) in enumerate(steps, 1):
        if op not in OPERATORS:
            raise EquationError(f"step {number}: '{op}' is not an operator")
        if not (0 <= left < len(opdict) and 0 <= right < len(opdict)):
            raise EquationError(f"step {number}: OpDict has only {len(opdict)} entries so far")
        opdict.append(Op(op, opdict[left], opdict[right]))
    if steps:
        return opdict[-1]
    if start is None:
        raise EquationError("there are no steps")
    return opdict[start]


def to_prefix(tree: Expr) -> list[str]:
    """Operators before their operands: N0 * (N1 + 1) is * N0 + N1 1."""
    if isinstance(tree, Op):
        return [tree.op, *to_prefix(tree.left), *to_prefix(tree.right)]
    return [show(tree)]


def from_prefix(tokens: Sequence[str]) -> Expr:
    """The tree of a prefix; `EquationError` if operands are missing or left over."""
    stack: list[Expr] = []
    for token in reversed(tokens):
        operator = next((op for op in OPERATORS if op == token), None)
        if operator is None:
            stack.append(parse(token))
        elif len(stack) < 2:
            raise EquationError("the prefix is cut short")
        else:
            stack.append(Op(operator, stack.pop(), stack.pop()))
    if len(stack) != 1:
        raise EquationError("the prefix is cut short" if not stack else "the prefix has too many operands")
    return stack[0]


_INVERSE: dict[Operator, Operator] = {"+": "-", "*": "/"}
_CHAIN: dict[str, Operator] = {"+": "+", "-": "+", "*": "*", "/": "*"}


def canonical(tree: Expr) -> Expr:
    """The same sum or product in one order: a - (b - c), c + a - b and a + c - b are all a + c - b.

    In a chain of + and - (or of * and /), added terms come first and subtracted terms last, both in order
    of the numbers. Only commuting and regrouping are unified: 2*(a + b) and 2*a + 2*b stay two forms,
    though they are of one class.
    """
    if not isinstance(tree, Op):
        return tree
    chain = _CHAIN.get(tree.op)
    if chain is None:
        return Op(tree.op, canonical(tree.left), canonical(tree.right))
    added, subtracted = (sorted(map(canonical, terms), key=_order) for terms in _terms(tree, chain))
    result = added[0]
    for term in added[1:]:
        result = Op(chain, result, term)
    for term in subtracted:
        result = Op(_INVERSE[chain], result, term)
    return result


def commuted(tree: Expr, most: int) -> list[Expr]:
    """The tree and its variants with operands of + and * exchanged, at most `most` in all."""
    if not isinstance(tree, Op):
        return [tree]
    pairs = [(left, right) for left in commuted(tree.left, most) for right in commuted(tree.right, most)]
    forms: list[Expr] = [Op(tree.op, left, right) for left, right in pairs]
    if tree.op in _INVERSE:
        forms += [Op(tree.op, right, left) for left, right in pairs]
    return list(dict.fromkeys(forms))[:most]


def _terms(tree: Expr, chain: Operator) -> tuple[list[Expr], list[Expr]]:
    """The added and the subtracted terms of a chain of + and - (or the factors and divisors of * and /)."""
    if not isinstance(tree, Op) or _CHAIN.get(tree.op) != chain:
        return [tree], []
    added, subtracted = _terms(tree.left, chain)
    right_added, right_subtracted = _terms(tree.right, chain)
    if tree.op == chain:
        return added + right_added, subtracted + right_subtracted
    return added + right_subtracted, subtracted + right_added


def _order(tree: Expr) -> tuple[int, int, str]:
    """A sort key: by the first number, then short before long; constants last."""
    numbers = [node.index for node in postorder(tree) if isinstance(node, Ref)]
    return min(numbers, default=1_000), len(to_prefix(tree)), show(tree)
