"""What a language model is asked: a conversation in the language of the problem.

Each number of a text is marked with its name, since two numbers of a text may be equal. Solved problems come
first, as earlier turns of the conversation.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from annotation.llm.reply import NAME
from toolkit.data import ProblemSet
from toolkit.data.languages import language
from toolkit.data.numbers import Operand
from toolkit.equations import Expr, show

Message = dict[str, str]


@dataclass(frozen=True)
class Asked:
    """A problem as it is asked."""

    problem_id: str
    text: str
    lang: str
    operands: tuple[Operand, ...]
    answer: float

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        return tuple(operand.value for operand in self.operands)


def asked_of(problems: ProblemSet, row: int) -> Asked:
    """A problem of a set."""
    masked = problems.masked[row]
    text = problems.table["text"][row]
    return Asked(problems.ids[row], text, problems.langs[row], masked.operands, problems.answers[row])


@dataclass(frozen=True)
class Solved:
    """A problem of D_s."""

    problem: Asked
    template: Expr


def conversation(problem: Asked, solved: Sequence[Solved], show_answer: bool) -> list[Message]:
    """The messages that ask for the equation of a problem; the solved problem most like it comes last."""
    messages = [_message("system", language(problem.lang).model_request)]
    for one in solved:
        messages += [
            _message("user", _question(one.problem, show_answer)),
            _message("assistant", json.dumps({NAME: show(one.template)})),
        ]
    return [*messages, _message("user", _question(problem, show_answer))]


def _question(problem: Asked, show_answer: bool) -> str:
    text = marked(problem)
    if not show_answer:
        return text
    told = language(problem.lang).model_answer.format(answer=f"{problem.answer:.12g}")
    return f"{text}\n{told}"


def marked(problem: Asked) -> str:
    """The text with the name of each number after it: 76 [N0]."""
    parts, done = [], 0
    for i, operand in enumerate(problem.operands):
        parts += [problem.text[done : operand.end], f" [N{i}]"]
        done = operand.end
    return "".join([*parts, problem.text[done:]])


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}
