"""Commands that start at the same moment: each in a process of its own, released together.

    python at_once.py PROCESSES WORD...   the words of a command; each `{}` becomes the number of a process

Every process forks off after everything is imported, so that they really run at once. Prints one line of
JSON: for each process its exit code, and what it said.
"""

import json
import os
import sys

import torch
import torch._dynamo  # an optimizer imports it when it is made
from click.testing import CliRunner

from toolkit.cli import main
from toolkit.cli.loop import loop  # noqa: F401
from toolkit.cli.train import train  # noqa: F401
from toolkit.cli.tune import tune  # noqa: F401
from toolkit.loop.results import write_results  # noqa: F401


def start(words: list[str], barrier: int, release: int) -> int:
    """Starts a process that waits for the barrier. Its answer can be read from what this returns."""
    result, said = os.pipe()
    if os.fork():
        os.close(said)
        return result
    os.close(release)
    torch.set_num_threads(1)
    os.read(barrier, 1)  # returns when nobody holds `release` any more
    ended = CliRunner().invoke(main, words)
    traceback = ended.exception is not None and not isinstance(ended.exception, SystemExit)
    answer = [ended.exit_code, repr(ended.exception) if traceback else ended.output]
    os.write(said, json.dumps(answer).encode())
    os._exit(0)


def at_once(times: int, words: list[str]) -> list[tuple[int, str]]:
    barrier, release = os.pipe()
    results = [
        start([word.replace("{}", str(number)) for word in words], barrier, release)
        for number in range(times)
    ]
    os.close(release)
    answers = []
    for result in results:
        with os.fdopen(result) as file:
            answers.append(json.loads(file.read()))
    return answers


if __name__ == "__main__":
    print(json.dumps(at_once(int(sys.argv[1]), sys.argv[2:])))
