"""The verdict on each answer, written to its task: the table of tasks shows what became of the answers."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.answers import TaskData
from annotation.client import Client, Gone
from annotation.summary import AnnotationSummary
from toolkit.annotators.questions import Response

LONGEST = 300  # characters


def show_verdicts(client: Client, summary: AnnotationSummary, responses: Sequence[Response]) -> None:
    """Write the verdicts on the tasks that these responses are about, those of the newest round alone."""
    if not responses:
        return
    newest = max(response.round for response in responses)
    tasks = {number: raw.task_id for number, raw in summary.store.latest().items()}
    by_task: dict[int, list[Response]] = defaultdict(list)
    for response in summary.store.responses()[0]:
        by_task[tasks[_annotation(response)]].append(response)
    for task in sorted({tasks[_annotation(one)] for one in responses if one.round == newest}):
        verdicts = [_verdict(summary, one) for one in by_task[task] if one.kind != "withdrawn"]
        text = "; ".join(dict.fromkeys(verdicts))[:LONGEST]
        try:
            data = client.call(f"reading task {task}", TaskData, "GET", f"api/tasks/{task}/").data
            if isinstance(data, dict) and data.get("verdict") != text:
                change = {"data": {**data, "verdict": text}}
                client.request(
                    f"writing the verdict on task {task}", "PATCH", f"api/tasks/{task}/", json=change
                )
        except Gone:
            continue


def _annotation(response: Response) -> int:
    return int(response.external_id.rpartition("/")[2])


def _verdict(summary: AnnotationSummary, response: Response) -> str:
    judgement = summary.judgement(response)
    return f"{judgement.verdict}: {judgement.reason}" if judgement.reason else judgement.verdict
