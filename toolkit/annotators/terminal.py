"""An annotator at the keyboard: one question at a time, each answer checked at once.

A response leaves as soon as it is given, so a kill costs at most the line being typed.
"""

import getpass
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NoReturn, TextIO

from rich.text import Text

from toolkit.annotators.judge import judge
from toolkit.annotators.questions import Question, Response, ResponseKind, ShownCandidate, labels
from toolkit.annotators.wording import shown_numbers
from toolkit.equations import Constant
from toolkit.screen import Screen, harmless

HELP = """\
an equation   such as 76 - 25, over the numbers of the text; N0, N1, … may stand for them
1, 2, …       pick that candidate
s             skip this problem
w             the answer key is wrong (you are asked why)
u             undo: back to the question before this one
q             quit; what you answered is kept
?             this help"""

_COMMANDS = {
    **dict.fromkeys(("s", "skip"), "s"),
    **dict.fromkeys(("w", "wrong"), "w"),
    **dict.fromkeys(("u", "undo"), "u"),
    **dict.fromkeys(("q", "quit", "exit"), "q"),
    **dict.fromkeys(("?", "h", "help"), "?"),
}

Key = tuple[int, str]  # round and problem


class Terminal:
    """Asks the person at the keyboard. `collect` asks one question; quitting raises KeyboardInterrupt.

    `source` replaces the keyboard, `output` replaces stderr.
    """

    name = "terminal"
    location = ""
    warnings: Sequence[str] = ()

    def __init__(
        self,
        constants: Sequence[Constant],
        *,
        more_constants: bool = True,
        source: TextIO | None = None,
        output: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._constants, self._more_constants = tuple(constants), more_constants
        self._source = source
        self._screen = Screen(file=output, stderr=output is None)
        self._clock = clock
        self._annotator = _user()
        self._asked: dict[Key, Question] = {}  # in the order of asking, the latest wording of each
        self._open: list[Key] = []
        self._responses: dict[Key, Response] = {}
        self._last = datetime.min.replace(tzinfo=UTC)
        if source is None and sys.stdin is not None and sys.stdin.isatty():
            with suppress(ImportError):  # not on Windows
                import readline  # noqa: F401  # gives input() arrow keys and a history

    def submit(self, questions: Sequence[Question]) -> None:
        for question in questions:
            key = (question.round, question.problem_id)
            if self._asked.get(key) == question:
                continue  # it is open, or was answered
            self._asked[key] = question
            if key not in self._open:
                self._open.append(key)

    def collect(self) -> Sequence[Response]:
        """The answer to the next question, or the new answer to the one that undo went back to."""
        if not self._open:
            return []
        current = key = self._open[0]
        while True:
            response = self._ask(key)
            if response is None:
                key = self._before(key) or key
                continue
            if response is self._responses.get(key):  # undo went back to it, and it was kept
                key = current
                continue
            self._responses[key] = response
            if key in self._open:
                self._open.remove(key)
            return [response]

    def waits(self) -> bool:
        return False

    def _batch(self, key: Key) -> list[Key]:
        return [other for other in self._asked if other[0] == key[0]]

    def _before(self, key: Key) -> Key | None:
        """The answered question before this one, in the same round."""
        batch = self._batch(key)
        earlier = [other for other in batch[: batch.index(key)] if other in self._responses]
        return earlier[-1] if earlier else None

    def _ask(self, key: Key) -> Response | None:
        """The response to one question; None to go back."""
        question, before = self._asked[key], self._responses.get(key)
        again = before is not None and key not in self._open
        self._show(question, before if again else None)
        started = self._clock()
        while True:
            line = self._line("equation, number or ? for help: ")
            if not line:
                if again:
                    return before
                continue
            command = _COMMANDS.get(line.casefold())
            kind: ResponseKind = "equation"
            equation, template, note = None, None, None
            if command == "q":
                self._quit()
            elif command == "?":
                self._print(HELP)
                continue
            elif command == "u":
                if self._before(key) is None:
                    self._print("There is nothing to undo: this is the first question.", "yellow")
                    continue
                return None
            elif command == "s":
                kind = "skip"
            elif command == "w":
                kind, note = "wrong_answer", self._line("what is wrong with the answer? ")
                if not note:
                    self._print("Say in a few words what is wrong, or answer the question.", "yellow")
                    continue
            else:
                equation, template = _read(line, question.candidates)
            seconds = self._clock() - started
            response = self._response(question, kind, equation, template, note, seconds)
            judged = judge(response, question.numbers, question.answer, self._constants, self._more_constants)
            if judged.verdict != "rejected":
                return response
            self._print(judged.reason, "red")

    def _response(
        self,
        question: Question,
        kind: ResponseKind,
        equation: str | None,
        template: str | None,
        note: str | None,
        seconds: float,
    ) -> Response:
        # A later answer must have a later time even if the clock stands still or is set back.
        self._last = max(datetime.now(UTC), self._last + timedelta(microseconds=1))
        return Response(
            problem_id=question.problem_id,
            round=question.round,
            kind=kind,
            equation=equation,
            note=note,
            annotator=self._annotator,
            external_id=f"terminal:{self._annotator}:{question.round}:{question.problem_id}",
            updated_at=self._last.isoformat(timespec="microseconds"),
            seconds=round(seconds, 1),
            template=template,
        )

    def _show(self, question: Question, before: Response | None) -> None:
        key = (question.round, question.problem_id)
        batch = self._batch(key)
        self._print(f"\n{batch.index(key) + 1} of {len(batch)}", "bold cyan")
        self._print(question.text)
        self._print(f"answer   {question.answer:.12g}", "bold")
        numbers = (f"N{j} = {shown}" for j, shown in enumerate(shown_numbers(question)))
        self._print(f"numbers  {'   '.join(numbers)}", "dim")
        for i, label in enumerate(labels(question.candidates), 1):
            self._print(f"  {i}  {label}")
        if question.complaint:
            self._print(f"The last answer could not be used: {question.complaint}", "yellow")
        if before is not None:
            kinds = {"skip": "skipped", "wrong_answer": "wrong answer key"}
            self._print(f"You said: {before.equation or kinds.get(before.kind)}. Enter keeps it.", "yellow")

    def _print(self, message: str, style: str = "") -> None:
        self._screen.print(Text(message, style), soft_wrap=True)

    def _line(self, prompt: str) -> str:
        """One line without its surrounding blanks; the end of the input is like quitting."""
        try:
            line = self._screen.input(Text(prompt, "bold"), stream=self._source)
        except EOFError:
            self._quit()
        if self._source is not None and not line:  # an empty line has at least its line end
            self._quit()
        return harmless(line.strip())

    def _quit(self) -> NoReturn:
        self._print("\nStopped. What you answered is kept.", "bold")
        raise KeyboardInterrupt


def _read(line: str, candidates: Sequence[ShownCandidate]) -> tuple[str, str | None]:
    """Equation and template. The number of a candidate picks it; everything else is an equation."""
    if line.isdecimal() and len(line) < 4 and 1 <= int(line) <= len(candidates):
        return candidates[int(line) - 1]
    return line, None


def _user() -> str:
    try:
        return getpass.getuser() or "terminal"
    except (OSError, KeyError, ImportError):  # no such user, as in some containers
        return "terminal"
