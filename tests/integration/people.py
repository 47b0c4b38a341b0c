"""People at work in a project, through the API as the page would do it, and what the server has of them."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from annotation.client import Client
from annotation.wire import answered, request, tasks
from toolkit.loop.annotator import Question


def question(name: str, **changes: Any) -> Question:
    """What a loop asks: 76 - 25 is right."""
    asked = Question(
        name,
        1,
        f"Neha had 76 books ({name}). She gave 25 away. How many are left?",
        51.0,
        "en",
        (Fraction(76), Fraction(25)),
        ("76 - 25", "25 + 76 - 25 - 25"),
        confidence=0.4,
    )
    return replace(asked, **changes)


def picked(value: str) -> list[dict[str, Any]]:
    return [_region("pick", "choices", {"choices": [value]})]


def written(equation: str) -> list[dict[str, Any]]:
    return [*picked("own"), _region("equation", "textarea", {"text": [equation]})]


def bad(reason: str) -> list[dict[str, Any]]:
    return [*picked("bad"), _region("reason", "choices", {"choices": [reason]})]


def _region(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "problem", "type": kind, "value": value}


@dataclass(frozen=True)
class People:
    """Whoever holds the key of the client, in one project."""

    client: Client
    project: int

    def tasks(self) -> dict[int, dict[str, Any]]:
        """The data of every task on the server."""
        return {task["id"]: task["data"] for task in tasks(self.client, self.project, ("id", "data"))}

    def names(self) -> list[tuple[str, int, int]]:
        """Problem, round and attempt of every task, in the order of their ids."""
        return [(one["problem_id"], one["round"], one["attempt"]) for one in self.tasks().values()]

    def task(self, name: str) -> int:
        return next(number for number, data in self.tasks().items() if data["problem_id"] == name)

    def annotate(self, task: int, result: list[dict[str, Any]], **fields: Any) -> int:
        made = answered(
            self.client,
            "annotating",
            "POST",
            f"api/tasks/{task}/annotations/",
            json={"result": result, "lead_time": 5.5, **fields},
        )
        return int(made["id"])

    def edit(self, annotation: int, **fields: Any) -> None:
        request(self.client, "editing", "PATCH", f"api/annotations/{annotation}/", json=fields)

    def delete(self, path: str) -> None:
        request(self.client, "deleting", "DELETE", f"api/{path}/")
