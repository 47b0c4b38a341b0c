"""Annotations from a file: what `warmkit annotate pull` wrote, a JSON export of Label Studio, or a table.

A table (CSV, JSON, Parquet) has the columns id (or problem_id) and equation, and perhaps annotator. All of
them become responses, which are judged as in the loop: an equation counts if it gives the answer and
annotators agree.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.answers import Annotation, OddAnswer, fitted
from annotation.interface import EQUATION, PICK
from annotation.tasks import Key, key_in, raw_of, response_of
from toolkit.annotators.questions import Response, ResponseKind
from toolkit.annotators.resolve import Resolution, Resolver
from toolkit.data import ProblemSet
from toolkit.data.records import Record, read_records
from toolkit.equations import Expr, bind, klass, over_values, show
from toolkit.errors import WarmkitError

KINDS: Mapping[str, ResponseKind] = {
    "": "equation",
    "accepted": "equation",
    "rejected": "equation",
    "disputed": "wrong_answer",
    "skipped": "skip",
}
MOST_SHOWN = 5  # unusable annotations that a message lists


@dataclass(frozen=True)
class Annotations:
    """The annotations of a file, as they count for a problem set."""

    resolutions: Mapping[str, Resolution]
    responses: int
    odd: Sequence[str]  # rows that could not be read, each a sentence
    elsewhere: int  # responses to problems that are not in the set

    @property
    def templates(self) -> dict[str, Expr]:
        """D_s: the equation of each problem that annotators agree on."""
        return {
            problem_id: resolution.template
            for problem_id, resolution in self.resolutions.items()
            if resolution.template is not None
        }

    def sentences(self) -> Iterator[str]:
        """What is in the file, and what is not used."""
        counts = Counter(resolution.verdict for resolution in self.resolutions.values())
        verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(counts.items()))
        yield f"{self.responses:,} annotations of {len(self.resolutions):,} problems: {verdicts}"
        if self.elsewhere:
            yield f"{self.elsewhere:,} are of problems that are not in the problem set"
        rejected = [
            f"problem {problem_id}: {resolution.equation or ''}: {resolution.reason}"
            for problem_id, resolution in self.resolutions.items()
            if resolution.verdict == "rejected"
        ]
        unused = [*self.odd, *rejected]
        yield from unused[:MOST_SHOWN]
        if len(unused) > MOST_SHOWN:
            yield f"… and {len(unused) - MOST_SHOWN:,} more that can't be used"


def read_annotations(path: Path | str, problems: ProblemSet, *, more_constants: bool = True) -> Annotations:
    """The annotations of a file, judged for the problems. An error if none of them is about these problems.

    `more_constants` as in `toolkit.annotators.judge`.
    """
    path = Path(path)
    records = read_records(path)
    odd: list[str] = []
    responses = list(_responses(path, records, odd))
    here = [response for response in responses if response.problem_id in problems.row]
    if not here:
        what = "none of its annotations is of a problem in the problem set" if responses else "it is empty"
        raise WarmkitError(f"{path}: {what}.", "no-annotations")
    resolutions = Resolver(problems, more_constants=more_constants).resolve(here)
    return Annotations(resolutions, len(here), tuple(odd), len(responses) - len(here))


def annotated_ids(path: Path | str) -> frozenset[str]:
    """The problems that a file of annotations is about, whatever set they are of."""
    path = Path(path)
    return frozenset(response.problem_id for response in _responses(path, read_records(path), []))


def equation_of(template: Expr, problems: ProblemSet, problem_id: str) -> str:
    """A template as the equation of its problem: over its numbers, or over N0, N1, … if that is unclear."""
    numbers = problems.numbers[problems.row[problem_id]]
    equation = over_values(template, numbers)
    try:
        same = klass(bind(equation, numbers, problems.constants, more_constants=True)[0]) == klass(template)
    except ValueError:
        same = False
    return show(equation if same else template)


def _responses(path: Path, records: Sequence[Record], odd: list[str]) -> Iterator[Response]:
    first = next((fields for _, fields in records if isinstance(fields, dict)), {})
    is_export = "data" in first and ("annotations" in first or "completions" in first)
    if not is_export and ("equation" not in first or not {"id", "problem_id"} & first.keys()):
        raise WarmkitError(
            f"{path}: these are no annotations. They are a table with the columns id, equation and "
            "annotator, or a JSON export of Label Studio; it has "
            f"{', '.join(list(first)[:12]) or 'no columns'}."
        )
    for line, fields in records:
        if isinstance(fields, str):
            odd.append(f"{path}, line {line}: {fields}")
        elif is_export:
            yield from _of_task(path, line, fields, odd)
        else:
            yield from _of_row(path, line, fields, odd)


def _of_row(path: Path, line: int, row: Mapping[str, Any], odd: list[str]) -> Iterator[Response]:
    problem_id = row.get("problem_id") if row.get("problem_id") is not None else row.get("id")
    verdict = _text(row.get("verdict")).casefold()
    equation, template = _text(row.get("equation")), _text(row.get("template"))
    if not (equation or template or verdict in ("disputed", "skipped")):
        return  # nobody annotated it
    if verdict not in KINDS or problem_id is None:
        what = "it has no id" if problem_id is None else f"its verdict {verdict[:60]!r} is not known"
        odd.append(f"{path}, line {line}: {what}")
        return
    yield Response(
        problem_id=str(problem_id),
        round=0,
        kind=KINDS[verdict],
        equation=equation or None,
        note=_text(row.get("reason")) or None,
        annotator=_text(row.get("annotator")) or "annotator",
        external_id=_text(row.get("external_id")) or f"{path.name}:{line}",
        updated_at=_text(row.get("updated_at")),
        seconds=None,
        template=template or None,
    )


def _of_task(path: Path, line: int, task: Mapping[str, Any], odd: list[str]) -> Iterator[Response]:
    """The responses of an exported task; of somebody else's project too, if its data names the problem."""
    data = task.get("data")
    key = key_in(data)
    if key is None and isinstance(data, Mapping):
        named = next((data[name] for name in ("problem_id", "id") if data.get(name) is not None), None)
        key = Key(str(named), 0, 0) if isinstance(named, str | int) else None
    if key is None:
        odd.append(f"{path}, line {line}: the data of the task have neither a problem_id nor an id")
        return
    found = task.get("annotations", task.get("completions"))
    for item in found if isinstance(found, list) else []:
        try:
            annotation = fitted(Annotation, _as_page(item))
        except OddAnswer as error:
            odd.append(f"{path}, line {line}, problem {key.problem_id[:60]}: an annotation is odd ({error})")
            continue
        response, warning = response_of(raw_of(annotation, line, {}), key, {}, path.name)
        if warning:
            odd.append(f"{path}, line {line}: {warning}")
        yield response


def _as_page(item: Any) -> Any:
    """An annotation of another page as one of ours: its only text field has the equation."""
    result = item.get("result") if isinstance(item, dict) else None
    regions = [region for region in (result if isinstance(result, list) else ()) if isinstance(region, dict)]
    if any(region.get("from_name") in (PICK, EQUATION) for region in regions):
        return item
    texts = [region for region in regions if region.get("type") == "textarea"]
    if len(texts) != 1:
        return item
    return {**item, "result": [{**texts[0], "from_name": EQUATION}]}


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()
