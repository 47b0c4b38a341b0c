"""From text to trees: the only entry of written equations.

Reads what people write: + − * / ^ and their many signs (× ÷ · ** ²), any brackets, `x =` in front or
`= x` behind, a claimed result (`76 - 25 = 51`, which is checked), percent, decimals, thousands
separators, fractions and mixed numbers (1(5/6), 1 5/6, 1½), digits of any script, N0 N1 … and π.
There is no implicit multiplication: `2(3+4)` is an error that says so.

The parser is a loop over two stacks (Dijkstra's shunting yard), so nesting costs no recursion. Length,
depth and the size of numbers are bounded; refused input raises `EquationError` with a position.
"""

import re
from fractions import Fraction
from functools import lru_cache

from toolkit.equations.characters import FRACTION_SIGNS, plain
from toolkit.equations.evaluate import evaluate, is_too_large, reaches
from toolkit.equations.show import show_unlike, show_value
from toolkit.equations.tree import (
    MAX_DEPTH,
    PI,
    Const,
    Constant,
    EquationError,
    Expr,
    Op,
    Operator,
    Pi,
    Ref,
    TooLarge,
    references,
)

MAX_LENGTH = 1_000
MAX_REFERENCE = 999

_SIGNS = "".join(FRACTION_SIGNS)
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<mixed>\d+\s*\((?:\s*\d+\s*/\s*\d+\s*|\(\d+\)/\(\d+\))\)|\d+\s+\d+\s*/\s*\d+(?![\d.,]))
    | (?P<vulgar>\d*\s*[{_SIGNS}])
    | (?P<number>(?:\d{{1,3}}(?:,\d{{3}})+(?!\d)(?:\.\d+)?      # 1,000,000
                   |\d{{1,2}}(?:,\d{{2}})+,\d{{3}}(?!\d)(?:\.\d+)?  # 10,00,000
                   |\d+(?:\.\d*)?|\.\d+)
                 (?:[eE][-+]?\d{{1,2}}(?!\d))?)
    | (?P<ref>[nN]_?\d{{1,9}}(?!\w))
    | (?P<pi>π|[pP][iI](?!\w))
    | (?P<op>\*\*|[-+*/:^])
    | (?P<power>[²³])
    | (?P<open>[(\[{{])
    | (?P<close>[)\]}}])
    | (?P<percent>%)
    | (?P<currency>[$₹€£¥￥](?=\s*[\d.]))
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)

_NEGATIVE = "negative"  # unary minus on the stack: -e is read as 0 - e
_OPERATOR: dict[str, Operator] = {
    "+": "+",
    "-": "-",
    _NEGATIVE: "-",
    "*": "*",
    "/": "/",
    ":": "/",
    "^": "^",
    "**": "^",
}
_SUPERSCRIPT = {"²": Const(Fraction(2)), "³": Const(Fraction(3))}
_OPENS = {")": "(", "]": "[", "}": "{"}
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, _NEGATIVE: 3, "^": 4}
_ZERO = Const(Fraction(0))
_MISSING_OPERATOR = "an operator is missing here (write * to multiply)"


@lru_cache(maxsize=50_000)
def parse_template(text: str) -> Expr:
    """`parse` with a cache, for the templates of tables, which repeat often."""
    return parse(text)


def parse(text: str) -> Expr:
    """The tree of one written equation; `EquationError` says what is wrong and at which character."""
    if len(text) > MAX_LENGTH:
        raise EquationError(f"the equation has {len(text):,} characters; at most {MAX_LENGTH:,} are read")
    source = plain(text)
    if "=" not in source:
        return _expression(source, 0, len(source))
    sides: list[tuple[int, Expr]] = []
    start = 0
    for side in source.split("="):
        if side.strip() not in ("x", "X", "?", ""):
            sides.append((start, _expression(source, start, start + len(side))))
        start += len(side) + 1
    if not sides:
        raise EquationError("there is no equation here", 0)
    return sides[0][1] if len(sides) == 1 else _drop_claimed_result(sides)


def parse_constant(text: str) -> Constant:
    """A constant of V_const from its text: a number, or π."""
    tree = parse(text)
    if not isinstance(tree, Const | Pi):
        raise EquationError(f"{text[:60]} is not a number or π")
    return tree


def _drop_claimed_result(sides: list[tuple[int, Expr]]) -> Expr:
    """`76 - 25 = 51` or `51 = 76 - 25`: the expression, if its value is the claimed result."""
    results = [(at, tree) for at, tree in sides if isinstance(tree, Const)]
    expressions = [tree for _, tree in sides if not isinstance(tree, Const)]
    if len(results) != 1 or len(expressions) != 1:
        raise EquationError("one side of '=' must be x alone, or the result", sides[1][0])
    (at, result), expression = results[0], expressions[0]
    if references(expression):
        raise EquationError("a result can't be checked for N0, N1, …: leave it out", at)
    if not reaches(expression, (), result.value):
        given, found = show_value(result.value), show_unlike(evaluate(expression), result.value)
        raise EquationError(f"the result is given as {given}, but it is {found}", at)
    return expression


def _expression(source: str, start: int, end: int) -> Expr:
    """Shunting yard over source[start:end]: `operands` holds (tree, depth)."""
    operands: list[tuple[Expr, int]] = []
    pending: list[tuple[str, int]] = []  # operators and opening brackets, with their positions
    operand_next = True
    percent_allowed = False

    def reduce() -> None:
        op, at = pending.pop()
        right, depth = operands.pop()
        if op == _NEGATIVE and isinstance(right, Const):
            operands.append((Const(-right.value), depth))
            return
        left, left_depth = operands.pop() if op != _NEGATIVE else (_ZERO, 1)
        depth = max(depth, left_depth) + 1
        if depth > MAX_DEPTH:
            raise EquationError(f"the equation is nested more than {MAX_DEPTH} deep", at)
        operands.append((Op(_OPERATOR[op], left, right), depth))

    def push_operand(tree: Expr, at: int) -> None:
        nonlocal operand_next
        if not operand_next:
            raise EquationError(_MISSING_OPERATOR, at)
        if isinstance(tree, Const) and is_too_large(tree.value):
            raise TooLarge("this number is too large", at)
        operands.append((tree, 1))
        operand_next = False

    def push_operator(op: str, at: int) -> None:
        nonlocal operand_next
        precedence = _PRECEDENCE[op]
        while pending and (waiting := _PRECEDENCE.get(pending[-1][0], 0)) >= precedence:
            if waiting == precedence and op == "^":  # 2^3^2 is 2^(3^2)
                break
            reduce()
        pending.append((op, at))
        operand_next = True

    at = start
    while True:
        token = _TOKEN.match(source, at, end)
        if token is None:
            raise _unreadable(source, at, end)
        kind = token.lastgroup or ""
        at = token.start(kind)
        written = token[kind]
        if kind == "number":
            push_operand(_number(written), at)
        elif kind == "op":
            if not operand_next:
                push_operator(_OPERATOR[written], at)
            elif written == "-":
                pending.append((_NEGATIVE, at))
            elif written != "+" or not (at == start or pending):
                raise EquationError(f"a number is missing before '{written}'", at)
        elif kind == "open":
            if not operand_next:
                raise EquationError(_MISSING_OPERATOR, at)
            if len(pending) > 2 * MAX_DEPTH:
                raise EquationError(f"the equation is nested more than {MAX_DEPTH} deep", at)
            pending.append((written, at))
        elif kind == "close":
            if operand_next:
                raise EquationError(f"a number is missing before '{written}'", at)
            while pending and pending[-1][0] in _PRECEDENCE:
                reduce()
            if not pending or pending[-1][0] != _OPENS[written]:
                raise EquationError(f"'{written}' closes no bracket", at)
            pending.pop()
        elif kind == "ref":
            index = int(token[kind].lstrip("nN_"))
            if index > MAX_REFERENCE:
                raise EquationError(f"there is no number N{index}", at)
            push_operand(Ref(index), at)
        elif kind == "pi":
            push_operand(PI, at)
        elif kind in ("mixed", "vulgar"):
            push_operand(Const(_mixed_number(written, at)), at)
        elif kind == "percent":
            if not percent_allowed:
                raise EquationError("a percent sign may only follow a number", at)
            number, depth = operands.pop()
            assert isinstance(number, Const)
            operands.append((Const(number.value / 100), depth))
        elif kind == "power":
            if operand_next:
                raise EquationError(f"a number is missing before '{written}'", at)
            push_operator("^", at)
            push_operand(_SUPERSCRIPT[written], at)
        elif kind == "end":
            break
        percent_allowed = kind in ("number", "mixed", "vulgar")
        at += len(written)

    if operand_next:
        missing = "a number is missing at the end" if operands or pending else "there is no equation here"
        raise EquationError(missing, end)
    while pending:
        if pending[-1][0] not in _PRECEDENCE:
            bracket, opened = pending[-1]
            raise EquationError(f"'{bracket}' is never closed", opened)
        reduce()
    return operands[0][0]


@lru_cache(maxsize=10_000)  # reading a decimal into a fraction is the slowest part of parsing
def _number(written: str) -> Const:
    return Const(Fraction(written.replace(",", "")))


def _mixed_number(written: str, at: int) -> Fraction:
    """1(5/6), 1((5)/(6)), 1 5/6, 1½ or ½."""
    for sign, spelled in FRACTION_SIGNS.items():
        if sign in written:
            return Fraction(written.replace(sign, "") or "0") + Fraction(spelled)
    whole, numerator, denominator = (int(digits) for digits in re.findall(r"\d+", written))
    if numerator >= denominator:
        raise EquationError(_MISSING_OPERATOR, at + len(str(whole)))
    return whole + Fraction(numerator, denominator)


def _unreadable(source: str, at: int, end: int) -> EquationError:
    """The error for the first character that starts no token."""
    word = re.compile(r"\s*(\w+|.)", re.DOTALL).match(source, at, end)
    assert word is not None  # an empty rest would have been the end token
    found, at = word[1][:20], word.start(1)
    if found in ("x", "X"):
        return EquationError("x may only stand alone on one side of '=' (write * to multiply)", at)
    return EquationError(f"'{found}' is not part of an equation", at)
