"""How far annotators can be trusted: agreement, gold questions, habits, and votes that count by reliability.

Pure functions. An answer is a set of classes: everything that an equation may mean. Where one label is
needed, it is the class that most annotators of the problem may mean (`labels_of`).

- Agreement of one with the others: Cohen's κ (1960) over classes. Of all: Krippendorff's α (2004), nominal.
  Intervals are percentiles of a bootstrap over problems.
- Reliability: the one-coin model of Dawid and Skene (1979). An annotator is right with one probability,
  whatever the problem, and otherwise gives any of the other answers. It is fitted to the agreement of pairs
  and to gold questions: EM takes sides where each problem has two answers, moments do not.
- `is_unreliable`: more gold questions are wrong than the tolerated error rate explains.
- `position_p_value`: somebody who always picks the first candidate. Candidates stand in a random order.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Classes = frozenset[int]
Answers = Mapping[str, Mapping[str, Classes]]  # problem → annotator → what the equation may mean
Labels = Mapping[str, Mapping[str, int]]  # problem → annotator → one class

RESAMPLES = 500
TOLERATED = 0.2  # share of gold questions that a reliable annotator may get wrong
FEWEST_GOLD = 3  # gold questions: after two, nobody is judged
SIGNIFICANT = 0.05  # a chance below this is none, for gold questions
SAME_PLACE = 0.001  # and for picking always the same position, which is looked at again and again
BOTH = 0.01  # and for both together
USUAL = 0.85  # accuracy that everybody is believed to have, as if
USUAL_ANSWERS = 4  # so many answers had shown it
WRONG_ANSWERS = 3  # that a problem is believed to have
ROUNDS = 100  # of fitting; ten are enough for most teams
_GRID = np.linspace(0.02, 0.98, 193)  # of accuracies
DECIDED = 0.8  # probability from which on weighted votes settle a disagreement


@dataclass(frozen=True)
class Agreement:
    """An agreement beyond chance, with its 95 % interval, and the number of pairs that it is made of."""

    value: float
    low: float
    high: float
    pairs: int


def labels_of(answers: Answers) -> dict[str, dict[str, int]]:
    """One class for each answer: of those that it may mean, the one that most of its problem may mean."""
    found: dict[str, dict[str, int]] = {}
    for problem_id, by_annotator in answers.items():
        support = Counter(meaning for classes in by_annotator.values() for meaning in classes)
        found[problem_id] = {
            name: max(classes, key=lambda meaning: (support[meaning], meaning))
            for name, classes in by_annotator.items()
            if classes
        }
    return found


def kappa(labels: Labels, name: str, rng: np.random.Generator) -> Agreement | None:
    """Cohen's κ of one annotator with all others who answered the same problems; None if nobody did."""
    shared = [
        [(by_annotator[name], other) for who, other in by_annotator.items() if who != name]
        for by_annotator in labels.values()
        if name in by_annotator and len(by_annotator) > 1
    ]
    return _with_interval(shared, _kappa, rng)


def alpha(labels: Labels, rng: np.random.Generator) -> Agreement | None:
    """Krippendorff's α of all annotators; None if no problem has two answers."""
    shared = [list(by_annotator.values()) for by_annotator in labels.values() if len(by_annotator) > 1]
    return _with_interval(shared, _alpha, rng)


Unit = TypeVar("Unit", bound=Sequence[object])


def _with_interval(
    units: Sequence[Unit], measure: Callable[[Sequence[Unit]], float], rng: np.random.Generator
) -> Agreement | None:
    if not units:
        return None
    drawn = [measure([units[i] for i in rng.integers(len(units), size=len(units))]) for _ in range(RESAMPLES)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Agreement(measure(units), float(low), float(high), sum(map(len, units)))


def _kappa(shared: Sequence[Sequence[tuple[int, int]]]) -> float:
    pairs = [pair for of_problem in shared for pair in of_problem]
    mine, others = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    observed = sum(first == second for first, second in pairs) / len(pairs)
    chance = sum(mine[label] * others[label] for label in mine) / len(pairs) ** 2
    return _beyond_chance(1 - observed, 1 - chance)


def _alpha(units: Sequence[Sequence[int]]) -> float:
    counts = Counter(label for unit in units for label in unit)
    total = counts.total()
    disagreeing = 0.0
    for unit in units:
        same = sum(count * (count - 1) for count in Counter(unit).values())
        disagreeing += (len(unit) * (len(unit) - 1) - same) / (len(unit) - 1)
    expected = total * (total - 1) - sum(count * (count - 1) for count in counts.values())
    return _beyond_chance(disagreeing / total, expected / (total * (total - 1)))


def _beyond_chance(observed: float, expected: float) -> float:
    """1 minus observed over expected disagreement; all agree if nothing else could be expected."""
    return 1 - observed / expected if expected else 1.0


def gold_p_value(right: int, asked: int, tolerated: float = TOLERATED) -> float:
    """The chance that so many gold questions are wrong at the tolerated error rate (binomial, exact)."""
    return sum(
        math.comb(asked, k) * tolerated**k * (1 - tolerated) ** (asked - k)
        for k in range(asked - right, asked + 1)
    )


def is_unreliable(right: int, asked: int) -> bool:
    """Whether the tolerated error rate can't explain how many gold questions are wrong."""
    return asked >= FEWEST_GOLD and gold_p_value(right, asked) < SIGNIFICANT


def combined_p_value(first: float, second: float) -> float:
    """The chance of two independent findings together (Fisher 1932)."""
    product = first * second
    return product * (1 - math.log(product)) if product else 0.0


def position_p_value(picks: Sequence[tuple[int, int]]) -> float:
    """The chance that so many picks fall on one position: (position, candidates shown) of each pick.

    Exact for the position that is picked most, times the number of positions: any of them would be a habit.
    """
    picks = [(position, shown) for position, shown in picks if shown > 1]
    if not picks:
        return 1.0
    ((position, most),) = Counter(position for position, _ in picks).most_common(1)
    chances = np.array([1.0])  # of 0, 1, … hits so far
    for _, shown in picks:
        hit = 1 / shown if position < shown else 0.0
        chances = np.append(chances * (1 - hit), 0.0) + np.append(0.0, chances * hit)
    positions = max(shown for _, shown in picks)
    return min(1.0, positions * float(chances[most:].sum()))


@dataclass(frozen=True)
class Consensus:
    """How often each annotator is right, as all answers together tell."""

    accuracy: Mapping[str, float]

    def weight(self, name: str) -> float:
        """The vote of an annotator as log-odds; somebody who only guesses has none."""
        accuracy = self.accuracy.get(name, USUAL)
        return max(0.0, math.log(accuracy * WRONG_ANSWERS / (1 - accuracy)))


def consensus(labels: Labels, gold: Mapping[str, Collection[int]] | None = None) -> Consensus:
    """The accuracies that explain best how often annotators agree with each other and with gold questions.

    Two that are right with a and b agree in a b + (1 - a) (1 - b) / WRONG_ANSWERS of their problems. Fitted
    by least squares; everybody is believed to be as good as usual before they answer. `gold`: problem →
    classes that are right.
    """
    gold = gold or {}
    names = sorted({name for votes in labels.values() for name in votes})
    shared, agreed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    asked, right = Counter[str](), Counter[str]()
    for problem_id, votes in labels.items():
        for name, label in votes.items():
            if problem_id in gold:
                asked[name] += 1
                right[name] += label in gold[problem_id]
                continue
            for other, theirs in votes.items():
                if other != name:
                    shared[name, other] += 1
                    agreed[name, other] += label == theirs
    told = [name for name in names if asked[name] or any(shared[name, other] for other in names)]
    accuracy = dict.fromkeys(told, USUAL)
    for _ in range(ROUNDS):
        before = dict(accuracy)
        for name in told:
            loss = USUAL_ANSWERS * (_GRID - USUAL) ** 2
            if asked[name]:
                loss = loss + asked[name] * (_GRID - right[name] / asked[name]) ** 2
            for other in told:
                if count := shared[name, other]:
                    expected = _GRID * before[other] + (1 - _GRID) * (1 - before[other]) / WRONG_ANSWERS
                    loss = loss + count * (expected - agreed[name, other] / count) ** 2
            # Half a step, all at once: the order of names must not take sides.
            accuracy[name] = (before[name] + float(_GRID[int(np.argmin(loss))])) / 2
        if max((abs(accuracy[name] - before[name]) for name in told), default=0.0) < 1e-4:
            break
    return Consensus(accuracy)
