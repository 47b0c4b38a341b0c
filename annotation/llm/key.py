"""The key of a language model's server: from the environment, else from a file for its owner alone.

    WARMKIT_LLM_KEY         comes first
    WARMKIT_LLM_KEY_FILE    a file with the key alone, mode 0600

A server on this machine needs none. A key is never printed, and in no run.
"""

import os
from pathlib import Path

from annotation.keys import as_header, read_private
from toolkit.errors import WarmkitError

KEY = "WARMKIT_LLM_KEY"
KEY_FILE = "WARMKIT_LLM_KEY_FILE"


def find_key() -> str | None:
    """The key, None if there is none."""
    if key := os.environ.get(KEY):
        return as_header(key, KEY, "Copy it again.")
    path = os.environ.get(KEY_FILE)
    if not path:
        return None
    written = read_private(Path(path))
    if written is None:
        raise WarmkitError(f"{path}: this file of {KEY_FILE} does not exist.")
    return as_header(written, path, "It holds the key alone.")
