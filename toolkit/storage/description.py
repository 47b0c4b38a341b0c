"""What a folder of weights holds, as JSON beside them. Nothing in it becomes code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolkit.errors import WarmkitError
from toolkit.storage.atomic import replacing
from toolkit.storage.folder import check_folder


def write_description(path: Path, fields: Mapping[str, Any]) -> None:
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(fields, ensure_ascii=False, indent=1), encoding="utf-8")


def read_description(path: Path, what: str, format: str) -> dict[str, Any]:
    """The fields of a description that has this format; `what` names it in messages: model, solver.

    Nothing in its folder may lead out of it.
    """
    check_folder(path.parent)
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise WarmkitError(f"{path.parent}: there is no {what} here (no {path.name}).") from None
    except (OSError, ValueError, RecursionError):
        raise damaged(path, what) from None
    if not isinstance(written, dict) or written.get("format") != format:
        raise WarmkitError(f"{path}: this is not a {what} that this version reads ({format}). Train it anew.")
    return written


def damaged(path: Path, what: str) -> WarmkitError:
    """The error for a description that can't be used, or that does not fit its weights."""
    return WarmkitError(f"{path.parent}: the {what} is damaged: {path.name} can't be read, or does not fit.")
