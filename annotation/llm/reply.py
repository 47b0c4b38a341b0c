"""The equation in what a language model wrote. Whatever it wrote is only text: what is no equation, fails."""

import json
from typing import Any

MOST_TRIES = 20  # places in a text at which JSON may begin
LONGEST = 1_000  # characters of an equation
NAME = "equation"
SCHEMA = {
    "type": "object",
    "properties": {NAME: {"type": "string"}},
    "required": [NAME],
    "additionalProperties": False,
}


def equation_in(text: str) -> str | None:
    """The equation of the first JSON object that has one; None if there is none.

    Models write sentences, or a fence, around it. The left side of `x = 3 + 4` is dropped.
    """
    decoder, start = json.JSONDecoder(), -1
    for _ in range(MOST_TRIES):
        start = text.find("{", start + 1)
        if start < 0:
            return None
        try:
            found: Any = decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
        equation = found.get(NAME) if isinstance(found, dict) else None
        if isinstance(equation, str) and len(equation) <= LONGEST:
            return _right_side(equation.strip())
    return None


def _right_side(equation: str) -> str:
    """Of `x = 3 + 4` and `answer = 3 + 4` the right side; `3 + 4 = 7` is `3 + 4`."""
    sides = [side.strip() for side in equation.split("=")]
    if len(sides) != 2 or not all(sides):
        return equation
    left, right = sides
    return right if left.isidentifier() else left
