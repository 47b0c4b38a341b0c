"""A sweep: a folder, and Ray Tune over the trials that have not ended in it.

    config.yaml, problems.parquet, test.parquet   what it began with
    proposed.json                                 settings so far, if a searcher proposes them
    trials/trial-NNN.json                         the result of a trial
    trials/trial-NNN/                             the model of a trial that has not ended
    results.parquet, best.yaml, page.html         the results of the sweep

A trial trains in its own process: Ray Train inside Tune costs 12 s and more for each trial, a plain function
in a reused actor less than 1 s (bench/sweeps.py). The files of the trials are the truth, not Ray's own: a
sweep that was killed continues with the trials that have no file, each after its last epoch, and nothing
pickled is ever read. What ASHA saw before the kill is forgotten, so it stops fewer trials.
"""

import json
import logging
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from functools import cached_property, partial
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from toolkit.cluster.nodes import check_nodes
from toolkit.cluster.session import ClusterSpec, session
from toolkit.data import ProblemSet
from toolkit.data.schema import PROBLEMS
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.run import build_folder, locked, own_config, refuse_changes
from toolkit.loop.sets import read_sets
from toolkit.storage.atomic import replacing
from toolkit.storage.folder import check_folder
from toolkit.storage.tables import read_parquet
from tune.config import Span, TuneConfig
from tune.plan import Trial, longest, proposals, trials
from tune.propose import need_optuna, propose
from tune.results import TrialResult, read_result, write_result

ENVIRONMENT = {
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",  # its CSV, JSON and TensorBoard files: warmkit has its own
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # Ctrl-C ends a sweep at once; trials lose an epoch at most
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
}
THIS_MACHINE = ClusterSpec()
PROPOSED = TypeAdapter(list[dict[str, Any]])


@dataclass(frozen=True)
class Sweep:
    folder: Path
    config: TuneConfig
    plan: list[Trial]  # grows if a searcher proposes settings

    @cached_property
    def planned(self) -> int:
        """How many trials the complete sweep has."""
        return proposals(self.config) if self.config.search == "tpe" else len(self.plan)

    def file(self, trial: Trial) -> Path:
        return self.folder / "trials" / f"{trial.name}.json"

    def results(self) -> list[TrialResult]:
        """The results of the trials that have ended."""
        found = [read_result(self.file(trial), trial) for trial in self.plan]
        return [result for result in found if result is not None]

    def open_trials(self) -> list[Trial]:
        """The trials to run. A trial that failed runs again."""
        ended = {result.trial.number for result in self.results() if result.state != "failed"}
        return [trial for trial in self.plan if trial.number not in ended]

    def left(self) -> int:
        """How many trials are left to run, including those not proposed yet."""
        return self.planned - len(self.plan) + len(self.open_trials())

    def more(self) -> list[Trial]:
        """Propose one more setting: its trials; none if there are enough, or no setting is left."""
        if len(self.plan) >= self.planned:
            return []
        keys = propose(self.config, self.plan, self.results())
        if keys is None:
            return []
        before = [trial.keys for trial in self.plan if trial.seed == self.config.seeds[0]]
        with replacing(self.folder / "proposed.json") as temporary:
            temporary.write_text(json.dumps([*before, keys]), encoding="utf-8")
        new = trials(self.config, [*before, keys])[len(self.plan) :]
        self.plan.extend(new)
        return new


def create_sweep(folder: Path, config: TuneConfig) -> Sweep:
    """A new sweep. Its folder appears complete, or not at all."""
    taken = WarmkitError(f"{folder}: this sweep exists already. Take another name.", "sweep-exists")
    if folder.exists():
        raise taken
    need_optuna(config)
    plan = trials(config)
    if build_folder(folder.parent, [folder.name], config, *read_sets(config)) is None:
        raise taken
    return Sweep(folder, config, plan)


def open_sweep(folder: Path, config: TuneConfig) -> Sweep:
    """An existing sweep. Its configuration may differ from the one it began with only in the budget."""
    check_folder(folder)
    if not (folder / "config.yaml").exists():
        raise WarmkitError(f"{folder}: there is no such sweep to resume.", "no-sweep")
    own = own_config(TuneConfig, folder)
    refuse_changes(
        folder, own, config, "budget.", "A sweep keeps the configuration it began with.", "sweep-changed"
    )
    need_optuna(config)
    return Sweep(folder, config, trials(config, _proposed(folder / "proposed.json", config.space)))


def _proposed(file: Path, space: Mapping[str, Span]) -> list[dict[str, Any]]:
    try:
        settings = PROPOSED.validate_json(file.read_bytes(), strict=True)
        for setting in settings:
            if setting.keys() != space.keys() or any(setting[key] not in span for key, span in space.items()):
                raise ValueError("it is not in the space of the sweep")
    except FileNotFoundError:
        return []
    except (OSError, ValueError):
        raise WarmkitError(f"{file}: it can't be read. Begin a new sweep.") from None
    return settings


def run_sweep(
    sweep: Sweep,
    on_end: Callable[[TrialResult], object],
    spec: ClusterSpec = THIS_MACHINE,
    tell: Callable[[str], object] = lambda text: None,
) -> None:
    """Run the trials that have not ended, until all have or the time is up. `on_end` gets each result.

    On a remote cluster trials write into the sweep's folder, which all nodes must see.
    """
    with locked(sweep):
        todo = sweep.open_trials()
        for trial in todo:
            sweep.file(trial).unlink(missing_ok=True)
        if not todo and len(sweep.plan) == sweep.planned:
            return
        # Without the dashboard, ASHA was seen to wait forever for the slots of stopped trials.
        needed = replace(spec, dashboard=spec.dashboard or sweep.config.asha)
        with session(needed) as started, _quiet(spec.verbose):
            if spec.dashboard and started.notice:
                tell(started.notice)
            started.require(1)
            check_nodes(started, str(sweep.folder.absolute()))
            _fit(sweep, todo, on_end)


def _fit(sweep: Sweep, todo: Sequence[Trial], on_end: Callable[[TrialResult], object]) -> None:
    from ray import tune
    from ray.tune.schedulers import ASHAScheduler

    config = sweep.config
    scheduler = None
    if config.asha:
        after_last = longest(config) + 1  # the last epoch is not the end: the solver follows
        scheduler = ASHAScheduler(
            time_attr="epoch",  # continues when training does; Ray's own count would start again
            metric="reached",
            mode="max",
            max_t=max(after_last, config.grace),
            grace_period=config.grace,
            reduction_factor=config.reduction,
        )
    shared = Shared(
        problems=_problem_set(sweep.folder / "problems.parquet"),
        test=_problem_set(sweep.folder / "test.parquet") if config.measure_solver else None,
        folder=str((sweep.folder / "trials").absolute()),
    )
    seconds = config.budget.seconds
    end = None if seconds is None else time.monotonic() + seconds
    with _emptied(sweep.folder / "ray") as storage:
        tune.Tuner(
            tune.with_resources(tune.with_parameters(_work, shared=shared), {"CPU": 1}),
            tune_config=tune.TuneConfig(
                search_alg=_searcher(sweep, deque(todo)),
                num_samples=-1,  # as many as the searcher suggests
                scheduler=scheduler,
                time_budget_s=seconds,
                reuse_actors=True,
                trial_name_creator=_name,
                trial_dirname_creator=_name,
            ),
            run_config=tune.RunConfig(
                name=sweep.folder.name,
                storage_path=str(storage.absolute()),
                verbose=0,
                callbacks=[_watcher(sweep, end, on_end)],
            ),
        ).fit()


def _problem_set(path: Path) -> ProblemSet:
    """A problem set whose texts are already read, so that no trial has to read them."""
    return ProblemSet.from_frame(read_parquet(path, PROBLEMS), name=str(path))


@contextmanager
def _emptied(folder: Path) -> Iterator[Path]:
    """A folder for Ray's own files. It is deleted at the end; after a kill, when the sweep is resumed."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _name(trial: Any) -> str:
    return str(trial.config["trial"])


def _searcher(sweep: Sweep, todo: deque[Trial]) -> Any:
    from ray.tune.search import Searcher

    class PlanSearcher(Searcher):  # type: ignore[misc]
        """Gives Ray the next trial whenever there is room for one."""

        def suggest(self, trial_id: str) -> Any:
            todo.extend(sweep.more() if not todo else ())
            if not todo:
                return Searcher.FINISHED
            trial = todo.popleft()
            return {"trial": trial.name, "config": trial.config.model_dump_json()}

        def on_trial_complete(self, *trial: Any, **result: Any) -> None:
            """Results are read from their files."""

        def save(self, checkpoint_path: str) -> None:
            """The sweep's own files are the truth."""

    return PlanSearcher()


@dataclass(frozen=True)
class Shared:
    """What every trial gets."""

    problems: ProblemSet
    test: ProblemSet | None
    folder: str


def _work(config: dict[str, Any], shared: Shared) -> None:
    """Run a trial in its actor. An error becomes its result, and the actor goes on to the next trial."""
    import torch
    from ray import tune

    from tune.trial import run_trial

    torch.set_num_threads(1)  # an actor has one core
    folder = Path(shared.folder) / config["trial"]
    file = folder.with_suffix(".json")
    try:
        figures = run_trial(
            shared.problems,
            shared.test,
            LoopConfig.model_validate_json(config["config"]),
            folder,
            on_epoch=lambda epoch: tune.report({"epoch": epoch.epoch, "reached": epoch.reached}),
        )
    except Exception as error:
        write_result(file, {}, "failed", " ".join(str(error).split())[:500] or type(error).__name__)
    else:
        write_result(file, figures)
    shutil.rmtree(folder, ignore_errors=True)


def _watcher(sweep: Sweep, end: float | None, on_end: Callable[[TrialResult], object]) -> Any:
    from ray.tune import Callback

    class Watcher(Callback):  # type: ignore[misc]
        """Notices every trial that ends, even one that could not write its result."""

        def __init__(self, on_trial_end: Callable[..., None]) -> None:
            self.on_trial_end = on_trial_end

        def __getstate__(self) -> dict[str, Any]:
            return {}  # Ray saves callbacks in a file of its own, which nobody reads

        def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
            self.on_trial_end(trial)

        def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
            self.on_trial_end(trial, died=True)

    return Watcher(partial(_on_trial_end, sweep, end, on_end))


def _on_trial_end(
    sweep: Sweep,
    end: float | None,
    on_end: Callable[[TrialResult], object],
    ended: Any,
    died: bool = False,
) -> None:
    """Ray has ended a trial. One without a result died, or was stopped: by ASHA, or because time was up."""
    trial = next(planned for planned in sweep.plan if planned.name == _name(ended))
    last = ended.last_result or {}
    file = sweep.file(trial)
    if not file.exists():
        if died:
            write_result(file, {}, "failed", "The process of the trial died.")
        elif "epoch" in last and (end is None or time.monotonic() < end):
            figures = {"epochs": last["epoch"], "reached": last["reached"], "seconds": last["time_total_s"]}
            write_result(file, figures, "stopped")
            shutil.rmtree(file.with_suffix(""), ignore_errors=True)
    result = read_result(file, trial)
    if result is not None:
        on_end(result)


@contextmanager
def _quiet(verbose: bool) -> Iterator[None]:
    """Silence Tune, which prints and logs warnings whatever its verbosity is."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    log = logging.getLogger("ray.tune")
    before = log.level
    if not verbose:
        log.setLevel(logging.CRITICAL)
    try:
        with nullcontext() if verbose else redirect_stdout(StringIO()):
            yield
    finally:
        log.setLevel(before)
