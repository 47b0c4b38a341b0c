"""Exhaustive search: every non-equivalent expression over a problem's numbers that gives its answer.

Over m numbers, each used once, there are 1, 6, 68, 1170, 27142 different functions for m = 1 … 5 that
+ - * / can make (OEIS A140606). `patterns(m)` lists them once, as a program of rows: each row combines
two earlier rows. A search is then arithmetic on arrays: for every choice of m leaves out of a problem's
numbers and constants, and for all problems with equally many numbers at the same time, it runs the
program and looks which rows are near the answer. Those are checked in fractions: `reaches` decides.

A choice may hold a number twice (`reuse`) or a constant, which makes some patterns equal to others:
N0 * 1 is N0. `_kept` removes those beforehand, once for each shape of a choice, so that almost nothing is
computed twice. The operators are + - * /; a square is a number used twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations_with_replacement
from math import comb
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from toolkit.equations.classes import UNDEFINED, klass, klasses
from toolkit.equations.evaluate import PI_READINGS, Number, as_float, reaches, tolerance
from toolkit.equations.show import needs_brackets
from toolkit.equations.tree import DEFAULT_CONSTANTS, Const, Constant, Expr, Op, Operator, Pi, Ref

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.intp]
Shape: TypeAlias = tuple[Expr, ...]  # the leaves of a choice, its numbers renamed N0, N1, … in order

MAX_OPERATORS = 4
MAX_EVALUATIONS = (
    100_000_000  # for one problem; a problem with too many numbers is searched with fewer operators
)

_SIGNS: tuple[Operator, ...] = ("+", "-", "*", "/")
_ARITHMETIC = (np.add, np.subtract, np.multiply, np.divide)
_BLOCK = 512  # columns evaluated at a time, so that their rows stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Candidate:
    """A template that reaches the answer, and its class."""

    template: Expr
    klass: int


@dataclass(frozen=True, slots=True)
class Level:
    """Rows that are computed together, sorted by operator: row i is left[i] op right[i]."""

    op: Ints
    left: Ints
    right: Ints

    def __len__(self) -> int:
        return len(self.op)

    def only(self, rows: Ints) -> "Level":
        return Level(self.op[rows], self.left[rows], self.right[rows])

    def run(self, below: Floats, out: Floats) -> None:
        """Fill out [rows, columns] from the rows below."""
        bounds = np.searchsorted(self.op, np.arange(len(_SIGNS) + 1))
        for arithmetic, start, stop in zip(_ARITHMETIC, bounds[:-1], bounds[1:], strict=True):
            arithmetic(below[self.left[start:stop]], below[self.right[start:stop]], out=out[start:stop])


@dataclass(frozen=True, slots=True)
class Patterns:
    """The functions of up to m leaves: rows 0 … m-1 are the leaves, then the functions level by level.

    The last level uses every leaf exactly once; the levels below hold its parts.
    """

    trees: tuple[Expr, ...]
    levels: tuple[Level, ...]


@cache
def patterns(m: int) -> Patterns:
    """The non-equivalent expressions over N0 … N(m-1), each used at most once."""
    rows_of: dict[int, list[int]] = {1 << j: [j] for j in range(m)}  # by the set of leaves used, as bits
    trees: list[Expr] = [Ref(j) for j in range(m)]
    levels = []
    for size in range(2, m + 1):
        subsets = [subset for subset in range(1 << m) if subset.bit_count() == size]
        rows = sorted(row for subset in subsets for row in _rows_over(subset, rows_of, trees))
        for op, left, right, subset in rows:
            rows_of.setdefault(subset, []).append(len(trees))
            trees.append(Op(_SIGNS[op], trees[left], trees[right]))
        op_column, left_column, right_column, _ = np.array(rows, dtype=np.intp).T
        levels.append(Level(op_column, left_column, right_column))
    return Patterns(tuple(trees), tuple(levels))


def _rows_over(
    subset: int, rows_of: dict[int, list[int]], trees: Sequence[Expr]
) -> list[tuple[int, int, int, int]]:
    """(operator, left row, right row, subset) for each class that uses all leaves of the subset.

    Each class is represented by its form with the fewest brackets; among equals, the first in reading order.
    """
    rows = []
    part = (subset - 1) & subset
    while part:  # every way to split the subset in two
        for left in rows_of[part]:
            for right in rows_of[subset ^ part]:
                rows += [(op, left, right, subset) for op in range(len(_SIGNS))]
        part = (part - 1) & subset
    written = [Op(_SIGNS[op], trees[left], trees[right]) for op, left, right, _ in rows]
    best: dict[int, tuple[int, tuple[int, int, int, int]]] = {}
    for class_, tree, row in zip(klasses(written), written, rows, strict=True):
        ranked = (_brackets(tree), row)
        best[class_] = min(best.get(class_, ranked), ranked)
    return [row for _, row in best.values()]


def _brackets(tree: Expr) -> int:
    """How many pairs of brackets a tree is written with."""
    if not isinstance(tree, Op):
        return 0
    own = needs_brackets(tree.op, tree.left, "left") + needs_brackets(tree.op, tree.right, "right")
    return own + _brackets(tree.left) + _brackets(tree.right)


def search(
    numbers: Sequence[Sequence[Number]],
    answers: Sequence[float],
    k: int = 3,
    constants: Sequence[Constant] = DEFAULT_CONSTANTS,
    reuse: int = 0,
) -> list[list[Candidate]]:
    """For each problem, the candidates with up to k operators: one per class, the shortest first.

    Each number and constant is used at most once, and `reuse` times one may be used again. A problem with
    very many numbers is searched with fewer operators (`depth_for`).
    """
    if not 0 <= k <= MAX_OPERATORS:
        raise ValueError(f"k must be between 0 and {MAX_OPERATORS}, not {k}")
    found: list[list[Candidate]] = [[] for _ in numbers]
    by_count: dict[int, list[int]] = {}
    for i, problem_numbers in enumerate(numbers):
        by_count.setdefault(len(problem_numbers), []).append(i)
    for n, problems in by_count.items():
        depth = depth_for(n, k, constants, reuse)
        candidates = _search_equal(
            [numbers[i] for i in problems], [answers[i] for i in problems], depth, tuple(constants), reuse
        )
        for i, problem_candidates in zip(problems, candidates, strict=True):
            found[i] = problem_candidates
    return found


def depth_for(n: int, k: int, constants: Sequence[Constant] = DEFAULT_CONSTANTS, reuse: int = 0) -> int:
    """The number of operators with which a problem of n numbers is searched if k are requested."""
    leaves = n + len(constants) + reuse
    while k > 1 and comb(leaves, k + 1) * _last(k + 1) > MAX_EVALUATIONS:
        k -= 1
    return k


def _search_equal(
    numbers: Sequence[Sequence[Number]],
    answers: Sequence[float],
    k: int,
    constants: tuple[Constant, ...],
    reuse: int,
) -> list[list[Candidate]]:
    """`search` for problems with equally many numbers."""
    n = len(numbers[0])
    values = np.array([[as_float(v) for v in each] for each in numbers]).reshape(len(numbers), n)
    targets = np.array(answers, dtype=float)
    limits = np.array([tolerance(answer) for answer in answers])
    found: list[dict[int, Candidate]] = [{} for _ in answers]
    for m in range(1, k + 2):
        for shape, choices in _choices(n, m, constants, reuse):
            readings = PI_READINGS if any(isinstance(leaf, Pi) for leaf in shape) else PI_READINGS[:1]
            for pi in readings:
                leaves = np.hstack([values, np.tile(_values(constants, float(pi)), (len(values), 1))])
                for row, choice, problem in _near(leaves, targets, limits, shape, choices):
                    candidate = _candidate(m, row, tuple(choices[choice].tolist()), n, constants)
                    if candidate.klass not in found[problem] and reaches(
                        candidate.template, numbers[problem], answers[problem]
                    ):
                        found[problem][candidate.klass] = candidate
    return [list(by_class.values()) for by_class in found]


def _values(constants: Sequence[Constant], pi: float) -> list[float]:
    return [as_float(constant.value) if isinstance(constant, Const) else pi for constant in constants]


@lru_cache(maxsize=256)
def _choices(n: int, m: int, constants: tuple[Constant, ...], reuse: int) -> list[tuple[Shape, Ints]]:
    """Every choice of m out of n numbers and the constants, as indices [choices, m], grouped by shape."""
    by_shape: dict[Shape, list[tuple[int, ...]]] = {}
    for choice in combinations_with_replacement(range(n + len(constants)), m):
        if m - len(set(choice)) > reuse or choice[0] >= n:  # it must hold a number of the problem
            continue
        names = {j: Ref(i) for i, j in enumerate(dict.fromkeys(choice))}
        shape = tuple(names[j] if j < n else constants[j - n] for j in choice)
        by_shape.setdefault(shape, []).append(choice)
    return [(shape, np.array(choices, dtype=np.intp)) for shape, choices in by_shape.items()]


@cache
def _kept(shape: Shape) -> Ints:
    """The rows of the last level that are new for a shape: no function of fewer leaves, no earlier row."""
    trees = patterns(len(shape)).trees
    start = len(trees) - _last(len(shape))
    classes = klasses(_substitute(tree, shape) for tree in trees)
    # A tree that keeps its class when its numbers are renamed does not depend on them: N0 / N0.
    renamed = [Ref(leaf.index + len(shape)) if isinstance(leaf, Ref) else leaf for leaf in shape]
    renamed_classes = klasses(_substitute(tree, renamed) for tree in trees)
    seen = {UNDEFINED, *classes[:start]} if start else {UNDEFINED}
    rows = []
    for row in range(start, len(trees)):
        if classes[row] not in seen and classes[row] != renamed_classes[row]:
            seen.add(classes[row])
            rows.append(row - start)
    return np.array(rows, dtype=np.intp)


def _last(m: int) -> int:
    """How many rows of patterns(m) use all m leaves."""
    return len(patterns(m).levels[-1]) if m > 1 else 1


def _near(
    leaves: Floats, targets: Floats, limits: Floats, shape: Shape, choices: Ints
) -> Iterator[tuple[int, int, int]]:
    """(row, choice, problem) for each kept row whose value, in floats, is near the answer of a problem."""
    kept = _kept(shape)
    if not len(kept):
        return
    program = list(patterns(len(shape)).levels)
    if program:
        program[-1] = program[-1].only(kept)
    buffer = np.empty((len(shape) + sum(len(level) for level in program), _BLOCK))
    columns = len(choices) * len(targets)
    with np.errstate(all="ignore"):  # a division by zero is infinite or NaN, and no answer
        for begin in range(0, columns, _BLOCK):
            choice, problem = np.divmod(np.arange(begin, min(begin + _BLOCK, columns)), len(targets))
            rows = buffer[:, : len(choice)]
            rows[: len(shape)] = leaves[problem, choices[choice].T]
            height = len(shape)
            for level in program:
                level.run(rows, rows[height : height + len(level)])
                height += len(level)
            gap = np.abs(rows[-len(kept) :] - targets[problem])
            for row, column in zip(*np.nonzero(gap <= limits[problem]), strict=True):
                yield int(kept[row]), int(choice[column]), int(problem[column])


@lru_cache(maxsize=100_000)
def _candidate(
    m: int, row: int, choice: tuple[int, ...], n: int, constants: tuple[Constant, ...]
) -> Candidate:
    pattern = patterns(m).trees[len(patterns(m).trees) - _last(m) + row]
    template = _substitute(pattern, [Ref(j) if j < n else constants[j - n] for j in choice])
    return Candidate(template, klass(template))


def _substitute(tree: Expr, leaves: Sequence[Expr]) -> Expr:
    """The tree with N_j replaced by leaves[j]."""
    if isinstance(tree, Op):
        return Op(tree.op, _substitute(tree.left, leaves), _substitute(tree.right, leaves))
    return leaves[tree.index] if isinstance(tree, Ref) else tree
