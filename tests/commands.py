"""What tests that start commands share."""

import os
from collections.abc import Iterable


def sets(settings: Iterable[str]) -> list[str]:
    """Each setting as an option of the command line."""
    return [word for setting in settings for word in ("--set", setting)]


def without_ray() -> dict[str, str]:
    """The environment of a process that is to have a Ray of its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
