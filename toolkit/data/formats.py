"""Published formats: how to recognise the format of a record, and how to make it a row of problems.

A format is recognised by the fields of its records. To add one, write a function from a record to a row
and name its fields in `FORMATS`. If a record has an equation that can't be used, the row has none, and says
why under the name LEFT_OUT.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolkit.data.gsm8k import ANSWER, equation_of, final_answer
from toolkit.data.schema import MAX_TEXT, read_number
from toolkit.equations import EquationError, parse

LEFT_OUT = "left_out"

Fields = Mapping[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    fields: frozenset[str]  # the fields that every record has
    convert: Callable[[Fields], Row]


def native(record: Fields) -> Row:
    """warmkit's own: id, text, answer; optional equation, lang, split (or a number `fold`)."""
    row = {name: record.get(name) for name in ("id", "text", "answer", "equation", "lang", "split")}
    if row["split"] is None and record.get("fold") is not None:
        row["split"] = f"fold{record['fold']}"
    return row


def illinois(record: Fields) -> Row:
    """AllArith, MAWPS as first published, EW10K and HW10K: iIndex, sQuestion, lEquations, lSolutions.

    Their `quants` are not read: those of EW10K include constants that are not in the text, and those of
    HW10K keep the order of the English text. Numbers always come from the text.
    """
    return {
        "id": record.get("iIndex"),
        "text": record.get("sQuestion"),
        "answer": _first(record.get("lSolutions")),
        "equation": _first(record.get("lEquations")),
    }


def math23k(record: Fields) -> Row:
    """Math23K, and the sets that MWPToolkit ships in its fields: original_text, equation, ans."""
    return {
        "id": record.get("id"),
        "text": record.get("original_text") or record.get("segmented_text"),
        "answer": record.get("ans"),
        "equation": record.get("equation"),
    }


def svamp(record: Fields) -> Row:
    """SVAMP: the story in Body, the question in Question."""
    return {
        "id": record.get("ID"),
        "text": _joined(record.get("Body"), record.get("Question")),
        "answer": record.get("Answer"),
        "equation": record.get("Equation"),
    }


_UNIT_NOTE = re.compile(r"\(\s*[A-Za-z][^()]*\)")  # (cent/nickel)
_LEADING_NUMBER = re.compile(r"\s*(-?[\d.,/]*\d%?)\s*(?:\(|$)")


def asdiv(record: Fields) -> Row:
    """ASDiv: answers carry their unit, "16 (slices)"; formulas are notes for people, "2 (dime)*10 = 20".

    A formula that is not a single equation, even without its notes, is left out. The answer remains.
    """
    answer = str(record.get("Answer") or "")
    number = _LEADING_NUMBER.match(answer)
    written = str(record.get("Formula") or "")
    formula: str | None = _UNIT_NOTE.sub("", written)
    left_out = None
    try:
        parse(formula or "")
    except EquationError as error:
        formula, left_out = None, str(error) if written.strip() else None
    return {
        "id": record.get("ID"),
        "text": _joined(record.get("Body"), record.get("Question")),
        "answer": number[1] if number else answer or None,
        "equation": formula,
        LEFT_OUT: left_out,
    }


def gsm8k(record: Fields) -> Row:
    """GSM8K: question, and an answer that ends in "#### 54". Its calculations <<36/2=18>> make the equation.

    An answer without #### is the number alone, as other sets with these two fields have it.
    """
    question, solution = record.get("question"), record.get("answer")
    row = native({**record, "text": question})
    if not isinstance(solution, str) or ANSWER not in solution:
        return row
    row |= {"answer": final_answer(solution), "equation": None}
    if isinstance(question, str) and len(question) <= MAX_TEXT:
        try:
            row["equation"] = equation_of(question, solution, read_number(row["answer"]))
        except ValueError as error:  # also of an answer that is no number: then the row is refused
            row[LEFT_OUT] = str(error)
    return row


FORMATS = (
    Format("native", frozenset({"text", "answer"}), native),
    Format("allarith", frozenset({"sQuestion", "lSolutions"}), illinois),
    Format("math23k", frozenset({"original_text", "ans"}), math23k),
    Format("math23k", frozenset({"segmented_text", "ans"}), math23k),
    Format("asdiv", frozenset({"Body", "Question", "Answer", "Formula"}), asdiv),
    Format("svamp", frozenset({"Body", "Question", "Answer"}), svamp),
    Format("gsm8k", frozenset({"question", "answer"}), gsm8k),
)


def recognise(record: Fields) -> Format | None:
    """The format of a record, None if its fields match no format."""
    return next((known for known in FORMATS if known.fields <= record.keys()), None)


def renamed(columns: Mapping[str, str]) -> Format:
    """The native format with other names of columns: {"text": "question"}."""
    return Format(
        "columns",
        frozenset(columns.values()),
        lambda record: native({**record, **{ours: record.get(theirs) for ours, theirs in columns.items()}}),
    )


def _first(value: Any) -> Any:
    """The first of a list (of a list): lEquations is a list in AllArith, a list of lists in EW10K."""
    while isinstance(value, list):
        value = value[0] if value else None
    return value


def _joined(story: Any, question: Any) -> str:
    """Story and question as one text. In SVAMP a body may end in mid-sentence, without a full stop."""
    story, question = str(story or "").strip(), str(question or "").strip()
    return f"{story} {question}" if not story or story[-1] in ".!?,;:" else f"{story}, {question}"
