"""What a language model was asked, what it said, and what that cost: in the ledger of a run, or in memory."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Spent:
    """Requests that were sent, answered or not, and the tokens of those that were answered."""

    requests: int = 0
    question_tokens: int = 0
    reply_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.question_tokens + self.reply_tokens


class Account(Protocol):
    def begin_request(self, key: str) -> int:
        """Record that a request is sent, before it is. Returns its number."""
        ...

    def finish_request(self, number: int, question_tokens: int, reply_tokens: int) -> None: ...

    def hear(self, key: str, problem_id: str, text: str, reason: str) -> None:
        """Record what was said of a problem, and how far it came when it was checked."""
        ...

    def spent(self) -> Spent: ...

    def reasons(self) -> Mapping[str, int]:
        """How many replies came how far."""
        ...


class MemoryAccount:
    """The account of a single command."""

    def __init__(self) -> None:
        self._requests: list[tuple[int, int]] = []
        self._reasons: dict[str, str] = {}

    def begin_request(self, key: str) -> int:
        self._requests.append((0, 0))
        return len(self._requests) - 1

    def finish_request(self, number: int, question_tokens: int, reply_tokens: int) -> None:
        self._requests[number] = (question_tokens, reply_tokens)

    def hear(self, key: str, problem_id: str, text: str, reason: str) -> None:
        self._reasons[key] = reason

    def spent(self) -> Spent:
        return Spent(
            len(self._requests),
            sum(question for question, _ in self._requests),
            sum(reply for _, reply in self._requests),
        )

    def reasons(self) -> Mapping[str, int]:
        return Counter(self._reasons.values())


@dataclass(frozen=True)
class ModelCost:
    """What a language model cost a run, and what came of it."""

    name: str
    spent: Spent
    money: float | None  # None if it has no price
    reasons: Mapping[str, int]  # how many replies came how far
    labels: int  # equations of D_s that it wrote, alone or with others
    right: int | None  # of these, those of the gold class; None if the data have no gold equations
    known: int = 0  # labels with a gold equation

    def sentences(self) -> list[str]:
        said = f"{self.name}: {self.spent.requests:,} requests, {self.spent.tokens:,} tokens"
        said += "" if self.money is None else f", {self.money:.4g} in money"
        if self.labels:
            each = f"{self.spent.tokens / self.labels:,.0f} tokens"
            each += "" if self.money is None else f", {self.money / self.labels:.4g} in money"
            said += f", for {self.labels:,} labels: {each} a label"
        found = [f"{said}."]
        if total := sum(self.reasons.values()):
            verified = self.reasons.get("verified", 0)
            others = [f"{reason} {count:,}" for reason, count in self.reasons.items() if reason != "verified"]
            failed = f" (of the others: {', '.join(others)})" if others else ""
            found.append(f"Of its {total:,} replies {verified:,} verified{failed}.")
        if self.right is not None and self.known:
            share = f"{self.right:,} of its {self.known:,} labels"
            found.append(f"{share} are of the class of the hidden gold equation.")
        return found
