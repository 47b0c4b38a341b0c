"""The judgement of each response, whoever sent it, and of several annotators' responses to one problem.

Pure functions: the terminal calls `judge` at the prompt, the loop calls it on everything that arrives.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from toolkit.annotators.questions import Response
from toolkit.annotators.reliability import DECIDED
from toolkit.equations import (
    Const,
    Constant,
    EquationError,
    Expr,
    NotInProblem,
    Pi,
    Verdict,
    as_float,
    evaluate,
    klass,
    klasses,
    parse,
    reaches,
    show,
    show_value,
    unlike_answer,
    verify,
)
from toolkit.equations.readings import FACTORS
from toolkit.equations.tree import postorder, references

AnnotationVerdict = Literal["accepted", "rejected", "disputed", "skipped"]

MOST_NUMBERS = 12  # that a reason lists
MOST_SHOWN = 80  # characters of a written equation that a reason repeats


@dataclass(frozen=True, slots=True)
class Judgement:
    """`reason` is for the annotator: what is wrong, and what to do. It is empty if accepted."""

    verdict: AnnotationVerdict
    reason: str = ""
    equation: str | None = None  # as written or shown, trimmed
    templates: tuple[Expr, ...] = ()  # of an accepted equation: one for each class, the likeliest first
    klasses: frozenset[int] = frozenset()  # their classes: everything that the equation may mean

    @property
    def template(self) -> Expr | None:
        """The likeliest template."""
        return self.templates[0] if self.templates else None


def judge(
    response: Response,
    numbers: Sequence[Fraction],
    answer: float,
    constants: Sequence[Constant],
    more_constants: bool = True,
) -> Judgement:
    """The judgement of a response to a problem with these numbers and this answer. Never raises.

    A written equation may mean each template that its text can be bound to. A picked candidate means its
    own template and no other. With `more_constants` an equation may use a small constant that is not in
    V_const: what people use joins it (see `toolkit.equations.readings`).
    """
    note = (response.note or "").strip()
    if response.kind == "skip":
        return Judgement("skipped", note)
    if response.kind == "wrong_answer":
        return Judgement("disputed", note or "The answer key is said to be wrong, without a reason.")
    equation = (response.equation or response.template or "").strip()
    if not equation:
        return Judgement("rejected", "There is no equation. Write one, or skip the problem.", equation)
    try:
        if response.template is None:
            verdict = verify(equation, numbers, answer, constants, more_constants=more_constants)
        else:
            usable = (*constants, *map(Const, FACTORS)) if more_constants else constants
            verdict = _verify_template(response.template, numbers, answer, usable)
    except (ValueError, ArithmeticError):  # nothing that a person can type may stop the loop
        verdict = Verdict(False, "the equation can't be used: it has no value")
    # A literal 1 may be the constant or a number of the text; only what refers to the text is meant.
    templates = tuple(template for template in verdict.templates if references(template))
    if verdict.ok and templates:
        return Judgement("accepted", "", equation, templates, frozenset(klasses(templates)))
    return Judgement("rejected", _complaint(equation, verdict, numbers, answer, constants), equation)


def _verify_template(
    template: str, numbers: Sequence[Fraction], answer: float, constants: Sequence[Constant]
) -> Verdict:
    """As `verify`, for what is a template already: none of its literals is bound to a number of the text."""
    try:
        tree = parse(template)
        value = evaluate(tree, numbers)
    except EquationError as error:
        return Verdict(False, f"the candidate can't be used: {error}")
    for leaf in postorder(tree):
        if isinstance(leaf, Const) and leaf not in constants:
            return Verdict(False, str(NotInProblem(leaf.value)), as_float(value))
        if isinstance(leaf, Pi) and leaf not in constants:
            return Verdict(False, "π is not a constant here", as_float(value))
    ok = reaches(tree, numbers, answer)
    reason = "" if ok else unlike_answer(value, answer)
    return Verdict(ok, reason, as_float(value), (tree,), klass(tree), ok)


def _complaint(
    equation: str,
    verdict: Verdict,
    numbers: Sequence[Fraction],
    answer: float,
    constants: Sequence[Constant],
) -> str:
    """What is wrong with a rejected equation, and what to do about it."""
    if verdict.value is None:
        return f"{_sentence(verdict.reason)} Write it with numbers, + - * / ^ and brackets."
    if not verdict.templates:
        if _is_literal(equation):
            return (
                f"This is only a number: write how {answer:.12g} comes from the numbers of the problem "
                f"({_listed(numbers)})."
            )
        return (
            f"{_sentence(verdict.reason)} Use its numbers ({_listed(numbers)})"
            f"{_allowed(constants)}, or skip it."
        )
    if not any(references(template) for template in verdict.templates):
        return f"It uses none of the problem's numbers. Write it with them ({_listed(numbers)})."
    return f"{_sentence(verdict.reason)} Correct the equation, or say that the answer key is wrong."


def _sentence(reason: str) -> str:
    short = reason if len(reason) <= 3 * MOST_SHOWN else f"{reason[: 3 * MOST_SHOWN]}…"
    first = short[:1].upper() if short[:1].isascii() else short[:1]  # π stays π
    return f"{first}{short[1:]}."


def _is_literal(equation: str) -> bool:
    try:
        return isinstance(parse(equation), Const)
    except EquationError:
        return False


def _listed(numbers: Sequence[Fraction]) -> str:
    rest = ", …" if len(numbers) > MOST_NUMBERS else ""
    return ", ".join(show_value(value) for value in numbers[:MOST_NUMBERS]) + rest


def _allowed(constants: Sequence[Constant]) -> str:
    return f" and the constants {', '.join(show(constant) for constant in constants)}" if constants else ""


Agreement = Literal["agreed", "majority", "disagreement", "none"]


@dataclass(frozen=True, slots=True)
class Adjudication:
    """What several annotators agree on. `equation` and `template` are set if agreed or by majority."""

    agreement: Agreement  # none: nobody's equation was accepted
    reason: str = ""  # a sentence if not everybody agreed: who wrote what
    equation: str | None = None
    template: Expr | None = None
    klasses: frozenset[int] = frozenset()  # what all of the winning equations may mean
    annotators: tuple[str, ...] = ()  # who wrote an equation of those classes


def adjudicate(
    judgements: Mapping[str, Judgement], weights: Mapping[str, float] | None = None
) -> Adjudication:
    """One equation out of the accepted ones, given by annotator; other judgements have no vote.

    Equations agree if there is a class that all of them may mean. A class that more than half of the
    annotators may mean wins. If none does, or if two do with different annotators behind them, the
    problem is a disagreement, to be kept aside. The order of the mapping doesn't matter.

    With `weights`, the log-odds that each annotator is right (`reliability.Consensus.weight`), a disagreement
    is settled by the class that is right with a probability of DECIDED or more, whoever is behind it.
    """
    accepted = {
        name: judgements[name] for name in sorted(judgements) if judgements[name].verdict == "accepted"
    }
    if not accepted:
        return Adjudication("none")
    supporters = {
        meaning: tuple(name for name, judgement in accepted.items() if meaning in judgement.klasses)
        for meaning in frozenset[int]().union(*(judgement.klasses for judgement in accepted.values()))
    }
    most = max(map(len, supporters.values()))
    sides = {names for names in supporters.values() if len(names) == most}
    if weights is not None and most < len(accepted):
        sides = _weightiest(set(supporters.values()), weights)
    elif 2 * most <= len(accepted):
        sides = set()
    if len(sides) != 1:
        return Adjudication("disagreement", f"The annotators disagree: {_who_wrote_what(accepted)}.")
    (winners,) = sides
    shared = frozenset(meaning for meaning, names in supporters.items() if names == winners)
    most = len(winners)
    spokesperson = accepted[winners[0]]
    return Adjudication(
        "agreed" if most == len(accepted) else "majority",
        "" if most == len(accepted) else f"Not all agreed: {_who_wrote_what(accepted)}.",
        spokesperson.equation,
        next(template for template in spokesperson.templates if klass(template) in shared),
        shared,
        winners,
    )


def _weightiest(sides: set[tuple[str, ...]], weights: Mapping[str, float]) -> set[tuple[str, ...]]:
    """The side that is right with a probability of DECIDED or more; none if there is no such side."""
    largest = [side for side in sides if not any(set(side) < set(other) for other in sides)]
    odds = {side: math.exp(sum(weights.get(name, 0.0) for name in side)) for side in largest}
    return {side for side, share in odds.items() if share >= DECIDED * sum(odds.values())}


def _who_wrote_what(accepted: Mapping[str, Judgement]) -> str:
    return "; ".join(
        f"{name} wrote {(judgement.equation or '')[:MOST_SHOWN]}" for name, judgement in accepted.items()
    )
