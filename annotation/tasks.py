"""Questions into tasks, annotations into responses: pure functions that read whatever a server sends."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from annotation.interface import BAD, EQUATION, OWN, PICK, REASON, REASONS, choices, facts, reasons, words
from toolkit.annotators.questions import Question, Response, ResponseKind
from toolkit.equations import EquationError, parse
from toolkit.equations.tree import references
from toolkit.errors import WarmkitError

MOST_WRITTEN = 1_000  # characters of an answer that are kept; no equation is longer


class Key(NamedTuple):
    """What a task is about: it identifies the task for good, and is part of its data."""

    problem_id: str
    round: int
    attempt: int


@dataclass(frozen=True)
class RawAnnotation:
    """An annotation as the server had it at one time; `result` is its JSON, None once it was deleted."""

    id: int
    task_id: int
    annotator: str
    created_at: str
    updated_at: str
    seconds: float | None  # Label Studio's lead time
    cancelled: bool
    result: str | None


def key_of(question: Question) -> Key:
    return Key(question.problem_id, question.round, question.attempt)


def model_version(round_: int) -> str:
    return f"round-{round_:02d}"


def task_of(question: Question) -> dict[str, Any]:
    """The task of a question: what the page shows, its key, and how sure the model of the round is.

    The prediction has a score and no choice: Label Studio orders tasks by it, and it reveals nothing.
    """
    score = 0.0 if question.confidence is None else question.confidence  # without a candidate nothing is sure
    if not 0 <= score <= 1:
        raise WarmkitError(f"Problem {question.problem_id}: its confidence {score} is not a probability.")
    lang = question.lang
    return {
        "data": {
            "problem_id": question.problem_id,
            "round": question.round,
            "attempt": question.attempt,
            "problem": question.text,
            "facts": facts(lang, question.answer, question.numbers),
            "complaint": f"{words(lang).complaint}: {question.complaint}" if question.complaint else "",
            "candidates": choices(lang, question.candidates),
            "reasons": reasons(lang),
        },
        "predictions": [{"model_version": model_version(question.round), "score": score, "result": []}],
    }


def key_in(data: object) -> Key | None:
    """The key in a task's data, None if the task is somebody else's."""
    if not isinstance(data, Mapping):
        return None
    name, round_, attempt = (data.get(part) for part in Key._fields)
    if isinstance(name, str) and isinstance(round_, int) and isinstance(attempt, int):
        return Key(name, round_, attempt)
    return None


def raw_of(annotation: Mapping[str, Any], task_id: int, annotators: Mapping[int, str]) -> RawAnnotation:
    """An annotation of the API as a row; missing fields stay empty."""
    user = annotation.get("completed_by")
    if isinstance(user, Mapping):
        user = user.get("email") or user.get("id")
    seconds = annotation.get("lead_time")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        seconds = None
    created, updated = (_time(annotation.get(name)) for name in ("created_at", "updated_at"))
    return RawAnnotation(
        id=int(annotation["id"]),
        task_id=task_id,
        annotator=_clean(annotators.get(user, f"user {user}") if isinstance(user, int) else str(user)),
        created_at=created,
        updated_at=updated or created,
        seconds=seconds,
        cancelled=bool(annotation.get("was_cancelled")),
        result=json.dumps(annotation.get("result") or []),
    )


def _time(value: object) -> str:
    """ISO 8601 in UTC; unchanged if it can't be read."""
    try:
        return datetime.fromisoformat(str(value)).astimezone(UTC).isoformat()
    except ValueError:
        return str(value or "")


class _Content(NamedTuple):
    """What an annotation says. `warning` tells why it is not clear."""

    kind: ResponseKind
    equation: str | None = None
    template: str | None = None
    note: str | None = None
    warning: str | None = None


def response_of(
    raw: RawAnnotation, key: Key, shown: Mapping[str, str], project_url: str
) -> tuple[Response, str | None]:
    """The response in an annotation, and a warning if it is not clear.

    `shown` gives the equation that was shown for each template. An unclear answer is an empty equation,
    which the loop rejects and asks again. A bad problem is `wrong_answer`, whatever is bad about it:
    somebody has to look at it, and the note says why.
    """
    kind, equation, template, note, warning = _content(raw)
    if template is not None:
        equation = shown.get(template, template)
    response = Response(
        problem_id=key.problem_id,
        round=key.round,
        kind=kind,
        equation=equation,
        note=note,
        annotator=raw.annotator,
        external_id=f"{project_url}/annotations/{raw.id}",
        updated_at=raw.updated_at,
        seconds=raw.seconds,
        template=template,
    )
    source = f"Task {raw.task_id}, annotation {raw.id} by {raw.annotator}, problem {key.problem_id}"
    return response, f"{source}: {warning}." if warning else None


def _content(raw: RawAnnotation) -> _Content:
    if raw.result is None:
        return _Content("withdrawn")
    if raw.cancelled:
        return _Content("skip")
    values = _values(raw.result)
    picks, texts = values[PICK], values[EQUATION]
    if len(picks) > 1:
        return _unclear("several lines are picked, so none counts")
    pick = picks[0] if picks else OWN
    if pick == BAD:
        reasons = ", ".join(reason if reason in REASONS else repr(reason[:60]) for reason in values[REASON])
        return _Content("wrong_answer", note=f"Bad problem: {reasons or 'without a reason'}.")
    if pick != OWN:
        if _is_template(pick):
            return _Content("equation", template=pick)
        return _unclear(f"{pick[:60]!r} is picked, which is not a candidate")
    if len(texts) > 1:
        return _unclear("several equations are written, so none counts")
    if not texts:
        return _unclear("it holds no equation")
    (text,) = texts
    if len(text) > MOST_WRITTEN:
        warning = f"it has {len(text):,} characters; the first {MOST_WRITTEN:,} are kept, as no equation"
        return _Content("equation", text[:MOST_WRITTEN] + "…", warning=warning)
    return _Content("equation", text)


def _unclear(warning: str) -> _Content:
    return _Content("equation", "", warning=warning)


def _is_template(pick: str) -> bool:
    """Whether a pick is an equation over N0, N1, …"""
    try:
        return bool(references(parse(pick)))
    except EquationError:
        return False


def _values(result: str) -> dict[str, list[str]]:
    """The distinct values of each control of the page; other controls are left out."""
    found: dict[str, dict[str, None]] = {PICK: {}, EQUATION: {}, REASON: {}}
    regions = json.loads(result)
    for region in regions if isinstance(regions, list) else []:
        if not isinstance(region, dict) or region.get("from_name") not in list(found):
            continue
        value = region.get("value")
        field = "text" if region["from_name"] == EQUATION else "choices"
        items = value.get(field) if isinstance(value, dict) else None
        for item in items if isinstance(items, list) else [items]:
            if isinstance(item, str) and item.strip():
                found[region["from_name"]][_clean(item)] = None
    return {name: list(values) for name, values in found.items()}


def _clean(text: str) -> str:
    """Text that can be written anywhere: JSON may hold halves of characters."""
    return text.strip().encode(errors="replace").decode()
