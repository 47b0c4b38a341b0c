"""Errors for people."""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

Named = TypeVar("Named")


class WarmkitError(Exception):
    """A failure that a person can fix.

    The message says what is wrong, where (file, line, id), and what to do.

    `code` names the failure for programs. For some codes the command line adds which option helps, with
    `details` filled in.
    """

    def __init__(self, message: str, code: str = "", **details: object) -> None:
        super().__init__(message)
        self.code, self.details = code, details

    def __reduce__(self) -> tuple[object, ...]:
        """For errors that are sent from a worker to the process that started it."""
        return _rebuilt, (type(self), str(self), self.code, self.details)


def _rebuilt(kind: type[WarmkitError], message: str, code: str, details: dict[str, object]) -> WarmkitError:
    return kind(message, code, **details)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence about an unknown name: the closest known name, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"Did you mean {close[0]}?" if close else f"Take one of {', '.join(names)}."


def look_up(what: str, name: str, known: Mapping[str, Named]) -> Named:
    """What has that name, or an error that says which names there are."""
    if name not in known:
        raise WarmkitError(f"There is no {what} {name}. {did_you_mean(name, known)}")
    return known[name]
