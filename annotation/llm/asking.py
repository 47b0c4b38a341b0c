"""Many requests at once: none that was answered before, none over the budget, and patience with busy servers.

Threads send requests, and do nothing else. The thread that calls `replies` counts what is spent, writes down
each reply as it arrives, and repeats what failed for a passing reason.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from annotation.llm.chat import Chat, Failure, Reply, body_of, chat_url
from annotation.llm.key import find_key
from annotation.llm.prompt import Message
from annotation.llm.store import ReplyStore, key_of
from toolkit.annotators.account import Account
from toolkit.annotators.llm import LlmConfig

TRIES = 5  # of a request
FIRST_PAUSE = 0.5  # seconds after a failure; each pause is twice as long as the one before
LONGEST_PAUSE = 60.0
MOST_FAILED = 3  # requests given up one after the other; then the server is down, and nothing else is sent
LOOK = 1.0  # seconds after which an interrupt from the keyboard is noticed, at most


@dataclass(frozen=True)
class Request:
    """A conversation that is to be answered; `seed` tells the samples of one problem apart."""

    name: str  # the caller's
    messages: Sequence[Message]
    seed: int
    tries: int = 0


@dataclass(frozen=True)
class Answered:
    """The reply to a request; None if there is none: `reason` says why. `key` names what was asked."""

    request: Request
    key: str
    text: str | None
    seconds: float = 0.0
    reason: str = ""


class Asking:
    """A model, a store of its replies, and an account that its budget is held to."""

    def __init__(
        self,
        config: LlmConfig,
        store: ReplyStore,
        account: Account,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.config, self.store, self.account, self._sleep = config, store, account, sleep
        self._key, self.url = find_key(), chat_url(config)

    def close(self) -> None:
        self.store.close()

    def spent_words(self) -> str:
        """What is spent so far, for people: 41 requests, 12,300 tokens."""
        spent = self.account.spent()
        money = self.config.money(spent)
        said = "" if money is None else f", {money:.2f} in money"
        return f"{spent.requests:,} requests, {spent.tokens:,} tokens{said}"

    def over(self) -> str | None:
        """Which budget is spent, as words; None if something is left."""
        budget, spent = self.config.budget, self.account.spent()
        if budget.requests is not None and spent.requests >= budget.requests:
            return f"the budget of {budget.requests:,} requests"
        if budget.tokens is not None and spent.tokens >= budget.tokens:
            return f"the budget of {budget.tokens:,} tokens"
        if budget.money is not None and (self.config.money(spent) or 0.0) >= budget.money:
            return f"the budget of {budget.money:g} in money"
        return None

    def replies(self, waiting: deque[Request]) -> Iterator[Answered]:
        """The reply to each request, as they come. Raises `Refused`.

        Requests are taken from the left. More may be added while it runs: those on the left come next.
        """
        running: dict[int, tuple[Request, str]] = {}
        done: SimpleQueue[tuple[int, Reply | Failure | Exception]] = SimpleQueue()
        not_before, failed = 0.0, 0
        while waiting or running:
            while waiting and len(running) < self.config.concurrency:
                key = self._key_of(waiting[0])
                known = self.store.reply(key)
                if known is not None:
                    yield Answered(waiting.popleft(), key, *known)
                    continue
                over, pause = self.over(), not_before - time.monotonic()
                why = f"{over} is spent" if over else f"{self.url} is down" if failed >= MOST_FAILED else None
                if running and (why or pause > 0):
                    break
                if why:
                    yield Answered(waiting.popleft(), key, None, reason=why)
                    continue
                if pause > 0:
                    self._sleep(pause)
                    not_before = 0.0
                number = self.account.begin_request(key)
                running[number] = (waiting.popleft(), key)
                # A daemon: what is on its way when somebody stops the program is not waited for.
                arguments = (running[number][0], number, done)
                threading.Thread(target=self._ask, args=arguments, daemon=True).start()
            if not running:
                continue
            try:
                number, outcome = done.get(timeout=LOOK)
            except Empty:
                continue
            request, key = running.pop(number)
            if isinstance(outcome, Exception):
                raise outcome
            if isinstance(outcome, Reply):
                failed = 0
                self.store.keep(key, outcome)
                self.account.finish_request(number, outcome.question_tokens, outcome.reply_tokens)
                yield Answered(request, key, outcome.text, outcome.seconds)
                continue
            if request.tries + 1 >= TRIES or outcome.wait > LONGEST_PAUSE:
                failed += 1
                yield Answered(request, key, None, reason=f"{self.url}: {outcome.reason}")
                continue
            pause = max(outcome.wait, FIRST_PAUSE * 2**request.tries)
            not_before = max(not_before, time.monotonic() + pause)
            waiting.appendleft(replace(request, tries=request.tries + 1))

    def _key_of(self, request: Request) -> str:
        return key_of(self.url, body_of(self.config, request.messages, request.seed))

    def _ask(
        self, request: Request, number: int, done: "SimpleQueue[tuple[int, Reply | Failure | Exception]]"
    ) -> None:
        chat = Chat(self.config, self._key)
        try:
            done.put((number, chat.ask(request.messages, request.seed)))
        except Exception as error:  # whatever it is, the thread that waits has to know
            done.put((number, error))
        finally:
            chat.close()
