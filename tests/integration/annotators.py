"""Annotators at work in a project, through the API as the page uses it, and what the server then has."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from annotation.answers import Task, decoded
from annotation.api import list_tasks
from annotation.client import Client
from toolkit.annotators.questions import Question, ShownCandidate


def call(client: Client, what: str, method: str, path: str, **arguments: Any) -> Any:
    """The JSON of an answer, as the server sent it."""
    return decoded(client.request(what, method, path, **arguments).body)


def question(name: str, **changes: Any) -> Question:
    """What a loop asks: 76 - 25 is right."""
    asked = Question(
        name,
        1,
        f"Neha had 76 books ({name}). She gave 25 away. How many are left?",
        51.0,
        "en",
        (Fraction(76), Fraction(25)),
        (ShownCandidate("76 - 25", "N0 - N1"), ShownCandidate("25 + 76 - 25 - 25", "N1 + N0 - N1 - N1")),
        confidence=0.4,
    )
    return replace(asked, **changes)


def picked(alias: str) -> list[dict[str, Any]]:
    """The template of a candidate, own or bad."""
    return [_region("pick", "choices", {"choices": [alias]})]


def written(equation: str) -> list[dict[str, Any]]:
    return [*picked("own"), _region("equation", "textarea", {"text": [equation]})]


def bad(reason: str) -> list[dict[str, Any]]:
    return [*picked("bad"), _region("reason", "choices", {"choices": [reason]})]


def _region(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "problem", "type": kind, "value": value}


@dataclass(frozen=True)
class Annotators:
    """Whoever holds the key of the client, in one project."""

    client: Client
    project: int

    def tasks(self) -> dict[int, dict[str, Any]]:
        """The data of every task on the server."""
        return {task.id: task.data for task in list_tasks(self.client, self.project, Task)}

    def names(self) -> list[tuple[str, int, int]]:
        """Problem, round and attempt of every task, in the order of their ids."""
        return [(data["problem_id"], data["round"], data["attempt"]) for data in self.tasks().values()]

    def task(self, name: str) -> int:
        return next(number for number, data in self.tasks().items() if data["problem_id"] == name)

    def annotate(self, task: int, result: list[dict[str, Any]], **fields: Any) -> int:
        made = call(
            self.client,
            "annotating",
            "POST",
            f"api/tasks/{task}/annotations/",
            json={"result": result, "lead_time": 5.5, **fields},
        )
        return int(made["id"])

    def edit(self, annotation: int, **fields: Any) -> None:
        self.client.request("editing", "PATCH", f"api/annotations/{annotation}/", json=fields)

    def delete(self, path: str) -> None:
        self.client.request("deleting", "DELETE", f"api/{path}/")
