"""What a folder of weights holds, as JSON beside them. Nothing in it becomes code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing
from toolkit.storage.folder import check_folder

LARGEST = 100_000_000  # bytes of a description; a vocabulary of a million words has a tenth of that


class Description(BaseModel):
    """The fields that a description must have, and their types. It may have others."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    format: str


def write_description(path: Path, fields: Mapping[str, Any]) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(fields, ensure_ascii=False, indent=1), encoding="utf-8")


def read_description(path: Path, what: str, format: str, shape: type[Description]) -> dict[str, Any]:
    """The fields of a description that has this format and shape; `what` names it in messages: model, solver.

    Nothing in its folder may lead out of it.
    """
    check_folder(path.parent)
    try:
        if path.stat().st_size > LARGEST:
            raise damaged(path, what, "it is far too long")
        content = path.read_bytes()
        fields = json.loads(content)
    except FileNotFoundError:
        raise WarmkitError(f"{path.parent}: there is no {what} here (no {path.name}).") from None
    except (OSError, ValueError, RecursionError):
        raise damaged(path, what, "it can't be read") from None
    if not isinstance(fields, dict) or fields.get("format") != format:
        raise WarmkitError(f"{path}: this is not a {what} that this version reads ({format}). Train it anew.")
    try:
        shape.model_validate_json(content)
    except ValidationError as error:
        raise damaged(path, what, first_problem(error)) from None
    return fields


def first_problem(error: ValidationError) -> str:
    """The first thing that is wrong with a value, in a few words."""
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place}: {problem['msg']}" if place else problem["msg"]


def damaged(path: Path, what: str, problem: str) -> WarmkitError:
    """The error for a description that can't be used."""
    return WarmkitError(f"{path}: the {what} is damaged: {problem}.")
