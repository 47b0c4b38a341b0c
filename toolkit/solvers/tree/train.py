"""Training of the tree solvers: the networks one after the other, or side by side in processes."""

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import torch

from toolkit.nn.workers import ALONE, WorkerGroup
from toolkit.solvers.base import OnProgress, SolverInput, SolverProgress, TrainElsewhere
from toolkit.solvers.plausibility import Plausibility
from toolkit.solvers.tree import Gts
from toolkit.solvers.tree.folder import begin, network_folder, training_folder, write_data
from toolkit.solvers.tree.member import Lessons, make_lessons, train_member
from toolkit.solvers.tree.processes import train_in_processes

TreeSolver = TypeVar("TreeSolver", bound=Gts)

WORTH_A_PROCESS = 20_000  # problems that a network reads in all its epochs: about as long as a process starts


def train(
    solver: type[TreeSolver],
    data: SolverInput,
    device: torch.device | None,
    folder: Path | None,
    resume: bool,
    on_progress: OnProgress,
    workers: WorkerGroup | None,
    elsewhere: TrainElsewhere | None,
) -> TreeSolver:
    """The arguments are those of `Solver.fit`."""
    lessons = make_lessons(data)
    config, problems = lessons.config, data.problems
    device = device or torch.device("cpu")
    progress = _Progress(config.members, config.epochs * lessons.steps, on_progress)
    alone = workers is None and elsewhere is None
    at_once = _processes(solver, lessons, device) if alone else 1
    with ExitStack() as stack:
        if folder is None and (at_once > 1 or elsewhere is not None):
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="warmkit-")))
        training = None if folder is None else training_folder(folder)
        if folder is not None and training is not None:
            begin(training, solver.name, data, resume)
            if elsewhere is not None:
                elsewhere(folder)
            if at_once > 1:
                write_data(training, data)
                train_in_processes(training, config.members, at_once, progress.report)
        networks = []
        for member in range(config.members):
            own = None if training is None else network_folder(training, member)

            def report(now: SolverProgress, member: int = member) -> None:
                progress.report(member, now)

            networks.append(train_member(solver, lessons, member, device, own, report, workers or ALONE))
    answered = problems.take(lessons.examples.problems.tolist())
    plausibility = Plausibility.fit(answered.answers, answered.numbers)
    return solver(networks, lessons.vocabulary, plausibility, config, problems.constants)


def _processes(solver: type[Gts], lessons: Lessons, device: torch.device) -> int:
    """How many networks are trained side by side."""
    is_ours = solver.__module__ == Gts.__module__  # a process could not import one of a user's program
    is_long = lessons.config.epochs * len(lessons.learnt) >= WORTH_A_PROCESS
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, lessons.config.members) if is_ours and is_long and device.type == "cpu" else 1


class _Progress:
    """The progress of all networks as one."""

    def __init__(self, members: int, steps: int, on_progress: OnProgress) -> None:
        self.done, self.epochs = [0] * members, [0] * members
        self.total, self.on_progress = members * steps, on_progress

    def report(self, member: int, now: SolverProgress) -> None:
        self.done[member], self.epochs[member] = now.done, now.epochs
        self.on_progress(replace(now, done=sum(self.done), total=self.total, epochs=sum(self.epochs)))
