"""Numbers, equations and complaints in the words of the problem: 2/3 and 4% as its text has them.

Pure functions that every annotator uses, so a sheet, the terminal and Label Studio show the same.
"""

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.data import ProblemSet
from toolkit.data.languages import language
from toolkit.data.numbers import Operand, find_numbers
from toolkit.equations import Constant, Expr, parse_template, show, show_number, verify
from toolkit.equations.characters import plain
from toolkit.equations.tree import Ref, decimal_places, references

MOST_SHOWN = 80  # characters of a rejected equation that a complaint repeats

_AS_WRITTEN = re.compile(r"-?[0-9][0-9.,]*(?: ?%| ?/ ?[0-9]+| [0-9]+ ?/ ?[0-9]+)")  # 4 %, 2/3, 1 5/6
_REFERENCE = re.compile(r"N(\d+)")


def operands_of(question: Question) -> tuple[Operand, ...]:
    """Where the numbers of a question are in its text; none if the text has others than the question."""
    found = find_numbers(question.text, question.lang)
    return found if tuple(operand.value for operand in found) == question.numbers else ()


def shown_numbers(question: Question) -> tuple[str, ...]:
    """The numbers of a question as they are shown beside it."""
    found = operands_of(question)
    if found or not question.numbers:
        return number_texts(question.text, found)
    return tuple(_number_text("", value) for value in question.numbers)


def number_texts(text: str, operands: Sequence[Operand]) -> tuple[str, ...]:
    """How the numbers of a text are shown beside it: fractions and percentages as they are written there."""
    written = (plain(text[operand.start : operand.end]) for operand in operands)
    return tuple(_number_text(*pair) for pair in zip(written, (one.value for one in operands), strict=True))


def _number_text(written: str, value: Fraction) -> str:
    if _AS_WRITTEN.fullmatch(written):
        return written
    return show_number(value) if decimal_places(value) is not None else str(value)


def equation_text(template: Expr, numbers: Sequence[str]) -> str:
    """A template over the numbers as they are shown: 240 * (2/3), 450 * 4%."""
    if isinstance(template, Ref):
        return numbers[template.index]

    def number(found: re.Match[str]) -> str:
        shown = numbers[int(found[1])]
        return f"({shown})" if "/" in shown or shown.startswith("-") else shown

    return _REFERENCE.sub(number, show(template))


def shown_candidates(problems: ProblemSet, problem_id: str, templates: Iterable[str]) -> list[ShownCandidate]:
    """Candidates of a problem, over the numbers as they are shown."""
    row = problems.row[problem_id]
    numbers = number_texts(problems.table["text"][row], problems.masked[row].operands)
    return [ShownCandidate(equation_text(parse_template(text), numbers), text) for text in templates]


def complaint(
    lang: str,
    equation: str,
    reason: str,
    numbers: Sequence[Fraction],
    answer: float,
    constants: Sequence[Constant],
) -> str:
    """Why an equation was rejected, with the equation, in the language of the problem.

    `reason` is the sentence of the judge, which English keeps. Other languages have a sentence for each kind.
    """
    labels = language(lang).labels
    quoted = equation if len(equation) <= MOST_SHOWN else f"{equation[:MOST_SHOWN]}…"
    quoted = f"«{quoted}»: " if quoted else ""
    if labels.rejections is None:
        return quoted + reason
    kind, value = _kind(equation, numbers, answer, constants)
    return quoted + labels.rejections[kind].format(value=value, answer=f"{answer:.12g}")


def _kind(
    equation: str, numbers: Sequence[Fraction], answer: float, constants: Sequence[Constant]
) -> tuple[int, str]:
    """Which of `PageLabels.rejections` fits, and the value of the equation."""
    if not equation.strip():
        return 0, ""
    try:
        verdict = verify(equation, numbers, answer, constants)
    except (ValueError, ArithmeticError):  # it has no value
        return 1, ""
    if verdict.value is None:
        return 1, ""
    refers = any(references(template) for template in verdict.templates)
    return (3 if refers else 2), f"{verdict.value:.12g}"
