"""Live suggestions: Label Studio's ML backend protocol, spoken on loopback.

A function makes the suggestions, so this module knows no model: texts and answers in, an equation and its
probability out, or None. Tasks that show candidates get only a score: a suggestion would reveal the model's
favourite. Tasks without candidates get the suggestion as "my own equation", to be kept or changed.
"""

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from annotation.answers import ListedBackend, Made, printable
from annotation.client import Client, LabelStudioError
from annotation.interface import BAD, EQUATION, OWN, PICK
from annotation.listener import USER
from toolkit.equations import as_float
from toolkit.errors import WarmkitError

TITLE = "warmkit"
LARGEST = 16 * 1024 * 1024  # bytes of a request: a thousand tasks have one or two million
LONGEST = 20_000  # characters of a problem

Suggestion = tuple[str, float]  # an equation over the problem's numbers, and its probability


class Suggest(Protocol):
    @property
    def version(self) -> str: ...

    def refresh(self) -> None:
        """Load a newer model, if there is one."""

    def __call__(self, texts: Sequence[str], answers: Sequence[float]) -> Sequence[Suggestion | None]: ...


class Backend:
    """Answers the requests of Label Studio. `answers` are the known answers, by problem id."""

    def __init__(self, suggest: Suggest, answers: Mapping[str, float]) -> None:
        self._suggest, self._answers = suggest, answers
        self._one_at_a_time = threading.Lock()

    def answer(self, method: str, path: str, body: Any) -> dict[str, Any] | None:
        """For `annotation.listener`. The body of /setup holds the owner's key: it is never read."""
        with self._one_at_a_time:
            return self._answer(method, path, body)

    def _answer(self, method: str, path: str, body: Any) -> dict[str, Any] | None:
        match method, path.rstrip("/"):
            case "GET", "" | "/health":
                return {"status": "UP", "model_class": TITLE}
            case "POST", "/setup":  # comes before every /predict
                self._suggest.refresh()
                return {"model_version": self._suggest.version}
            case "GET", "/versions":
                return {"versions": [self._suggest.version]}
            case "POST", "/predict":
                return {"results": self._predict(body)}
            case "POST", "/webhook" | "/train":
                return {"status": "ok", "message": "warmkit loop trains."}
        return None

    def _predict(self, body: Any) -> list[dict[str, Any]]:
        tasks = body.get("tasks") if isinstance(body, Mapping) else None
        if not isinstance(tasks, list):
            raise WarmkitError("There are no tasks in the request.")
        data = [task.get("data") if isinstance(task, Mapping) else None for task in tasks]
        problems = [self._problem(fields) for fields in data]
        known = [problem for problem in problems if problem is not None]
        texts, answers = [text for text, _ in known], [answer for _, answer in known]
        suggestions = iter(self._suggest(texts, answers) if known else ())
        return [
            self._prediction(fields, next(suggestions) if problem is not None else None)
            for fields, problem in zip(data, problems, strict=True)
        ]

    def _problem(self, data: Any) -> tuple[str, float] | None:
        """The text and the answer of a task; None if it lacks one of them."""
        if not isinstance(data, Mapping):
            return None
        text, answer = data.get("problem"), data.get("answer")
        name = data.get("problem_id")
        if isinstance(name, str) and name in self._answers:
            answer = self._answers[name]
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
            return None
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            return None
        number = as_float(answer)
        return (printable(text), number) if math.isfinite(number) else None

    def _prediction(self, data: Any, suggestion: Suggestion | None) -> dict[str, Any]:
        result: list[dict[str, Any]] = []
        equation, score = suggestion or ("", 0.0)
        if suggestion and not _shows_candidates(data):
            result = [
                _control(PICK, "choices", {"choices": [OWN]}),
                _control(EQUATION, "textarea", {"text": [equation]}),
            ]
        return {"result": result, "score": min(max(score, 0.0), 1.0), "model_version": self._suggest.version}


def _control(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "problem", "type": kind, "value": value}


def _shows_candidates(data: Mapping[str, Any]) -> bool:
    shown = data.get("candidates")
    return isinstance(shown, list) and any(
        isinstance(choice, Mapping) and choice.get("alias") not in (OWN, BAD) for choice in shown
    )


@contextmanager
def attached(client: Client, project: int, url: str, secret: str) -> Iterator[None]:
    """The backend is added to a project of Label Studio while the block runs."""
    what = f"adding the backend to project {project}"
    for old in client.call(what, list[ListedBackend], "GET", "api/ml/", {"project": project}):
        if old.title == TITLE:  # left behind by a kill
            _remove(client, old.id)
    added = client.call(
        what,
        Made,
        "POST",
        "api/ml/",
        json={
            "project": project,
            "url": url,
            "title": TITLE,
            "description": "The current model of a run of warmkit, while warmkit annotate backend runs.",
            "auth_method": "BASIC_AUTH",
            "basic_auth_user": USER,
            "basic_auth_pass": secret,
            "is_interactive": False,
        },
    )
    try:
        yield
    finally:
        with suppress(LabelStudioError):
            _remove(client, added.id)


def _remove(client: Client, backend: int) -> None:
    client.request("removing a backend", "DELETE", f"api/ml/{backend}")
