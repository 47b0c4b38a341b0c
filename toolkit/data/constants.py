"""V_const that finds itself: which constants the answers of a problem set ask for.

A constant reaches many answers by luck: 3 reaches about as many as 100 does. What tells them apart is
whether held-out answers profit. The solver of `toolkit.data.neighbours` is run with a constant and without
it. It wins answers that were wrong before, if problems that read alike agree on a class that needs the
constant; it loses answers if luck misleads it. The best constant is kept if it gains enough, and more than
any of the DECOYS, numbers that no school book asks for. Then the next one is tried, beside those kept.

Equations may add a result to itself, so twice or four times something needs no constant: N0 + N1 + N0 + N1.
Gold equations count only where the caller allows it. Roots are not looked for.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any, Final

import numpy as np

from toolkit.data.neighbours import Hits, Ints, Neighbours, neighbours, predict
from toolkit.data.problems import ProblemSet
from toolkit.data.split import shuffled
from toolkit.equations import (
    ONE,
    Candidate,
    Const,
    Constant,
    EquationError,
    Expr,
    Op,
    Pi,
    klasses,
    parse,
    parse_constant,
    search,
    show,
    verify,
)
from toolkit.equations.tree import postorder
from toolkit.errors import WarmkitError
from toolkit.storage.description import write_description

AUTO: Final = "auto"  # in place of a list of constants: choose them
SCHOOL = (2, 3, 4, 5, 7, 10, 12, 24, 30, 52, 60, 100, 180, 360, 365, 1000)
DECOYS = (11, 13, 17, 19, 23, 29, 37, 53, 97, 103)
OPERATORS = 2  # of a template with a constant: N0 / N1 * 100, N0 / 2 - N1
LEAST_GAIN = 4  # held-out answers; decoys gain 2 at most, on every set that was tried
NEARLY = 0.8  # of what the best wins: the smallest such constant goes first, because 2 + 2 is 4
LEAST_GOLD = 3  # gold equations that use a constant, and
LEAST_GOLD_SHARE = 0.005  # their share: misread numbers of a text look like rare constants
MOST_PROBLEMS = 1_500  # of a larger set, so many are drawn
TO_SEARCH = len(SCHOOL) + len(DECOYS)


@dataclass(frozen=True)
class Evidence:
    """What speaks for a constant, beyond those that were chosen before it."""

    constant: str
    chosen: bool = False
    opened: int = 0  # problems whose answer nothing reached before, and that it reaches
    won: int = 0  # held-out answers that are right with it only
    lost: int = 0  # held-out answers that are right without it only
    chance: int = 0  # what the best decoy won
    template: str | None = None  # of the class that won most
    in_class: int = 0  # what that class won
    gold: int = 0  # gold equations that use it

    @property
    def gain(self) -> int:
        return self.won - self.lost

    @property
    def is_enough(self) -> bool:
        return self.gain >= LEAST_GAIN and self.gain > self.chance

    @property
    def p_value(self) -> float:
        """That it wins so much by tossing coins (sign test, exact)."""
        tried = self.won + self.lost
        return float(Fraction(sum(comb(tried, won) for won in range(self.won, tried + 1)), 2**tried))

    @property
    def reason(self) -> str:
        """Why it was chosen, in a few words."""
        if self.gold:
            return f"{self.constant} is in {self.gold:,} gold equations"
        return f"{self.constant} wins {self.won:,} held-out answers and loses {self.lost:,}"


@dataclass(frozen=True)
class ConstantChoice:
    """V_const, and why."""

    constants: tuple[Constant, ...]  # by size, π last
    evidence: tuple[Evidence, ...]  # for those that were found, then for the others, the strongest first
    problems: int  # that were looked at

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(show(constant) for constant in self.constants)

    @property
    def found(self) -> tuple[Evidence, ...]:
        return tuple(row for row in self.evidence if row.chosen)

    def sentence(self) -> str:
        """What was chosen and why, in one line."""
        names = ", ".join(self.names)
        if not self.found:
            return f"constants {names}: no other constant would win answers"
        return f"constants {names}: {'; '.join(row.reason for row in self.found)}"

    def save(self, folder: Path) -> None:
        """Beside the model that is trained with these constants."""
        write_description(folder / "constants.json", self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "constants": list(self.names),
            "problems": self.problems,
            "evidence": [{**asdict(row), "gain": row.gain, "p_value": row.p_value} for row in self.evidence],
        }

    @classmethod
    def of(cls, constants: Iterable[str], evidence: Iterable[Evidence], problems: int) -> "ConstantChoice":
        """A choice that was written down."""
        return cls(tuple(map(parse_constant, constants)), tuple(evidence), problems)


@dataclass(frozen=True)
class _Tried:
    """A constant that is tried: what its templates reach, and a template of each class."""

    constant: Const
    hits: Hits
    templates: dict[int, Expr]


def choose_constants(
    problems: ProblemSet,
    gold: Collection[str] = (),
    seed: int = 0,
    advance: Callable[[int], object] = lambda count: None,
) -> ConstantChoice:
    """The constants of the problem set and of D_s, and those that its answers ask for besides.

    `gold` are the ids of the problems whose equations may be used too; by default none is looked at. `seed`
    draws the problems of a large set. `advance` is called with the number of constants that were searched
    with since the last call, `TO_SEARCH` in all.
    """
    in_gold = _in_gold(problems, gold)
    base = (*problems.constants, *in_gold)
    chosen = [Evidence(show(constant), True, gold=count) for constant, count in in_gold.items()]
    drawn = problems.take([problems.row[name] for name in shuffled(problems.ids, seed)[:MOST_PROBLEMS]])
    if len(drawn) < 2:
        return ConstantChoice(_by_size(base), tuple(chosen), len(drawn))
    near, hits = neighbours(drawn), _hits_without(drawn, base)
    tried = []
    for value in (*SCHOOL, *DECOYS):
        if Const(Fraction(value)) not in base:
            tried.append(_try(Const(Fraction(value)), drawn))
        advance(1)
    while True:
        before = predict(hits, near)
        compared = {one.constant: _compare(hits, before, one, near) for one in tried}
        chance = max((row.won for constant, row in compared.items() if constant.value in DECOYS), default=0)
        rows = [
            (one, replace(compared[one.constant], chance=chance))
            for one in tried
            if one.constant.value in SCHOOL
        ]
        rows.sort(key=lambda pair: (-pair[1].won, pair[1].lost))
        enough = [pair for pair in rows if pair[1].is_enough]
        if not enough:
            rest = [row for _, row in rows]
            return ConstantChoice(_by_size(base), (*chosen, *rest), len(drawn))
        best = [pair for pair in enough if pair[1].won >= NEARLY * enough[0][1].won]
        one, row = min(best, key=lambda pair: pair[0].constant.value)
        chosen.append(replace(row, chosen=True))
        base, hits = (*base, one.constant), hits | one.hits
        tried.remove(one)


def parse_constants(names: Sequence[str]) -> tuple[Constant, ...]:
    """Constants as people write them: ["1", "100", "π"]."""
    try:
        return tuple(parse_constant(name) for name in names)
    except EquationError as error:
        raise WarmkitError(f"{', '.join(names)[:80]}: {error}. Constants are numbers, or π.") from None


def with_constants_of(problems: ProblemSet, templates: Iterable[Expr], from_gold: bool = False) -> ProblemSet:
    """The problem set with the constants of templates, and of its gold equations if wanted, and its own."""
    constants = joined(problems.constants, templates)
    if from_gold:
        constants = joined(constants, _in_gold(problems, problems.ids))
    return problems.with_constants(constants)


def joined(constants: Sequence[Constant], templates: Iterable[Expr]) -> tuple[Constant, ...]:
    """Constants, and those that templates use besides: as they are given if there are no others."""
    nodes = (node for template in templates for node in postorder(template))
    used: set[Constant] = {node for node in nodes if isinstance(node, Const | Pi)}
    return tuple(constants) if used <= set(constants) else _by_size(used.union(constants))


def _by_size(constants: Iterable[Constant]) -> tuple[Constant, ...]:
    return tuple(sorted(constants, key=lambda one: (isinstance(one, Pi), getattr(one, "value", 0))))


def _in_gold(problems: ProblemSet, gold: Collection[str]) -> dict[Const, int]:
    """Constants that gold equations use although the text does not have them → equations, most used first."""
    uses: Counter[Const] = Counter()
    equations = 0
    for row in map(problems.row.__getitem__, gold):
        verdict, equation = problems.gold_verdicts[row], problems.table["equation"][row]
        equations += verdict is not None
        if verdict is None or verdict.ok:
            continue
        numbers = problems.numbers[row]
        try:
            missing = {leaf for leaf in postorder(parse(equation)) if isinstance(leaf, Const)}
        except EquationError:
            continue
        missing -= {Const(Fraction(number)) for number in numbers} | set(problems.constants)
        if verify(equation, numbers, problems.answers[row], (*problems.constants, *missing)).ok:
            uses.update(missing)
    enough = max(LEAST_GOLD, LEAST_GOLD_SHARE * equations)
    ranked = sorted(uses.items(), key=lambda use: (-use[1], use[0].value))
    return {constant: count for constant, count in ranked if count >= enough}


def _hits_without(problems: ProblemSet, constants: Sequence[Constant]) -> Hits:
    """What the constants so far reach. 1 stands once: who adds ones to make a number wants that number."""

    def has_one_once(template: Expr) -> bool:
        return sum(node == ONE for node in postorder(template)) < 2

    found = search(problems.numbers, problems.answers, 3, constants, reuse=1)
    hits = Hits.of(found, problems, has_one_once)
    for times in (2, 4):  # a result that is added to itself, once or twice
        parts = [answer / times for answer in problems.answers]
        found = search(problems.numbers, parts, 2, (ONE,), reuse=1)
        hits |= Hits.of([_multiples(candidates, times) for candidates in found], problems, has_one_once)
    return hits


def _multiples(candidates: Sequence[Candidate], times: int) -> list[Candidate]:
    templates = [Op("*", candidate.template, Const(Fraction(times))) for candidate in candidates]
    return [Candidate(*pair) for pair in zip(templates, klasses(templates), strict=True)]


def _try(constant: Const, problems: ProblemSet) -> _Tried:
    """What templates with a constant reach. It may stand in them twice, each number once."""
    found = search(problems.numbers, problems.answers, OPERATORS, (constant, constant))
    with_it = [
        [candidate for candidate in candidates if constant in postorder(candidate.template)]
        for candidates in found
    ]
    templates = {candidate.klass: candidate.template for candidates in with_it for candidate in candidates}
    return _Tried(constant, Hits.of(with_it, problems), templates)


def _compare(hits: Hits, before: Ints, tried: _Tried, near: Neighbours) -> Evidence:
    """What held-out answers gain and lose by a constant; `before` is what is predicted without it."""
    both = hits | tried.hits
    after = predict(both, near)
    was_right, is_right = hits.include(before), both.include(after)
    won = is_right & ~was_right & ~hits.include(after)
    opened = np.setdiff1d(tried.hits.rows, hits.rows)
    ((klass, in_class),) = Counter(after[won].tolist()).most_common(1) or [(None, 0)]
    return Evidence(
        show(tried.constant),
        opened=len(opened),
        won=int(won.sum()),
        lost=int((was_right & ~is_right).sum()),
        template=None if klass is None else show(tried.templates[klass]),
        in_class=in_class,
    )
