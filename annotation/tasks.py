"""Questions into tasks, annotations into responses: pure functions that read whatever a server sends."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotation.answers import Annotation, Count, OddAnswer, Text, User, fitted, printable
from annotation.interface import (
    BAD,
    EQUATION,
    OWN,
    PICK,
    REASON,
    REASONS,
    choices,
    facts,
    marked,
    reasons,
    words,
)
from toolkit.annotators.questions import Question, Response, ResponseKind
from toolkit.equations import EquationError, parse
from toolkit.equations.tree import references
from toolkit.errors import WarmkitError

MOST_WRITTEN = 1_000  # characters of an answer that are kept; no equation is longer
MOST_SECONDS = 1e9  # of a lead time: thirty years


class Key(NamedTuple):
    """What a task is about: it identifies the task for good, and is part of its data."""

    problem_id: Text
    round: Count
    attempt: Count


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


def task_of(question: Question, source: str = "") -> dict[str, Any]:
    """The task of a question: what the page shows, its key, and how sure the model of the round is.

    `source` is the mark of the task store that sends it: several may ask in one project.

    The prediction has a score and no choice: Label Studio orders tasks by it, and it reveals nothing.
    """
    score = 0.0 if question.confidence is None else question.confidence  # without a candidate nothing is sure
    if not 0 <= score <= 1:
        raise WarmkitError(f"Problem {question.problem_id}: its confidence {score} is not a probability.")
    lang = question.lang
    return {
        "data": {
            "problem": question.text,
            "answer": question.answer,
            "verdict": "",
            "problem_id": question.problem_id,
            "round": question.round,
            "attempt": question.attempt,
            "source": source,
            "marked": marked(question),
            "facts": facts(question),
            "complaint": f"{words(lang).complaint}: {question.complaint}" if question.complaint else "",
            "candidates": choices(lang, question.candidates),
            "reasons": reasons(lang),
        },
        "predictions": [{"model_version": model_version(question.round), "score": score, "result": []}],
    }


def key_in(data: object, source: str = "") -> Key | None:
    """The key in a task's data, None if the task is somebody else's."""
    if not isinstance(data, Mapping) or data.get("source") != source:
        return None
    try:
        return fitted(Key, tuple(data.get(part) for part in Key._fields))
    except OddAnswer:
        return None


def raw_of(annotation: Annotation, task_id: int, annotators: Mapping[int, str]) -> RawAnnotation:
    """An annotation of the server as a row; missing fields stay empty."""
    created = annotation.created_at or ""
    return RawAnnotation(
        id=annotation.id,
        task_id=task_id,
        annotator=_annotator(annotation.completed_by, annotators),
        created_at=created,
        updated_at=annotation.updated_at or created,
        seconds=_seconds(annotation.lead_time),
        cancelled=bool(annotation.was_cancelled),
        result=json.dumps(annotation.result or []),
    )


def _annotator(user: int | str | User | None, names: Mapping[int, str]) -> str:
    if isinstance(user, User):
        return user.email or f"user {user.id}"
    if isinstance(user, int):
        return names.get(user) or f"user {user}"
    return user or "unknown"


def _seconds(lead_time: object) -> float | None:
    if isinstance(lead_time, bool) or not isinstance(lead_time, int | float):
        return None
    return float(lead_time) if 0 <= lead_time <= MOST_SECONDS else None


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
                found[region["from_name"]][printable(item)] = None
    return {name: list(values) for name, values in found.items()}
