"""How many people are asked about a problem, and what happens if they disagree."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

Adjudicate = Literal["third", "majority", "set aside"]


@dataclass(frozen=True)
class Overlap:
    """`people` annotate a `share` of the problems, one person the others.

    If they disagree, one more is asked ("third"), or what most of them mean counts ("majority"), or the
    problem is set aside. After one more, what most of them mean counts.
    """

    people: int = 1
    share: float = 1.0
    adjudicate: Adjudicate = "third"
    seed: int = 0  # of which problems are in the share

    def wanted(self, problem_id: str) -> int:
        """How many people annotate this problem, if they agree."""
        if self.people == 1 or self.share >= 1:
            return self.people
        drawn = blake2b(f"overlap\n{self.seed}\n{problem_id}".encode(), digest_size=6).digest()
        return self.people if int.from_bytes(drawn, "big") / 2**48 < self.share else 1

    def asks_one_more(self, answered: int, problem_id: str) -> bool:
        """Whether one more is asked after so many gave equations that mean different things."""
        return self.adjudicate == "third" and answered <= max(2, self.wanted(problem_id))


ONE_PERSON = Overlap()
