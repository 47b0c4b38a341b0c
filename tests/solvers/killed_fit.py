"""Fits a small solver that is killed before every single write: a file's taking its place.

    python killed_fit.py FOLDER

Prints how often it was killed, and after how many epochs it went on each time.
"""

import json
import os
import signal
import sys
from pathlib import Path

import torch
import torch._dynamo  # an optimizer imports it when it is made: longer than all the rest, in every process
from test_training import fit, problems_of

from toolkit.nn.checkpoint import FILE
from toolkit.solvers.neural.folder import network_folder, training_folder


def in_a_process(folder: Path, last: int) -> int:
    """The wait status of a process that fits and saves a solver, killed before its n-th write."""
    child = os.fork()
    if child == 0:
        writes, replace = 0, Path.replace

        def replacing(path: Path, target: Path) -> Path:
            nonlocal writes
            writes += 1
            if writes == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return replace(path, target)

        Path.replace = replacing
        try:
            fit(problems_of(24), folder=folder, resume=True).save(folder)
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def epochs_done(folder: Path) -> int:
    from safetensors import safe_open

    path = network_folder(training_folder(folder), 0) / FILE
    if not path.exists():
        return 0
    with safe_open(path, "pt") as file:
        return len(json.loads(file.metadata()["history"]))


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    kills, epochs, last = 0, [], 1
    while (status := in_a_process(folder, last)) == signal.SIGKILL:
        kills += 1
        assert kills < 40
        before = epochs[-1] if epochs else 0
        epochs.append(epochs_done(folder))
        last = 1 if epochs[-1] > before else last + 1
    assert status == 0
    print(json.dumps({"kills": kills, "epochs": epochs}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
