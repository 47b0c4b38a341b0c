"""What a team of annotators puts into D_s: labels and right equations for the same number of answers.

    python bench/annotators.py
    python bench/annotators.py --answers 400 --seeds 20 --found

Scripted annotators with known error rates answer questions about bundled problems; their errors give the
answer, so no check finds them. What judges them is the code of the loop: `judge`, `Resolver`, `Team` and
weighted votes. Every answer counts: the second and third to a problem, those to gold questions, and those
that are set aside.
"""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import click
import numpy as np

from toolkit.annotators.questions import Question, Response, ShownCandidate
from toolkit.annotators.resolve import Resolution, Resolver
from toolkit.annotators.scripted import Member
from toolkit.annotators.team import Team
from toolkit.cli.output import print_table
from toolkit.data import ProblemSet, read_problems
from toolkit.equations import klass, over_values, search, show

SHOWN = 5  # candidates
BATCH = 20
FIRST_GOLD = 3
KNOWN = 50  # problems for gold questions
NAMES = ("ann", "bob", "cem", "dee", "eva")


@dataclass(frozen=True)
class Plan:
    """How a team works."""

    name: str
    overlap: int = 1
    third: bool = False  # asks one more if two disagree
    gold: float = 0.0
    weighted: bool = False


PLANS = (
    Plan("one annotator"),
    Plan("one annotator, gold questions", gold=0.1),
    Plan("overlap 2", overlap=2),
    Plan("overlap 2, third", overlap=2, third=True),
    Plan("overlap 2, third, gold questions", overlap=2, third=True, gold=0.1),
    Plan("overlap 3", overlap=3),
    Plan("overlap 3, weighted votes", overlap=3, weighted=True),
    Plan("overlap 2, weighted votes", overlap=2, weighted=True),
    Plan("overlap 2, weighted votes, gold questions", overlap=2, weighted=True, gold=0.1),
    Plan("overlap 2, third, weighted votes, gold", overlap=2, third=True, weighted=True, gold=0.1),
)


@dataclass
class Work:
    """A team at work until its answers are spent."""

    problems: ProblemSet
    questions: dict[str, Question]
    members: Sequence[Member]
    plan: Plan
    budget: int
    resolver: Resolver
    responses: list[Response] = field(default_factory=list)
    gold: set[str] = field(default_factory=set)
    aside: set[str] = field(default_factory=set)
    turn: int = 0

    def run(self, order: Sequence[str]) -> None:
        """Ask about problems in this order, in batches. What is set aside is asked of others."""
        reserve, waiting = list(order[:KNOWN]), list(order[KNOWN:])
        asked: list[str] = []
        while len(self.responses) < self.budget and waiting:
            batch, waiting = waiting[:BATCH], waiting[BATCH:]
            wanted = self._wanted_gold(len(asked) + len(batch))
            golden, reserve = reserve[:wanted], reserve[wanted:]
            self.gold |= set(golden)
            before = len(self.responses)
            for problem_id in [*batch, *golden]:
                self._ask(problem_id)
            if len(self.responses) == before:  # all who are left have answered all of it
                return
            asked += batch
            if self.plan.gold:
                self.aside = set(self.team().unreliable())
            answered = self.resolutions()
            waiting = [name for name in asked if name not in answered and name not in waiting] + waiting

    def _wanted_gold(self, questions: int) -> int:
        if not self.plan.gold:
            return 0
        return max(0, max(FIRST_GOLD, round(self.plan.gold * questions)) - len(self.gold))

    def _ask(self, problem_id: str) -> None:
        free = [member for member in self.members if member.name not in self.aside]
        for _ in range(self.plan.overlap):
            self._answer(problem_id, free)
        if self.plan.third and problem_id not in self.gold:
            resolution = self.resolutions([problem_id]).get(problem_id)
            if resolution is not None and resolution.verdict == "disputed":
                self._answer(problem_id, free)

    def _answer(self, problem_id: str, free: Sequence[Member]) -> None:
        """The next member who has not answered it; a rejected answer is asked again, once."""
        done = {response.annotator for response in self.responses if response.problem_id == problem_id}
        for _ in free:
            member, self.turn = free[self.turn % len(free)], self.turn + 1
            if member.name in done:
                continue
            row, question = self.problems.row[problem_id], self.questions[problem_id]
            for attempt in range(2):
                if len(self.responses) == self.budget:
                    return
                again = replace(question, attempt=attempt)
                gold = self.problems.table["equation"][row]
                response = member.answer(again, gold, self.problems.gold_classes[row])
                self.responses.append(response)
                if self.resolver.judgement(response).verdict != "rejected":
                    return
            return

    def team(self) -> Team:
        right = {name: self.problems.gold_classes[self.problems.row[name]] for name in self.gold}
        shown = {(1, name): question.candidates for name, question in self.questions.items()}
        judged = [(response, self.resolver.judgement(response)) for response in self.responses]
        return Team(judged, right, shown)

    def resolutions(self, only: Sequence[str] | None = None) -> dict[str, Resolution]:
        weights = None
        if self.plan.weighted and only is None:
            consensus = self.team().consensus
            weights = {name: consensus.weight(name) for name in consensus.accuracy}
        counted = [
            response
            for response in self.responses
            if response.annotator not in self.aside
            and response.problem_id not in self.gold
            and (only is None or response.problem_id in only)
        ]
        return self.resolver.resolve(counted, weights)

    def known(self) -> tuple[int, float]:
        """The size of D_s, and the share of it that is right."""
        found = {
            name: resolution.template
            for name, resolution in self.resolutions().items()
            if resolution.template is not None
        }
        right = [klass(t) in self.problems.gold_classes[self.problems.row[n]] for n, t in found.items()]
        return len(found), sum(right) / max(1, len(right))


def asked_about(problems: ProblemSet, rng: np.random.Generator) -> dict[str, Question]:
    """Questions with several candidates in a random order, the right one among them."""
    found = search(problems.numbers, problems.answers, 3, problems.constants, reuse=1)
    questions = {}
    for row, candidates in enumerate(found):
        right = [one for one in candidates if one.klass in problems.gold_classes[row]][:1]
        others = [one for one in candidates if one.klass not in problems.gold_classes[row]]
        if not right or not others:
            continue
        chosen = [*right, *(others[i] for i in rng.permutation(len(others))[: SHOWN - 1])]
        shown = [
            ShownCandidate(show(over_values(one.template, problems.numbers[row])), show(one.template))
            for one in (chosen[i] for i in rng.permutation(len(chosen)))
        ]
        name = problems.ids[row]
        questions[name] = Question(
            *(name, 1, problems.table["text"][row], problems.answers[row], problems.langs[row]),
            *(problems.numbers[row], tuple(shown)),
        )
    return questions


def members_of(rate: float, presser: bool, seed: int) -> list[Member]:
    members = [Member(name, rate, seed=seed) for name in NAMES]
    return [*members[:-1], Member("press", first=True, seed=seed)] if presser else members


@click.command()
@click.option("--data", default="bundled:en", show_default=True)
@click.option("--answers", default=400, show_default=True, help="Answers that are paid for.")
@click.option("--seeds", default=20, show_default=True)
@click.option("--found", is_flag=True, help="Only: how soon annotators are found out.")
def main(data: str, answers: int, seeds: int, found: bool) -> None:
    problems = read_problems(data)
    resolver = Resolver(problems)
    questions = [asked_about(problems, np.random.default_rng(seed)) for seed in range(min(seeds, 3))]
    if not found:
        for presser in (False, True):
            rows = []
            for plan in PLANS:
                cells = [plan.name]
                for rate in (0.05, 0.15, 0.3):
                    figures = []
                    for seed in range(seeds):
                        drawn = questions[seed % len(questions)]
                        order = list(np.random.default_rng([seed, 1]).permutation(list(drawn)))
                        members = members_of(rate, presser, seed)
                        work = Work(problems, drawn, members, plan, answers, resolver)
                        work.run([str(name) for name in order])
                        figures.append(work.known())
                    labels, right = zip(*figures, strict=True)
                    cells += [f"{statistics.mean(labels):.0f}", f"{100 * statistics.mean(right):.1f} %"]
                rows.append(tuple(cells))
            others = "the fifth always presses 1" if presser else "so does the fifth"
            print_table(
                f"{answers} answers, {seeds} seeds; four annotators err at this rate, {others}",
                rows,
                ("plan", "5 %: labels", "right", "15 %: labels", "right", "30 %: labels", "right"),
            )
    print_table(
        f"found out, of {10 * seeds}; error rate as estimated from gold questions alone",
        [found_out(name, member, problems, questions, 10 * seeds) for name, member in SINGLE],
        ("annotator", *(f"{tasks} tasks" for tasks in TASKS), "estimate"),
    )


SINGLE = (
    ("errs in 0 %", Member("x")),
    ("errs in 10 %", Member("x", 0.1)),
    ("errs in 30 %", Member("x", 0.3)),
    ("errs in 80 %", Member("x", 0.8)),
    ("always presses 1", Member("x", first=True)),
)
TASKS = (20, 40, 80, 160)


def found_out(
    name: str, member: Member, problems: ProblemSet, questions: Sequence[dict[str, Question]], trials: int
) -> tuple[str, ...]:
    """In how many trials one annotator is found out within so many tasks, gold questions among them."""
    caught, estimates = Counter[int](), []
    for seed in range(trials):
        drawn = questions[seed % len(questions)]
        order = [str(one) for one in np.random.default_rng([seed, 2]).permutation(list(drawn))]
        who, resolver = [replace(member, seed=seed)], Resolver(problems)
        work = Work(problems, drawn, who, Plan("", gold=0.1), 2 * max(TASKS), resolver)
        for task, problem_id in enumerate(order[: max(TASKS)], 1):
            if task in (1, 8, 15) or (task > 20 and task % 10 == 0):
                work.gold.add(problem_id)
            work._answer(problem_id, who)
            if task in TASKS and work.team().unreliable():
                caught[task] += 1
        estimates.append(1 - work.team().consensus.accuracy["x"])
    spread = f"{100 * statistics.mean(estimates):.0f} ± {100 * statistics.pstdev(estimates):.0f} %"
    return (name, *(f"{100 * caught[tasks] / trials:.1f} %" for tasks in TASKS), spread)


if __name__ == "__main__":
    main()
