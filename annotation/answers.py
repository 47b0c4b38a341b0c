"""What a server answers, as typed values. Nothing in an answer is believed until it has passed here.

A model lists the fields that warmkit reads, each with its bounds; everything else in an answer is ignored.
"""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

LARGEST_ID = 2**63 - 1  # of SQLite, and of Label Studio's own databases
FIRST_YEAR = 1970
DEEPEST = 20  # levels of an annotation's result; Label Studio's own have four

Answered = TypeVar("Answered")


class OddAnswer(ValueError):
    """An answer is not what Label Studio would say. The text tells what is odd."""


def decoded(body: bytes) -> Any:
    """The JSON of an answer."""
    if not body.strip():
        raise OddAnswer("it is empty")
    try:
        return json.loads(body)
    except RecursionError:
        raise OddAnswer("it is nested too deeply") from None
    except ValueError:  # also bytes that are not UTF-8, and numbers of thousands of digits
        raise OddAnswer("it is not JSON") from None


def fitted(kind: type[Answered], value: object) -> Answered:
    """A decoded answer, or a part of one, as a value of this type."""
    try:
        return _adapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        odd = first["msg"].removeprefix("Value error, ")
        raise OddAnswer(f"{place}: {odd}" if place else odd) from None


_adapters: dict[object, TypeAdapter[Any]] = {}  # to make one takes a thousand times as long as to use it


def _adapter(kind: type[Answered]) -> TypeAdapter[Answered]:
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def printable(text: str) -> str:
    """Text that can be written anywhere: no halves of characters, nothing that moves a terminal's cursor."""
    text = text.strip()
    if text.isprintable():
        return text
    whole = text.encode(errors="replace").decode()
    return "".join(character if character.isprintable() else " " for character in whole).strip()


def _utc(text: str) -> str:
    try:
        time = datetime.fromisoformat(text)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("it is not a time") from None
    if time.year < FIRST_YEAR:
        raise ValueError(f"it is before {FIRST_YEAR}")
    return time.isoformat()


def _shallow(result: list[Any]) -> list[Any]:
    level: list[Any] = [result]
    for _ in range(DEEPEST):
        nested = (part.values() if isinstance(part, dict) else part for part in level)
        level = [part for parts in nested for part in parts if isinstance(part, dict | list)]
        if not level:
            return result
    raise ValueError("it is nested too deeply")


Id = Annotated[int, Field(gt=0, le=LARGEST_ID)]
Count = Annotated[int, Field(ge=0, le=LARGEST_ID)]
Text = Annotated[str, Field(max_length=1_000_000)]  # a bound also makes sure that it can be stored
Name = Annotated[str, Field(max_length=300), AfterValidator(printable)]
Token = Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"^[!-~]+$")]  # fits into a header
Time = Annotated[str, Field(max_length=64), AfterValidator(_utc)]
Result = Annotated[list[Any], AfterValidator(_shallow)]


class Answer(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class AccessToken(Answer):
    """What a personal access token is exchanged for; it lasts minutes."""

    access: Token


class Version(Answer):
    release: Name
    edition: Name | None = None


class Whoami(Answer):
    email: Name
    permissions: list[Name] | None = None


class User(Answer):
    id: Id
    email: Name | None = None


class Made(Answer):
    """What was made, by its id."""

    id: Id


class ListedWebhook(Answer):
    id: Id
    url: Text | None = None


class ListedBackend(Answer):
    id: Id
    title: Text | None = None


class ServerProject(Answer):
    id: Id
    created_at: Text
    title: Text
    model_version: Text | None = None
    label_config: Text
    maximum_annotations: Count = 1  # of a task


class ListedProject(Answer):
    id: Id
    description: Text | None = None


class ProjectPage(Answer):
    results: list[ListedProject]
    next: Text | None = None


class ProjectCounts(Answer):
    """How much a project holds."""

    id: Id
    task_number: Count
    total_annotations_number: Count
    skipped_annotations_number: Count


class CountsPage(Answer):
    results: list[ProjectCounts]


class TaskPage(Answer):
    """Tasks, each of which has yet to become a `Task` or an `AnnotatedTask`."""

    tasks: list[Any]


class Imported(Answer):
    """The ids of imported tasks; None if the server imports them later."""

    task_ids: list[Id] | None = None


class NumberedTask(Answer):
    id: Id


class Task(NumberedTask):
    """A task, with what it is about."""

    data: Any
    total_annotations: Count
    cancelled_annotations: Count


class TaskData(Answer):
    """What a task is about, alone."""

    data: Any


class AnnotatedTask(NumberedTask):
    """A task with its annotations, each of which has yet to become an `Annotation`."""

    annotations: list[Any]


class Annotation(Answer):
    id: Id
    result: Result | None = None
    completed_by: Id | Name | User | None = None
    was_cancelled: bool | None = None
    created_at: Time | None = None
    updated_at: Time | None = None
    lead_time: Any = None  # seconds, if it is a number
