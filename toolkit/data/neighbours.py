"""A solver without training: the class on which the problems nearest in text agree.

Each problem has hits, classes of templates that reach its answer. Most are there by luck, but luck does not
repeat itself: among problems that read alike, the right class is a hit again and again. So the class that the
nearest other problems support most is predicted, and the prediction is right if it is a hit of the problem
itself. No problem takes part in its own prediction: every answer is held out.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from toolkit.data.problems import ProblemSet
from toolkit.data.tokens import grams
from toolkit.equations import Candidate, Const, Expr, Op, Pi, Ref
from toolkit.equations.tree import postorder

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

NEAREST = 10
# What a template costs, in log-probability: per operator, unused number, number used again, constant.
COSTS = (2.0, 3.0, 2.0, 2.0)
NO_CLASS = -2  # the prediction if no neighbour has a hit; `classes.UNDEFINED` is -1


@dataclass(frozen=True)
class Neighbours:
    """The nearest problems of each problem, in no order: rows [N, K], and their weights [N, K]."""

    rows: Ints
    weights: Floats


def neighbours(problems: ProblemSet, count: int = NEAREST) -> Neighbours:
    """The problems with equally many numbers whose texts are most alike: words and pairs of words, by idf."""
    size = len(problems)
    texts = [grams(masked.tokens) for masked in problems.masked]
    found_in = Counter(gram for text in texts for gram in text)
    common = sorted(gram for gram, times in found_in.items() if times > 1)
    column = {gram: i for i, gram in enumerate(common)}
    vectors = np.zeros((size, len(column)), dtype=np.float32)
    for row, text in enumerate(texts):
        for gram in text & column.keys():
            vectors[row, column[gram]] = np.log(size / found_in[gram])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    alike = vectors @ vectors.T
    counts = np.array([len(numbers) for numbers in problems.numbers])
    alike[counts[:, None] != counts] = 0
    np.fill_diagonal(alike, 0)
    kept = min(count, size)
    rows = np.argpartition(-alike, kept - 1, axis=1)[:, :kept].astype(np.int64)
    weights = np.take_along_axis(alike, rows, axis=1).astype(np.float64)
    return Neighbours(rows, np.maximum(weights, 0) ** 4)


@dataclass(frozen=True)
class Hits:
    """Classes that reach answers, by problem: problem [H], class [H], log-probability [H]."""

    rows: Ints
    classes: Ints
    scores: Floats

    @classmethod
    def of(
        cls,
        found: Sequence[Sequence[Candidate]],
        problems: ProblemSet,
        keep: Callable[[Expr], bool] = lambda template: True,
    ) -> "Hits":
        """The hits that a search found, as far as their templates are to be kept."""
        scores: dict[tuple[int, int], float | None] = {}
        entries = []
        for row, (candidates, numbers) in enumerate(zip(found, problems.numbers, strict=True)):
            for candidate in candidates:
                key = candidate.klass, len(numbers)
                if key not in scores:
                    template = candidate.template
                    scores[key] = -cost(template, len(numbers)) if keep(template) else None
                if (score := scores[key]) is not None:
                    entries.append((row, candidate.klass, score))
        rows, classes, values = zip(*entries, strict=True) if entries else ((), (), ())
        return cls(np.array(rows, np.int64), np.array(classes, np.int64), np.array(values, np.float64))

    def __or__(self, other: "Hits") -> "Hits":
        """The hits of both; a class that is in both has the better score."""
        rows, classes = np.append(self.rows, other.rows), np.append(self.classes, other.classes)
        scores = np.append(self.scores, other.scores)
        order = np.lexsort((-scores, classes, rows))
        rows, classes, scores = rows[order], classes[order], scores[order]
        is_first = np.append(True, (np.diff(rows) != 0) | (np.diff(classes) != 0))[: len(rows)]
        return Hits(rows[is_first], classes[is_first], scores[is_first])

    def include(self, classes: Ints) -> Flags:
        """Whether classes[i] is a hit of problem i, for every problem [N]."""
        included = np.zeros(len(classes), bool)
        included[self.rows[self.classes == classes[self.rows]]] = True
        return included


def cost(template: Expr, n: int) -> float:
    """The cost of a template for a problem with n numbers."""
    nodes = list(postorder(template))
    used = [node.index for node in nodes if isinstance(node, Ref)]
    counts = (
        sum(isinstance(node, Op) for node in nodes),
        n - len(set(used)),
        len(used) - len(set(used)),
        sum(isinstance(node, Const | Pi) for node in nodes),
    )
    return sum(each * count for each, count in zip(COSTS, counts, strict=True))


def predict(hits: Hits, near: Neighbours) -> Ints:
    """The class [N] that the neighbours of each problem support most. `hits` is a union of hits (sorted)."""
    size, kept = near.rows.shape
    names, classes = np.unique(hits.classes, return_inverse=True)
    share = np.exp(hits.scores)
    share /= np.bincount(hits.rows, share, size)[hits.rows]
    start = np.searchsorted(hits.rows, np.arange(size + 1))
    # One vote for each hit of each neighbour of each problem.
    neighbour = near.rows.ravel()
    votes = np.diff(start)[neighbour]
    within = np.arange(votes.sum()) - np.repeat(np.cumsum(votes) - votes, votes)
    hit = np.repeat(start[neighbour], votes) + within
    voter = np.repeat(np.arange(size).repeat(kept), votes)
    weight = np.repeat(near.weights.ravel(), votes) * share[hit]
    pairs, which = np.unique(voter * max(len(names), 1) + classes[hit], return_inverse=True)
    row, candidate = np.divmod(pairs, max(len(names), 1))
    order = np.lexsort((np.bincount(which, weight), row))
    is_last = np.append(np.diff(row[order]) != 0, True)[: len(order)]
    best = order[is_last]
    predicted = np.full(size, NO_CLASS, np.int64)
    predicted[row[best]] = names[candidate[best]]
    return predicted
