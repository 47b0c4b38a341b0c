"""Questions into tasks, annotations into responses: pure functions, and whatever a server says is read."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from annotation.page import BAD, EQUATION, OWN, PICK, REASON, REASONS, choices, facts, reasons, words
from toolkit.errors import WarmkitError
from toolkit.loop.annotator import Kind, Question, Response

MOST_WRITTEN = 1_000  # characters of an answer that are kept; no equation is longer


class Key(NamedTuple):
    """What a task is about: it names the task for good, and stands in its data."""

    problem_id: str
    round: int
    attempt: int


@dataclass(frozen=True)
class Raw:
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

    The prediction has a score and no choice: Label Studio orders by it, and it gives nothing away.
    """
    score = 0.0 if question.confidence is None else question.confidence  # nothing found: nothing is sure
    if not 0 <= score <= 1:
        raise WarmkitError(f"Problem {question.problem_id}: its confidence {score} is no probability.")
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
    """The key in a task's data, None where the task is somebody else's."""
    if not isinstance(data, Mapping):
        return None
    name, round_, attempt = (data.get(part) for part in Key._fields)
    if isinstance(name, str) and isinstance(round_, int) and isinstance(attempt, int):
        return Key(name, round_, attempt)
    return None


def raw_of(annotation: Mapping[str, Any], task_id: int, annotators: Mapping[int, str]) -> Raw:
    """An annotation of the API as a row; what it lacks stays empty."""
    user = annotation.get("completed_by")
    if isinstance(user, Mapping):
        user = user.get("email") or user.get("id")
    seconds = annotation.get("lead_time")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        seconds = None
    created, updated = (_time(annotation.get(name)) for name in ("created_at", "updated_at"))
    return Raw(
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
    """ISO 8601 in UTC; as it is where that can't be read."""
    try:
        return datetime.fromisoformat(str(value)).astimezone(UTC).isoformat()
    except ValueError:
        return str(value or "")


def response_of(raw: Raw, key: Key, place: str) -> tuple[Response, str | None]:
    """What an annotation says, and a warning where that was not clear. An answer that is none is an empty
    equation, which the loop rejects and asks again. A bad problem is `wrong_answer`, whatever is bad about
    it: somebody has to look at it, and the note says why.
    """
    kind, equation, note, warning = _said(raw)
    if equation is not None and len(equation) > MOST_WRITTEN:
        warning = f"it has {len(equation):,} characters; the first {MOST_WRITTEN:,} are kept, as no equation"
        equation = equation[:MOST_WRITTEN] + "…"
    response = Response(
        problem_id=key.problem_id,
        round=key.round,
        kind=kind,
        equation=equation,
        note=note,
        annotator=raw.annotator,
        external_id=f"{place}/annotations/{raw.id}",
        updated_at=raw.updated_at,
        seconds=raw.seconds,
    )
    where = f"Task {raw.task_id}, annotation {raw.id} by {raw.annotator}, problem {key.problem_id}"
    return response, f"{where}: {warning}." if warning else None


def _said(raw: Raw) -> tuple[Kind, str | None, str | None, str | None]:
    """Kind, equation, note and warning."""
    if raw.result is None:
        return "withdrawn", None, None, None
    if raw.cancelled:
        return "skip", None, None, None
    said = _values(raw.result)
    picks, texts, bad = said[PICK], said[EQUATION], said[REASON]
    if len(picks) > 1:
        return "equation", "", None, "several lines are picked, so none counts"
    pick = picks[0] if picks else OWN
    if pick == BAD:
        told = ", ".join(reason if reason in REASONS else repr(reason[:60]) for reason in bad)
        return "wrong_answer", None, f"Bad problem: {told or 'without a reason'}.", None
    if pick != OWN:
        return "equation", pick, None, None
    if len(texts) > 1:
        return "equation", "", None, "several equations are written, so none counts"
    if not texts:
        return "equation", "", None, "it holds no equation"
    return "equation", texts[0], None, None


def _values(result: str) -> dict[str, list[str]]:
    """What each control of the page holds, each thing once; what is not of the page is left out."""
    found: dict[str, dict[str, None]] = {PICK: {}, EQUATION: {}, REASON: {}}
    regions = json.loads(result)
    for region in regions if isinstance(regions, list) else []:
        if not isinstance(region, dict) or region.get("from_name") not in list(found):
            continue
        value = region.get("value")
        held = (
            value.get("text" if region["from_name"] == EQUATION else "choices")
            if isinstance(value, dict)
            else None
        )
        for one in held if isinstance(held, list) else [held]:
            if isinstance(one, str) and one.strip():
                found[region["from_name"]][_clean(one)] = None
    return {name: list(values) for name, values in found.items()}


def _clean(text: str) -> str:
    """Text that can be written anywhere: JSON may hold halves of characters."""
    return text.strip().encode(errors="replace").decode()
