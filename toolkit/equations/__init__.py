"""Equations: trees, the parser, exact values, classes, binding, forms and exhaustive search."""

from toolkit.equations.bind import NotInProblem, bind, over_values
from toolkit.equations.classes import klass, klasses
from toolkit.equations.evaluate import PI_READINGS, Number, as_float, evaluate, matches, reaches, tolerance
from toolkit.equations.forms import Step, canonical, commuted, from_prefix, from_steps, to_prefix, to_steps
from toolkit.equations.parse import parse, parse_constant, parse_template
from toolkit.equations.search import Candidate, search
from toolkit.equations.show import draw, latex, show, show_number, show_value
from toolkit.equations.tree import (
    DEFAULT_CONSTANTS,
    ONE,
    PI,
    Const,
    Constant,
    EquationError,
    Expr,
    Op,
    Pi,
    Ref,
    TooLarge,
    count_operators,
)
from toolkit.equations.verify import Verdict, unlike_answer, verify

__all__ = [
    "DEFAULT_CONSTANTS",
    "ONE",
    "PI",
    "PI_READINGS",
    "Candidate",
    "Const",
    "Constant",
    "EquationError",
    "Expr",
    "NotInProblem",
    "Number",
    "Op",
    "Pi",
    "Ref",
    "Step",
    "TooLarge",
    "Verdict",
    "as_float",
    "bind",
    "canonical",
    "commuted",
    "count_operators",
    "draw",
    "evaluate",
    "from_prefix",
    "from_steps",
    "klass",
    "klasses",
    "latex",
    "matches",
    "over_values",
    "parse",
    "parse_constant",
    "parse_template",
    "reaches",
    "search",
    "show",
    "show_number",
    "show_value",
    "to_prefix",
    "to_steps",
    "tolerance",
    "unlike_answer",
    "verify",
]
