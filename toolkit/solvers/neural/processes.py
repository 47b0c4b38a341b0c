"""Networks of a solver that train side by side, each in a process with one thread.

    python -m toolkit.solvers.neural.processes TRAINING MEMBER LESSONS

is such a process. It learns from the folder LESSONS, saves its network after every epoch, and prints a line
of JSON for each report. If the process that started it is gone, it ends with the next report.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from toolkit.errors import WarmkitError
from toolkit.solvers.base import SolverProgress
from toolkit.solvers.neural.folder import network_folder, read_training

ROOT = Path(__file__).parents[3]  # the folder with the package


def train_in_processes(
    training: Path,
    lessons: Path,
    members: int,
    at_once: int,
    on_report: Callable[[int, SolverProgress], object],
) -> None:
    """Train all networks, `at_once` at a time. If this ends early, so do the processes."""
    lines: Queue[tuple[int, str | None]] = Queue()  # None: the process ended
    waiting, running = list(range(members)), dict[int, subprocess.Popen[str]]()
    with ExitStack() as stack:
        while waiting or running:
            while waiting and len(running) < at_once:
                member = waiting.pop(0)
                running[member] = stack.enter_context(_start(training, member, lessons))
                stack.callback(running[member].kill)  # does nothing to a process that ended
                Thread(target=_read, args=(running[member], member, lines), daemon=True).start()
            member, line = lines.get()
            if line is not None:
                message = json.loads(line)
                if "error" in message:
                    raise WarmkitError(message["error"])
                on_report(member, SolverProgress(**message))
                continue
            process = running.pop(member)
            if process.wait():
                raise _failure(training, member, process.returncode)


def _start(training: Path, member: int, lessons: Path) -> "subprocess.Popen[str]":
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, str(training), str(member), str(lessons)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **threads, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C reaches the process that started it, which ends it
    )


def _read(process: "subprocess.Popen[str]", member: int, lines: "Queue[tuple[int, str | None]]") -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put((member, line))
    lines.put((member, None))


def _failure(training: Path, member: int, code: int) -> WarmkitError:
    return WarmkitError(
        f"{training.parent}: the process that trained network {member + 1} ended with exit code {code}.",
        "training-stopped",
    )


def _send(message: dict[str, Any]) -> None:
    """A line for the process that reads our output."""
    sys.stdout.write(f"{json.dumps(message)}\n")
    sys.stdout.flush()


def main(training: Path, member: int, lessons: Path) -> None:
    import torch

    from toolkit.solvers import find_solver
    from toolkit.solvers.neural.member import make_lessons, train_member
    from toolkit.solvers.neural.solver import NeuralSolver

    name, data = read_training(training, lessons)
    solver = find_solver(name)
    assert issubclass(solver, NeuralSolver)

    def report(now: SolverProgress) -> None:
        _send(asdict(now))

    train_member(
        solver,
        make_lessons(solver, data),
        member,
        torch.device("cpu"),
        network_folder(training, member),
        report,
    )


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
    except WarmkitError as error:
        _send({"error": str(error)})
        sys.exit(1)
    except BrokenPipeError:  # nobody waits for it any more
        os._exit(1)
