"""What a language model proposes as candidates: alone, or beside those of a method of step one."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from annotation.llm.asking import Asking
from annotation.llm.prompt import asked_of
from annotation.llm.proposal import Checker, Proposal
from annotation.llm.sampling import Demonstrations, sample
from annotation.llm.store import FILE, ReplyStore
from toolkit.active.confidence import posterior
from toolkit.annotators.account import MemoryAccount, ModelCost
from toolkit.annotators.llm import LlmConfig
from toolkit.data import Candidates, ProblemSet
from toolkit.equations import Constant, klass, parse_template
from toolkit.loop.found import RoundCandidates
from toolkit.loop.generation import candidates_of, class_scores_of
from toolkit.loop.part import FoundPart, found_part
from toolkit.loop.run import Run
from toolkit.loop.streaming import Generate
from toolkit.methods import Generated, Known
from toolkit.methods.base import Scored

ORIGIN = "llm"


def asking_of(run: Run) -> Asking:
    """The model of a run, and what it may still spend."""
    return Asking(run.config.llm, ReplyStore(run.folder.parent / FILE), run.ledger)


def checker_of(run: Run) -> Checker:
    return Checker(run.constants, not run.config.fixed_constants)


def add_proposals(
    run: Run,
    round_: int,
    known: Known,
    found: RoundCandidates,
    temperature: float,
    say: Callable[[str], object],
) -> None:
    """Add to what step one found what the model said of these problems in this round or an earlier one.

    It is asked about the least certain problems that are not in D_s and that it was not asked about before.
    Which these are is written down before it is asked, so that a kill changes nothing.
    """
    check, ledger = Checker(run.constants_in(round_), more_constants=False), run.ledger
    earlier = ledger.fact("proposed") or {}
    if str(round_) not in earlier:
        before = {problem_id for chosen in earlier.values() for problem_id in chosen}
        earlier[str(round_)] = _least_certain(found, {*known, *before}, run.config.llm.propose)
        with ledger.transaction():
            ledger.set_fact("proposed", earlier)
    chosen = earlier[str(round_)]
    with closing(asking_of(run)) as asking:
        for _, failed in propose(asking, check, run.stored.few({*known, *chosen}), known, chosen):
            say(f"{failed}." if failed else f"{asking.url}: {asking.spent_words()}")
    replies = ledger.replies()
    problems = run.stored.few(replies)
    proposed = {
        problem_id: generated(problem_id, [check(asked_of(problems, row), text) for text in texts])
        for problem_id, texts in replies.items()
        if (row := problems.row.get(problem_id)) is not None
    }
    found.change(_Merge(proposed, problems.with_constants(check.constants), known, temperature))


@dataclass(frozen=True)
class _Merge:
    """Merge proposals with the candidates of a part."""

    proposed: Mapping[str, Generated]
    problems: ProblemSet  # that have proposals
    known: Known
    temperature: float

    def __call__(self, part: FoundPart) -> FoundPart | None:
        ids = [name for name in part.tops["problem_id"] if name in self.proposed]
        if not ids:
            return None
        before = Candidates(part.candidates).by_problem
        both = [merged(_generated_before(name, before.get(name)), self.proposed[name]) for name in ids]
        problems = self.problems.take([self.problems.row[name] for name in ids])
        new = found_part(problems, self.known, candidates_of(both, problems, self.temperature))
        rows = {**before, **Candidates(new.candidates).by_problem}
        order = part.tops.select("problem_id")
        tops = pl.concat([part.tops.filter(~pl.col("problem_id").is_in(ids)), new.tops])
        return FoundPart(
            pl.concat([rows[name] for name in order["problem_id"] if name in rows]),
            order.join(tops, on="problem_id", maintain_order="left"),
        )


def _generated_before(problem_id: str, rows: pl.DataFrame | None) -> Generated:
    """What a method found, a template for each class."""
    columns = () if rows is None else rows.select("template", "klass", "log_prob", "origin").iter_rows()
    return Generated(problem_id, tuple(Scored(parse_template(row[0]), *row[1:]) for row in columns))


class Proposer:
    """What a model proposes for the problems of a command, beside what a method found."""

    def __init__(self, config: LlmConfig, folder: Path, constants: tuple[Constant, ...]) -> None:
        self._account = MemoryAccount()
        self._asking = Asking(config, ReplyStore(folder / FILE), self._account)
        self._check = Checker(constants, more_constants=False)  # a table has the constants of its model
        self._right = self._known = self._found = 0

    def close(self) -> None:
        self._asking.close()

    def beside(self, method: Generate | None, say: Callable[[str], object]) -> Generate:
        """What a method finds, if there is one, with what the model proposes."""

        def generate(parts: Iterable[ProblemSet]) -> Iterator[Sequence[Generated]]:
            for part in parts:
                found = next(method([part])) if method else [Generated(name, ()) for name in part.ids]
                yield self._add(part, found, say)

        return generate

    def _add(
        self, problems: ProblemSet, found: Sequence[Generated], say: Callable[[str], object]
    ) -> list[Generated]:
        known, said = problems.gold_templates, set[str]()
        proposed: dict[str, Generated] = {}
        for one, failed in propose(self._asking, self._check, problems, known, problems.ids):
            proposed[one.problem_id] = one
            if failed and failed not in said:
                said.add(failed)
                say(f"{failed}.")
        for problem_id, classes in zip(problems.ids, problems.gold_classes, strict=True):
            scored = proposed[problem_id].scored
            self._found += bool(scored)
            if scored and classes:
                self._known += 1
                self._right += scored[0].klass in classes
        return [merged(one, proposed[one.problem_id]) for one in found]

    def cost(self) -> ModelCost:
        """What was spent; a label is a problem with a proposal that verifies."""
        config, spent = self._asking.config, self._account.spent()
        right, reasons = self._right if self._known else None, self._account.reasons()
        return ModelCost(config.model, spent, config.money(spent), reasons, self._found, right, self._known)

    @property
    def figures(self) -> dict[str, Any]:
        """The same, for programs."""
        cost = self.cost()
        return {
            "model": cost.name,
            "requests": cost.spent.requests,
            "question_tokens": cost.spent.question_tokens,
            "reply_tokens": cost.spent.reply_tokens,
            "money": cost.money,
            "replies": dict(cost.reasons),
            "verified_problems": cost.labels,
            "gold_equivalent": cost.right,
            "with_gold": cost.known,
        }


def _least_certain(found: RoundCandidates, known: Collection[str], count: int) -> list[str]:
    """Problems without a candidate first, then those whose likeliest class is the least likely."""
    tops = found.tops("problem_id", "share").filter(~pl.col("problem_id").is_in(list(known)))
    return tops.sort(pl.col("share").fill_null(0.0), maintain_order=True)["problem_id"].head(count).to_list()


def propose(
    asking: Asking, check: Checker, problems: ProblemSet, known: Known, chosen: Sequence[str]
) -> Iterator[tuple[Generated, str]]:
    """What all replies to the chosen problems propose, as they are done, and why one is missing, if it is."""
    asked = [asked_of(problems, problems.row[problem_id]) for problem_id in chosen]
    for heard in sample(asking, check, Demonstrations(problems, known), asked, lambda proposals: True):
        yield generated(heard.problem.problem_id, heard.proposals), heard.failed


def generated(problem_id: str, proposals: Sequence[Proposal]) -> Generated:
    """The classes of proposals that verify; the score of a class is the log of its share of all replies.

    A reply that may mean several classes votes for the likeliest alone.
    """
    templates = [proposal.templates[0] for proposal in proposals if proposal.templates]
    by_class = {klass(template): template for template in reversed(templates)}
    votes = Counter(map(klass, templates))
    scored = [
        Scored(by_class[found], found, math.log(count / len(proposals)), ORIGIN)
        for found, count in votes.most_common()
    ]
    return Generated(problem_id, tuple(scored))


def merged(found: Generated, proposed: Generated) -> Generated:
    """Both as one: each class has the mean of its probabilities. A method's log-probabilities are of paths,
    so they are made shares of what it found first."""
    if not proposed.scored:
        return found
    if not found.scored:
        return proposed
    shares = [_shares(found), _shares(proposed)]
    by_class = {scored.klass: scored for scored in (*proposed.scored, *reversed(found.scored))}
    means = {one: sum(share.get(one, 0.0) for share in shares) / 2 for one in by_class}
    ranked = sorted(by_class, key=lambda one: -means[one])
    return Generated(
        found.problem_id, tuple(by_class[one]._replace(log_prob=math.log(means[one])) for one in ranked)
    )


def _shares(found: Generated) -> Mapping[int, float]:
    return posterior(class_scores_of(found), 1.0)
