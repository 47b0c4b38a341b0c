"""Which numbers belong together: 36 boxes in cases of 12 come out even, 36 dollars and 7 weeks do not.

A network reads masked numbers. It can't see that 12 divides 36, which is rare by chance, and nearly always so
where somebody divides. Some traits of every step of an equation (an operator with the values of its operands)
are looked at: what kind of value it comes to, whether the text has that value already, how large the smaller
operand is, and how many times larger the other one. What counts is how often the equations to learn have
steps with a trait, and how often any two numbers of the same texts have it by chance. The logarithms of the
ratios are added up over the traits of a step (naive Bayes), and over the steps of an equation.

Powers, and steps with a constant for an operand, say nothing: it is not known which there are by chance.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import permutations

from toolkit.equations import Const, Expr, Pi, Ref, as_float
from toolkit.equations.evaluate import Number
from toolkit.solvers.plausibility import NEAR, is_whole, kind_of

OPERATORS = "+-*/"
VALUES = {"value": 10, "given": 2, "smaller": 9, "ratio": 7}  # how many each trait has, about
BY_CHANCE = 2.0  # steps with each value of a trait, besides those that are counted
BELIEVED = 12.0  # steps to learn that have a trait as by chance, besides those that are counted
MOST_NUMBERS = 12  # of a problem, to take any two of
MOST_STEPS = 200_000  # by chance: more are not needed to know how rare a trait is

Step = tuple[str, float, float]  # operator, left and right operand
Learnt = tuple[Sequence[Number], Sequence[tuple[Expr, float]]]  # numbers; templates with their weights


class Coherence:
    """Log-likelihood ratios of traits by name, such as "/ value whole". What is unheard of says nothing."""

    def __init__(self, ratios: Mapping[str, float]) -> None:
        self.ratios = dict(ratios)

    @classmethod
    def fit(cls, problems: Iterable[Learnt]) -> "Coherence":
        """Of problems with the equations to learn."""
        learnt, chance = _Counts(), _Counts()
        for numbers, templates in problems:
            values = [as_float(number) for number in numbers]
            seen: set[Step] = set()
            for template, weight in templates:
                steps = steps_of(template, values)
                seen.update(steps)
                learnt.add(steps, values, weight)
            chance.add([step for step in _any_two(values) if step not in seen], values, 1.0)
            if chance.steps >= MOST_STEPS:
                break
        ratios = {}
        for name in {*learnt.of_trait, *chance.of_trait}:
            group = name.rpartition(" ")[0]
            rare = (chance.of_trait[name] + BY_CHANCE) / (
                chance.of_group[group] + BY_CHANCE * VALUES[group.partition(" ")[2]]
            )
            known = (learnt.of_trait[name] + BELIEVED * rare) / (learnt.of_group[group] + BELIEVED)
            ratios[name] = math.log(known / rare)
        return cls(dict(sorted(ratios.items())))

    def log_ratios(self, templates: Sequence[Expr], values: Sequence[float]) -> list[float]:
        """How much likelier the steps of each template are to belong together than any two numbers are.

        The templates are those of one problem, with these numbers: they have most of their steps in common.
        """

        @cache
        def of_step(step: Step) -> float:
            return sum(self.ratios.get(name, 0.0) for name in traits(step, values))

        return [sum(map(of_step, steps_of(template, values))) for template in templates]


class _Counts:
    """How often steps have a trait; its group is the operator and what the trait is about."""

    def __init__(self) -> None:
        self.of_trait: Counter[str] = Counter()
        self.of_group: Counter[str] = Counter()
        self.steps = 0

    def add(self, steps: Sequence[Step], values: Sequence[float], weight: float) -> None:
        self.steps += len(steps)
        for step in steps:
            for name in traits(step, values):
                self.of_trait[name] += weight  # type: ignore[assignment]
                self.of_group[name.rpartition(" ")[0]] += weight  # type: ignore[assignment]


def traits(step: Step, values: Sequence[float]) -> Iterator[str]:
    """What is to be seen of a step in a problem with these numbers; nothing if it has no value."""
    operator, left, right = step
    value = _apply(operator, left, right)
    if not math.isfinite(value):
        return
    small, large = sorted((abs(left), abs(right)))
    kind = kind_of(value) + ("" if is_whole(left) and is_whole(right) else "-of-broken")
    yield f"{operator} value {kind}"
    yield f"{operator} given {any(abs(number - value) < NEAR for number in values)}"
    yield f"{operator} smaller {_half_powers(small, -1, 7)}"
    yield f"{operator} ratio {_half_powers(large / small, 0, 5) if small > large * 1e-9 else 'zero'}"


def _half_powers(value: float, least: int, most: int) -> int:
    """Half powers of ten, rounded down: 0 from 1, 1 from 3.2, 2 from 10 on."""
    return max(least, min(most, math.floor(2 * math.log10(value)))) if value > 0 else least


def steps_of(template: Expr, values: Sequence[float]) -> list[Step]:
    """The steps that may say something, from the leaves up."""
    steps: list[Step] = []

    def value(node: Expr) -> float:
        if isinstance(node, Ref):
            return values[node.index]
        if isinstance(node, Const | Pi):
            return math.pi if isinstance(node, Pi) else as_float(node.value)
        left, right = value(node.left), value(node.right)
        if (
            not isinstance(node.left, Const | Pi)
            and not isinstance(node.right, Const | Pi)
            and node.op != "^"
        ):
            steps.append(_step(node.op, left, right))
        return _apply(node.op, left, right)

    value(template)
    return steps


def _any_two(values: Sequence[float]) -> Iterator[Step]:
    """Each step of two numbers once."""
    some = values[:MOST_NUMBERS]
    for (i, left), (j, right) in permutations(enumerate(some), 2):
        for operator in OPERATORS:
            if operator in "-/" or i < j:
                yield _step(operator, left, right)


def _step(operator: str, left: float, right: float) -> Step:
    """Operands of sums and products are in order, so that the same step is known again."""
    return (operator, right, left) if operator in "+*" and right < left else (operator, left, right)


def _apply(operator: str, left: float, right: float) -> float:
    try:
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case _:
                power = left**right
                return power if isinstance(power, float) else math.nan  # of what is negative
    except ArithmeticError:  # by zero, or too large
        return math.nan
