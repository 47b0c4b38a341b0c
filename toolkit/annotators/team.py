"""What each annotator did, and how good it was: the rows of the report and of `warmkit annotate status`."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np

from toolkit.annotators.judge import AnnotationVerdict, Judgement
from toolkit.annotators.questions import Response, ShownCandidate
from toolkit.annotators.reliability import (
    BOTH,
    SAME_PLACE,
    SIGNIFICANT,
    Agreement,
    Classes,
    Consensus,
    alpha,
    combined_p_value,
    consensus,
    gold_p_value,
    is_unreliable,
    kappa,
    labels_of,
    position_p_value,
)

Judged = tuple[Response, Judgement]
Shown = Mapping[
    tuple[int, str], Sequence[ShownCandidate]
]  # round and problem → candidates in the order shown

_REJECTED = frozenset({-2})  # the class of an answer to a gold question that was rejected


@dataclass(frozen=True)
class AnnotatorRow:
    """One annotator, in all rounds."""

    name: str
    tasks: int
    seconds: float | None  # the median of those that are known
    verdicts: Mapping[AnnotationVerdict, int]
    agreement: Agreement | None  # with the others; None if nobody answered the same problems
    gold_right: int
    gold_asked: int  # gold questions that were answered with an equation
    reliability: float | None  # estimated probability to be right; None if nothing tells
    warning: str  # why the annotator is not to be trusted; empty if nothing speaks against it


class Team:
    """All annotators of a run or a task store.

    `gold` has the right classes of gold questions. `shown` tells where a picked candidate stood, if
    candidates stand in a random order. The last response of an annotator to a problem counts; to a gold
    question the first one does: who is told that an answer was wrong knows more than before.
    """

    def __init__(
        self, judged: Iterable[Judged], gold: Mapping[str, Classes] | None = None, shown: Shown | None = None
    ) -> None:
        self.judged = [pair for pair in judged if pair[0].kind != "withdrawn"]
        self.gold, self.shown = gold or {}, shown or {}
        self._by_name: dict[str, list[Judged]] = defaultdict(list)
        for response, judgement in self.judged:
            self._by_name[response.annotator].append((response, judgement))

    @cached_property
    def answers(self) -> dict[str, dict[str, Classes]]:
        """Problem → annotator → classes of the equation that counts."""
        found: dict[str, dict[str, Classes]] = defaultdict(dict)
        for response, judgement in self.judged:
            of_problem = found[response.problem_id]
            if response.problem_id in self.gold:
                if judgement.verdict in ("accepted", "rejected"):
                    of_problem.setdefault(response.annotator, judgement.klasses or _REJECTED)
                continue
            of_problem.pop(response.annotator, None)
            if judgement.verdict == "accepted":
                of_problem[response.annotator] = judgement.klasses
        return {problem_id: of_problem for problem_id, of_problem in found.items() if of_problem}

    @cached_property
    def consensus(self) -> Consensus:
        """How often each annotator is right."""
        return consensus(self._labels, self.gold)

    @cached_property
    def _labels(self) -> dict[str, dict[str, int]]:
        labels = labels_of({name: given for name, given in self.answers.items() if name not in self.gold})
        for problem_id in self.gold.keys() & self.answers.keys():
            labels[problem_id] = {
                name: min(classes & self.gold[problem_id] or classes)
                for name, classes in self.answers[problem_id].items()
            }
        return labels

    def agreement(self) -> Agreement | None:
        """Krippendorff's α of all, beside gold questions."""
        return alpha(self._without_gold, np.random.default_rng(0))

    @cached_property
    def _without_gold(self) -> dict[str, dict[str, int]]:
        return {name: labels for name, labels in self._labels.items() if name not in self.gold}

    def gold_figures(self, name: str) -> tuple[int, int]:
        """Gold questions that an annotator got right, and answered."""
        given = [
            bool(self.answers[problem_id][name] & classes)
            for problem_id, classes in self.gold.items()
            if name in self.answers.get(problem_id, ())
        ]
        return sum(given), len(given)

    def warning(self, name: str) -> str:
        """Why an annotator is not to be trusted, in a few words; empty if nothing speaks against it."""
        right, asked = self.gold_figures(name)
        if is_unreliable(right, asked):
            return f"{asked - right} of {asked} gold questions are wrong"
        picks = [
            (templates.index(response.template), len(templates))
            for response, _ in self._by_name[name]
            if response.template in (templates := self._templates(response)) and len(templates) > 1
        ]
        habit = position_p_value(picks)
        both = combined_p_value(habit, gold_p_value(right, asked))
        if habit < SAME_PLACE or (habit < SIGNIFICANT and both < BOTH):
            ((position, count),) = Counter(position for position, _ in picks).most_common(1)
            reason = f"{count} of {len(picks)} picks are candidate {position + 1}, though the order is random"
            wrong = f"; {asked - right} of {asked} gold questions are wrong" if asked > right else ""
            return reason + wrong
        return ""

    def _templates(self, response: Response) -> list[str | None]:
        shown = self.shown.get((response.round, response.problem_id), ())
        return [candidate.template for candidate in shown]

    def unreliable(self) -> dict[str, str]:
        """Annotators who are not to be trusted, and why."""
        warnings = {name: self.warning(name) for name in sorted(self._by_name)}
        return {name: why for name, why in warnings.items() if why}

    def rows(self) -> list[AnnotatorRow]:
        return [self._row(name) for name in sorted(self._by_name)]

    def _row(self, name: str) -> AnnotatorRow:
        own = self._by_name[name]
        times = [response.seconds for response, _ in own if response.seconds is not None]
        return AnnotatorRow(
            name,
            len({(response.round, response.problem_id) for response, _ in own}),
            median(times) if times else None,
            Counter(judgement.verdict for _, judgement in own),
            kappa(self._without_gold, name, np.random.default_rng(0)),
            *self.gold_figures(name),
            self.consensus.accuracy.get(name),
            self.warning(name),
        )
