"""What push and pull cost against plain calls of the SDK, on a real Label Studio that is started for it.

    python bench/annotation.py                     about five minutes on two cores, the installation aside

    push         1,000 problems with candidates, against one import_tasks of the same tasks
    pull         1,000 annotations, against tasks.list with all fields
    nothing new  a pull of a project with 10,000 tasks after which nobody said anything

Each is done in turn with the plain call, several times: seconds are medians, the ratio is the median of the
pairs' ratios. The problems are bundled:en, over and over, each with the candidates that a search finds.
"""

import sys

sys.path.pop(0)  # this folder, in which this file would pass for the package of its name

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from label_studio_sdk import LabelStudio

from annotation.client import Client
from annotation.environment import find_environment
from annotation.interface import page
from annotation.keys import data_folder
from annotation.project import ensure_project
from annotation.pull import pull
from annotation.push import push
from annotation.reconcile import reconcile
from annotation.server import running
from annotation.store import TaskStore
from annotation.tasks import task_of
from toolkit.annotators.questions import Question, ShownCandidate
from toolkit.cli.output import print_table
from toolkit.data import numbers_of, read_problems
from toolkit.equations import over_values, search, show


def questions(count: int) -> list[Question]:
    problems = read_problems("bundled:en").problems
    numbers = numbers_of(problems)
    found = search(numbers, problems["answer"].to_list(), 2)
    shown = [
        tuple(
            ShownCandidate(show(over_values(candidate.template, values)), show(candidate.template))
            for candidate in candidates[:5]
        )
        for values, candidates in zip(numbers, found, strict=True)
    ]
    rows = problems.select("text", "answer", "lang").rows()
    return [
        Question(
            f"p{i}",
            1,
            *rows[i % len(rows)],
            tuple(numbers[i % len(rows)]),
            shown[i % len(rows)],
            confidence=0.5,
        )
        for i in range(count)
    ]


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def sdk_of(client: Client) -> LabelStudio:
    return LabelStudio(base_url=client.url, api_key=client.connection.key)


def store_of(client: Client, root: Path) -> TaskStore:
    store = TaskStore(Path(tempfile.mkdtemp(dir=root)))
    ensure_project(client, store, "bench")
    return store


def pushes(client: Client, root: Path, asked: list[Question], times: int) -> list[tuple[float, float]]:
    tasks, pairs, sdk = [task_of(question) for question in asked], [], sdk_of(client)
    for _ in range(times):
        store = store_of(client, root)
        project = sdk.projects.create(title="plain", label_config=page()).id
        ours = seconds(lambda store=store: push(client, store, asked))  # type: ignore[misc]
        plain = seconds(
            lambda project=project: sdk.projects.import_tasks(  # type: ignore[misc]
                project, request=tasks, request_options={"max_retries": 0}
            )
        )
        pairs.append((ours, plain))
    return pairs


def pulls(client: Client, root: Path, asked: list[Question], times: int) -> list[tuple[float, float]]:
    first = store_of(client, root)
    tasks = [task_of(question) | {"annotations": [_annotation(question)]} for question in asked]
    client.request("sending", "POST", f"api/projects/{first.project}/import", json=tasks)
    reconcile(client, first)
    pairs, sdk = [], sdk_of(client)
    for _ in range(times):
        store = TaskStore(Path(tempfile.mkdtemp(dir=root)))  # as the first one was before it pulled
        with store.transaction():
            for name in ("url", "project", "created_at", "page"):
                store.set_fact(name, first.fact(name))
            store.add_tasks(first.tasks())
        got = 0

        def ours(store: TaskStore = store) -> None:
            nonlocal got
            got = pull(client, store).new

        took = seconds(ours)
        assert got == len(asked), got
        plain = seconds(lambda: list(sdk.tasks.list(project=first.project, fields="all")))
        pairs.append((took, plain))
    return pairs


def _annotation(question: Question) -> dict[str, Any]:
    value = {"choices": [question.candidates[0].template if question.candidates else "own"]}
    pick = {"from_name": "pick", "to_name": "problem", "type": "choices", "value": value}
    return {"result": [pick], "lead_time": 4.2}


def nothing_new(client: Client, root: Path, asked: list[Question], times: int) -> list[float]:
    store = store_of(client, root)
    push(client, store, asked)
    pull(client, store)
    return [seconds(lambda: pull(client, store)) for _ in range(times)]


def row(name: str, pairs: list[tuple[float, float]]) -> tuple[str, ...]:
    ours, plain = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(slow / fast for fast, slow in pairs)
    return (name, f"{ours:.2f}", f"{plain:.2f}", f"{ratio:.2f}×")


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--tasks", default=1_000, show_default=True)
@click.option("--many", default=10_000, show_default=True, help="Tasks of the project with nothing new.")
@click.option("--times", default=5, show_default=True)
def main(tasks: int, many: int, times: int) -> None:
    program = find_environment(data_folder())
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with running(program, root / "server") as server, Client(server.connection) as client:
            asked = questions(tasks)
            rows = [row(f"push of {tasks:,} tasks", pushes(client, root, asked, times))]
            rows.append(row(f"pull of {tasks:,} annotations", pulls(client, root, asked, times)))
            idle = statistics.median(nothing_new(client, root, questions(many), times))
            rows.append((f"pull, nothing new in {many:,} tasks", f"{idle:.2f}", "–", "–"))
    print_table(f"medians of {times}", rows, ("what", "seconds", "plain SDK call", "as fast"))


if __name__ == "__main__":
    main()
