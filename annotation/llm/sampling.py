"""Several replies to each problem, checked as they come, with solved problems of D_s shown before it."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from annotation.llm.asking import Asking, Request
from annotation.llm.prompt import Asked, Solved, asked_of, conversation
from annotation.llm.proposal import Checker, Proposal
from toolkit.data import ProblemSet
from toolkit.data.nearest import Nearest
from toolkit.equations import Expr

Known = Mapping[str, Expr]  # D_s: problem → template


class Demonstrations:
    """The problems of D_s that read most like another one, in its language."""

    def __init__(self, problems: ProblemSet, known: Known) -> None:
        self._problems = problems
        self._solved: dict[str, list[Solved]] = defaultdict(list)
        for problem_id, template in known.items():
            solved = Solved(asked_of(problems, problems.row[problem_id]), template)
            self._solved[solved.problem.lang].append(solved)

    @cached_property
    def _nearest(self) -> dict[str, Nearest]:
        return {lang: Nearest([self._tokens(one.problem) for one in of]) for lang, of in self._solved.items()}

    def __call__(self, problem: Asked, count: int) -> list[Solved]:
        """The nearest ones, the nearest last; never the problem itself."""
        if not count or problem.lang not in self._solved:
            return []
        solved = self._solved[problem.lang]
        rows = self._nearest[problem.lang](self._tokens(problem), count + 1)
        others = [solved[row] for row in rows if solved[row].problem.problem_id != problem.problem_id]
        return others[:count][::-1]

    def _tokens(self, problem: Asked) -> Sequence[str]:
        return self._problems.masked[self._problems.row[problem.problem_id]].tokens


@dataclass
class Heard:
    """What was said of a problem; `failed` says why a reply is missing."""

    problem: Asked
    proposals: list[Proposal] = field(default_factory=list)
    seconds: float = 0.0
    failed: str = ""


def sample(
    asking: Asking,
    check: Checker,
    demonstrations: Demonstrations,
    problems: Sequence[Asked],
    is_open: Callable[[Sequence[Proposal]], bool],
) -> Iterator[Heard]:
    """The problems as they are done: when nothing is open any more, or all samples are there."""
    config = asking.config
    messages = {
        problem.problem_id: conversation(
            problem, demonstrations(problem, config.demonstrations), config.show_answer
        )
        for problem in problems
    }
    left = {problem.problem_id: Heard(problem) for problem in problems}
    waiting = deque(Request(name, messages[name], 0) for name in left)
    for answered in asking.replies(waiting):
        name, seed = answered.request.name, answered.request.seed
        heard = left[name]
        if answered.text is None:
            heard.failed = answered.reason
        else:
            proposal = check(heard.problem, answered.text)
            asking.account.hear(answered.key, name, answered.text, proposal.reason)
            heard.proposals.append(proposal)
            heard.seconds += answered.seconds
        if heard.failed or seed + 1 == config.samples or not is_open(heard.proposals):
            yield left.pop(name)
        else:  # a budget should settle some problems, not half settle all of them
            waiting.appendleft(Request(name, messages[name], seed + 1))
