"""The solutions of GSM8K (Cobbe et al. 2021): prose with marked calculations, and the answer at the end.

    In autumn it was 36/2 = <<36/2=18>>18 trees, and in the year 36+18 = <<36+18=54>>54.
    #### 54

The marks become one equation over the numbers of the question: 36 + 36 / 2.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

from toolkit.data.languages import detect_language
from toolkit.data.numbers import find_numbers
from toolkit.equations import (
    ONE,
    Const,
    EquationError,
    Expr,
    Op,
    count_operators,
    matches,
    parse,
    show,
    verify,
)
from toolkit.equations.readings import replaced

ANSWER = "####"
MOST_MARKS = 100  # of one solution; published ones have ten at most
MOST_OPERATORS = 100  # of an equation: a result that stands twice in each mark doubles with every mark

_MARK = re.compile(r"<<([^<>]*)>>")
_NUMBER = re.compile(r"(?:\$ ?)?(-?)(?:\$ ?)?(\d[\d,]*(?:\.\d+)?|\.\d+) ?%?\.?", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Mark:
    tree: Expr  # over literals that are no results of other marks
    operators: int
    result: Fraction


def final_answer(solution: str) -> str:
    """What stands after ####, without $, %, a full stop and commas: "$1,250." is 1250, "25%" is 25.

    A percent sign is a unit here: the marks come to 25, not to 1/4. What is no number is returned as it is.
    """
    written = solution.rpartition(ANSWER)[2].strip()
    number = _NUMBER.fullmatch(written)
    return number[1] + number[2].replace(",", "") if number else written


def equation_of(question: str, solution: str, answer: float) -> str:
    """The marks of a solution as one equation over the numbers of its question.

    It is that of the last mark whose result is the answer; results of earlier marks are replaced by what
    they were computed from. A literal that may mean several things is, in this order: the result of the
    latest mark that has its value and was not used yet, a number of the question, a result that was used
    before, a constant. A fraction or a percentage of the question is put in brackets: 150 * (2 / 100) for 2%.

    An `EquationError` says why there is no equation: a mark can't be read, none gives the answer, or the
    equation does not, or it has numbers that are neither in the question nor constants that annotators may
    use.
    """
    numbers = [operand.value for operand in find_numbers(question, detect_language(question))]
    marks = _joined(_written_marks(solution), frozenset(numbers))
    last = next((found for found in reversed(marks) if matches(found.result, answer)), None)
    if last is None:
        raise EquationError("none of its marks <<…>> gives the answer")
    if last.operators > MOST_OPERATORS:
        raise EquationError(f"its marks come to more than {MOST_OPERATORS} operators")
    equation = show(last.tree)
    verdict = verify(equation, numbers, answer, more_constants=True)
    if not verdict.ok:
        raise EquationError(f"{equation if len(equation) <= 60 else 'its marks'}: {verdict.reason}")
    return equation


def _written_marks(solution: str) -> list[tuple[Expr, Fraction]]:
    """Calculation and result of each mark. A result that is rounded is taken as it is written."""
    written = _MARK.findall(solution)
    if len(written) != solution.count("<<"):
        raise EquationError("a mark << is not closed")
    if len(written) > MOST_MARKS:
        raise EquationError(f"it has {len(written):,} marks; at most {MOST_MARKS} are read")
    marks = []
    for text in written:
        shown = " ".join(text.split())[:40]
        try:
            calculation, *_, claimed = text.split("=")
            tree, result = parse(calculation), parse(claimed)
        except (EquationError, ValueError):  # there is no "=" in it
            raise EquationError(f"the mark <<{shown}>> can't be read") from None
        if not isinstance(result, Const):
            raise EquationError(f"the result of the mark <<{shown}>> is not a number")
        marks.append((tree, result.value))
    return marks


def _joined(written: Iterable[tuple[Expr, Fraction]], in_question: Collection[Fraction]) -> list[_Mark]:
    """The marks with the results of earlier ones replaced. Trees share their parts, so that is cheap."""
    marks: list[_Mark] = []
    used: set[int] = set()

    for tree, result in written:
        results: list[int] = []  # the marks whose results are in this one

        def meaning(_: int, literal: Const, results: list[int] = results) -> Expr:
            index = _meant(literal.value, marks, used, in_question)
            if index is None:
                return literal
            used.add(index)
            results.append(index)
            return marks[index].tree

        joined = replaced(_regrouped(tree, in_question), meaning)
        operators = count_operators(tree) + sum(marks[index].operators for index in results)
        marks.append(_Mark(joined, operators, result))
    return marks


def _regrouped(tree: Expr, in_question: Collection[Fraction]) -> Expr:
    """The calculation with a fraction or a percentage of the question in brackets: 24 * (1 / 6)."""
    if not isinstance(tree, Op):
        return tree

    def is_share(above: Expr, below: Const) -> TypeGuard[Const]:
        """Whether above / below writes a number of the question, and not two of its other numbers."""
        if not isinstance(above, Const) or not below.value:
            return False
        share = above.value / below.value
        apart = above != ONE and {above.value, below.value} <= set(in_question)
        return share.denominator != 1 and share in in_question and not apart

    match Op(tree.op, _regrouped(tree.left, in_question), _regrouped(tree.right, in_question)):
        case Op("/", Op("*", left, right), Const() as below) if is_share(right, below):
            return Op("*", left, Op("/", right, below))
        case Op("/", Op("*", left, right), Const() as below) if is_share(left, below):
            return Op("*", Op("/", left, below), right)
        case Op("*", Op("/", left, Const() as below), right) if is_share(right, below):
            return Op("*", left, Op("/", right, below))
        case regrouped:
            return regrouped


def _meant(
    value: Fraction, marks: Sequence[_Mark], used: Collection[int], in_question: Collection[Fraction]
) -> int | None:
    """The mark whose result a literal means, None if it stands for itself."""
    same = [index for index, mark in enumerate(marks) if mark.result == value]
    unused = [index for index in same if index not in used]
    if unused:
        return unused[-1]
    return same[-1] if same and value not in in_question else None
