"""Whether an equation fits its problem: the check for gold data, annotators and the command line."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from toolkit.equations.bind import bind
from toolkit.equations.classes import klass
from toolkit.equations.evaluate import Number, as_float, evaluate, reaches
from toolkit.equations.parse import parse
from toolkit.equations.show import show_unlike, show_value
from toolkit.equations.tree import DEFAULT_CONSTANTS, Constant, EquationError, Expr


@dataclass(frozen=True, slots=True)
class Verdict:
    """`ok`, or `reason` says in one sentence what is wrong.

    The other fields are filled as far as possible, also if the verdict is not ok: `value` of the equation
    as written, `templates` (all bindings, the likeliest first), `klass` of the first template.
    """

    ok: bool
    reason: str
    value: float | None = None
    templates: tuple[Expr, ...] = ()
    klass: int | None = None
    gives_answer: bool = False


def verify(
    equation: str,
    numbers: Sequence[Fraction],
    answer: float | None = None,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
    *,
    more_constants: bool = False,
) -> Verdict:
    """Whether a written equation parses, uses numbers of the problem and constants, and gives the answer.

    `more_constants` as in `bind`.
    """
    try:
        tree = parse(equation)
        value = evaluate(tree, numbers)
    except EquationError as error:
        return Verdict(False, f"the equation can't be used: {error}")
    gives_answer = answer is not None and reaches(tree, numbers, answer)
    try:
        templates = tuple(bind(tree, numbers, constants, more_constants=more_constants))
    except EquationError as error:
        return Verdict(False, str(error), value=as_float(value), gives_answer=gives_answer)
    ok = answer is None or gives_answer
    reason = "" if answer is None or gives_answer else unlike_answer(value, answer)
    return Verdict(ok, reason, as_float(value), templates, klass(templates[0]), gives_answer)


def unlike_answer(value: Number, answer: float) -> str:
    """The reason for a verdict on an equation that gives another value than the answer."""
    wanted = Fraction(repr(float(answer))) if math.isfinite(answer) else answer
    return f"it gives {show_unlike(value, wanted)}, but the answer is {show_value(wanted)}"
