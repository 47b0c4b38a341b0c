"""Training of a solver: the networks one after the other, or side by side in processes."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
import torch

from toolkit.equations import reaches
from toolkit.errors import WarmkitError
from toolkit.nn.network import EquationNetwork
from toolkit.nn.workers import ALONE, WorkerGroup
from toolkit.solvers.base import OnProgress, PreparedLessons, SolverInput, SolverProgress, TrainElsewhere
from toolkit.solvers.coherence import Coherence
from toolkit.solvers.neural.folder import begin, network_folder, training_folder
from toolkit.solvers.neural.lessons import Lessons
from toolkit.solvers.neural.member import make_lessons, new_networks, train_member
from toolkit.solvers.neural.processes import train_in_processes
from toolkit.solvers.neural.retrieval import Learnt
from toolkit.solvers.neural.solver import NeuralSolver
from toolkit.solvers.neural.stored import write_lessons
from toolkit.solvers.plausibility import Plausibility
from toolkit.solvers.ranking import Ranker

Trained = TypeVar("Trained", bound=NeuralSolver)

WORTH_A_PROCESS = 20_000  # problems that a network reads in all its epochs: about as long as a process starts


def train(
    solver: type[Trained],
    data: SolverInput | PreparedLessons,
    *,
    device: torch.device | None = None,
    folder: Path | None = None,
    resume: bool = False,
    on_progress: OnProgress = lambda progress: None,
    workers: WorkerGroup | None = None,
    elsewhere: TrainElsewhere | None = None,
) -> Trained:
    """The arguments are those of `Solver.fit`."""
    lessons = make_lessons(solver, data, workers or ALONE)
    config = lessons.config
    device = device or torch.device("cpu")
    progress = _Progress(config.members, config.epochs * lessons.steps, on_progress)
    alone = workers is None and elsewhere is None
    at_once = _processes(solver, lessons, device) if alone else 1
    with ExitStack() as stack:
        if folder is None and (at_once > 1 or elsewhere is not None or data.start is not None):
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="warmkit-")))
        training = None if folder is None else training_folder(folder)
        if folder is not None and training is not None:
            begin(training, solver.name, data, resume, _start(solver, lessons, data.start))
            if elsewhere is not None:
                elsewhere(folder)
            if at_once > 1:
                stored = _stored(lessons, data, training)
                train_in_processes(training, stored, config.members, at_once, progress.report)
        networks = []
        for member in range(config.members):
            own = None if training is None else network_folder(training, member)

            def report(now: SolverProgress, member: int = member) -> None:
                progress.report(member, now)

            networks.append(train_member(solver, lessons, member, device, own, report))
    ranker = Ranker(Plausibility(lessons.answers), _coherence(lessons))
    learnt = _learnt(lessons) if config.retrieval else []
    fitted = solver(networks, lessons.vocabulary, ranker, config, lessons.constants, learnt)
    if workers is None:  # whoever sent the workers ranks beams once, with their networks
        fitted.ranker = _learnt_ranking(fitted, lessons)
    return fitted


def _learnt_ranking(solver: NeuralSolver, lessons: Lessons) -> Ranker:
    """How the beams of held-out problems are best ranked; no network has learnt their equations."""
    ranker, config = solver.ranker, lessons.config
    if config.ranking == "probability":
        return ranker.weighted({"probability": 1.0})
    if config.ranking == "plausible" or not len(lessons.held_out):
        return ranker
    problems = lessons.held_out
    return ranker.fitted(
        [
            (
                readings,
                numbers,
                np.array([reaches(reading.template, numbers, answer) for reading in readings]),
            )
            for readings, numbers, answer in zip(
                solver.readings(problems, config.beam), problems.numbers, problems.answers, strict=True
            )
        ]
    )


def _coherence(lessons: Lessons) -> Coherence:
    """Of the steps of the equations that are learnt, not of those that are held out."""
    return Coherence.fit((values, equations) for (values,), equations in lessons.equations("values"))


def _learnt(lessons: Lessons) -> list[Learnt]:
    """Every problem that was learnt, with the likeliest of its equations."""
    return [
        Learnt(tuple(words.split(" ")), max(equations, key=lambda equation: equation[1])[0])
        for (words,), equations in lessons.equations("words")
    ]


def _stored(lessons: Lessons, data: SolverInput | PreparedLessons, training: Path) -> Path:
    """A folder with the lessons, for other processes."""
    if isinstance(data, PreparedLessons):
        return data.folder
    folder = training / "lessons"
    write_lessons(folder, lessons, data.digest(), len(data.problems))
    return folder


def _start(solver: type[NeuralSolver], lessons: Lessons, folder: Path | None) -> list[EquationNetwork]:
    """The networks to start from; none if there is no folder. They must be like those to be trained."""
    if folder is None:
        return []
    previous, constants = solver.load(folder), lessons.constants
    with torch.device("meta"):
        new = new_networks(solver, len(lessons.vocabulary), constants, lessons.config, seed=0)
    same_words = previous.vocabulary.words == lessons.vocabulary.words
    if not same_words or previous.constants != constants or _shapes(previous.networks) != _shapes(new):
        raise WarmkitError(f"{folder}: this solver has other words, constants or sizes: not started from it.")
    return previous.networks


def _shapes(networks: Sequence[EquationNetwork]) -> list[dict[str, torch.Size]]:
    return [{name: tensor.shape for name, tensor in network.state_dict().items()} for network in networks]


def _processes(solver: type[NeuralSolver], lessons: Lessons, device: torch.device) -> int:
    """How many networks are trained side by side."""
    is_ours = solver.__module__.startswith("toolkit.")  # a process could not import one of a user's program
    is_long = lessons.config.epochs * lessons.count >= WORTH_A_PROCESS
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
