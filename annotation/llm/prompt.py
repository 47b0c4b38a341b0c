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


@dataclass(frozen=True)
class _Words:
    system: str
    answer: str


_ENGLISH = _Words(
    "You translate math word problems into equations. Each number of a problem is marked with its name: "
    "N0, N1, and so on. Write one expression that gives the answer of the question, with these names, "
    "small constants such as 1, 2, 100 or pi, + - * / ^ and brackets. Do not compute it. "
    'Reply with JSON alone: {"equation": "N0 + N1"}',
    "The answer is {answer}.",
)
WORDS = {
    "en": _ENGLISH,
    "hi": _Words(
        "आप गणित के इबारती सवालों को समीकरण में बदलते हैं। सवाल की हर संख्या पर उसका नाम लिखा है: N0, N1, आदि। "
        "एक व्यंजक लिखिए जिससे प्रश्न का उत्तर मिले; उसमें ये नाम, 1, 2, 100 या pi जैसे छोटे स्थिरांक, + - * / ^ और "
        'कोष्ठक हों। हिसाब मत लगाइए। केवल JSON में उत्तर दीजिए: {"equation": "N0 + N1"}',
        "उत्तर {answer} है।",
    ),
    "zh": _Words(
        "你把数学应用题翻译成算式。题中每个数后面都标有它的名称：N0、N1 等。请写出一个能得到答案的算式，"
        "只用这些名称、1、2、100、pi 等小常数、+ - * / ^ 和括号。不要计算。"
        '只用 JSON 回答：{"equation": "N0 + N1"}',
        "答案是 {answer}。",
    ),
}


def conversation(problem: Asked, solved: Sequence[Solved], show_answer: bool) -> list[Message]:
    """The messages that ask for the equation of a problem; the solved problem most like it comes last."""
    words = WORDS.get(problem.lang, _ENGLISH)
    messages = [_message("system", words.system)]
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
    words = WORDS.get(problem.lang, _ENGLISH)
    return f"{text}\n{words.answer.format(answer=f'{problem.answer:.12g}')}"


def marked(problem: Asked) -> str:
    """The text with the name of each number after it: 76 [N0]."""
    parts, done = [], 0
    for i, operand in enumerate(problem.operands):
        parts += [problem.text[done : operand.end], f" [N{i}]"]
        done = operand.end
    return "".join([*parts, problem.text[done:]])


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}
