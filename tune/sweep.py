"""A sweep: a folder, and Ray Tune over the trials that have not ended in it.

    config.yaml, problems.parquet, test.parquet   what it began with
    proposed.json                                 settings so far, where a searcher proposes them
    trials/trial-NNN.json                         what a trial came to
    trials/trial-NNN/                             the model of a trial that has not ended
    results.parquet, best.yaml, page.html         what it came to

A trial trains in its own process: Ray Train inside Tune costs 12 s and more for each trial, a plain function
in an actor that is used again less than one (bench/sweeps.py). The files of the trials are the truth, not
Ray's own: a sweep that was killed goes on with the trials that have no file, each after its last epoch, and
nothing pickled is ever read. What ASHA had seen before the kill is forgotten, so it stops fewer.
"""

import json
import logging
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from functools import cached_property, partial
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl

from toolkit.cluster.nodes import check_nodes
from toolkit.cluster.session import Where, session
from toolkit.config import load_config
from toolkit.data.write import replacing
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.run import build_folder, locked, refuse_changes
from tune.config import TuneConfig
from tune.plan import Trial, longest, proposals, trials
from tune.propose import need_optuna, propose
from tune.results import Outcome, read_outcome, write_outcome

ENVIRONMENT = {
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",  # its CSV, JSON and TensorBoard files: we have our own
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # Ctrl-C ends a sweep at once; trials lose an epoch at most
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
}
HERE = Where()


@dataclass(frozen=True)
class Sweep:
    folder: Path
    config: TuneConfig
    plan: list[Trial]  # grows where a searcher proposes settings

    @cached_property
    def planned(self) -> int:
        """How many trials there will be in the end."""
        return proposals(self.config) if self.config.search == "tpe" else len(self.plan)

    def file(self, trial: Trial) -> Path:
        return self.folder / "trials" / f"{trial.name}.json"

    def outcomes(self) -> list[Outcome]:
        """Those of the trials that have ended."""
        found = [read_outcome(self.file(trial), trial) for trial in self.plan]
        return [one for one in found if one is not None]

    def open_trials(self) -> list[Trial]:
        """Those to run: a trial that failed is tried again."""
        ended = {one.trial.number for one in self.outcomes() if one.state != "failed"}
        return [trial for trial in self.plan if trial.number not in ended]

    def left(self) -> int:
        """How many trials have not ended, those included that nobody has proposed yet."""
        return self.planned - len(self.plan) + len(self.open_trials())

    def more(self) -> list[Trial]:
        """The trials of one more setting that is proposed; none where there are enough."""
        if len(self.plan) >= self.planned:
            return []
        keys = propose(self.config, self.plan, self.outcomes())
        if keys is None:
            return []
        before = [trial.keys for trial in self.plan if trial.seed == self.config.seeds[0]]
        with replacing(self.folder / "proposed.json") as temporary:
            temporary.write_text(json.dumps([*before, keys]), encoding="utf-8")
        new = trials(self.config, [*before, keys])[len(self.plan) :]
        self.plan.extend(new)
        return new


def create_sweep(folder: Path, config: TuneConfig) -> Sweep:
    """A new sweep. Its folder appears with everything in it, or not at all."""
    if folder.exists():
        raise WarmkitError(f"{folder}: there is such a sweep. Go on with --resume, or take another --name.")
    need_optuna(config)
    plan = trials(config)
    build_folder(folder, config)
    return Sweep(folder, config, plan)


def open_sweep(folder: Path, config: TuneConfig) -> Sweep:
    """A sweep that is there. Its configuration may differ from the one it began with in the budget alone."""
    if not (folder / "config.yaml").exists():
        raise WarmkitError(f"{folder}: there is no such sweep to go on with. Leave out --resume.")
    own = load_config(TuneConfig, folder / "config.yaml")
    advice = "Resume with the same file and settings, or begin a new sweep with another --name."
    refuse_changes(folder, own, config, "budget.", advice)
    need_optuna(config)
    return Sweep(folder, config, trials(config, _proposed(folder / "proposed.json")))


def _proposed(file: Path) -> list[dict[str, Any]]:
    try:
        return [dict(keys) for keys in json.loads(file.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError):
        raise WarmkitError(f"{file}: it can't be read. Begin a new sweep with another --name.") from None


def run_sweep(
    sweep: Sweep,
    on_end: Callable[[Outcome], object],
    where: Where = HERE,
    tell: Callable[[str], object] = lambda text: None,
) -> None:
    """Run what has not ended, until all has, or the time is up. `on_end` hears of each trial that ends.

    On a cluster elsewhere trials write into the sweep's folder, which all nodes must see.
    """
    with locked(sweep):
        todo = sweep.open_trials()
        for trial in todo:
            sweep.file(trial).unlink(missing_ok=True)
        if not todo and len(sweep.plan) == sweep.planned:
            return
        # Without the dashboard ASHA was seen to wait for ever for the places of stopped trials.
        needed = replace(where, dashboard=where.dashboard or sweep.config.asha)
        with session(needed) as started, _quiet(where.verbose):
            if where.dashboard and started.notice:
                tell(started.notice)
            started.need(1)
            check_nodes(started, str(sweep.folder.absolute()))
            _fit(sweep, todo, on_end)


def _fit(sweep: Sweep, todo: Sequence[Trial], on_end: Callable[[Outcome], object]) -> None:
    from ray import tune
    from ray.tune.schedulers import ASHAScheduler

    config = sweep.config
    scheduler = None
    if config.asha:
        after_last = longest(config) + 1  # the last epoch is not the end: the solver comes after it
        scheduler = ASHAScheduler(
            time_attr="epoch",  # counts on where training does; Ray's own count would begin anew
            metric="reached",
            mode="max",
            max_t=max(after_last, config.grace),
            grace_period=config.grace,
            reduction_factor=config.reduction,
        )
    shared = Shared(
        problems=pl.read_parquet(sweep.folder / "problems.parquet"),
        test=pl.read_parquet(sweep.folder / "test.parquet") if config.measure_solver else None,
        folder=str((sweep.folder / "trials").absolute()),
    )
    seconds = config.budget.seconds
    end = None if seconds is None else time.monotonic() + seconds
    with _emptied(sweep.folder / "ray") as storage:
        tune.Tuner(
            tune.with_resources(tune.with_parameters(_work, shared=shared), {"CPU": 1}),
            tune_config=tune.TuneConfig(
                search_alg=_asker(sweep, deque(todo)),
                num_samples=-1,  # as many as it is told of
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


@contextmanager
def _emptied(folder: Path) -> Iterator[Path]:
    """Ray keeps notes of its own; they are gone when it ends, and after a kill when a sweep is resumed."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _name(trial: Any) -> str:
    return str(trial.config["trial"])


def _asker(sweep: Sweep, todo: deque[Trial]) -> Any:
    from ray.tune.search import Searcher

    class Asker(Searcher):  # type: ignore[misc]
        """Tells Ray of the next trial whenever there is room for one."""

        def suggest(self, trial_id: str) -> Any:
            todo.extend(sweep.more() if not todo else ())
            if not todo:
                return Searcher.FINISHED
            trial = todo.popleft()
            return {"trial": trial.name, "config": trial.config.model_dump_json()}

        def on_trial_complete(self, *trial: Any, **result: Any) -> None:
            """Outcomes are read from their files."""

        def save(self, checkpoint_path: str) -> None:
            """The sweep's own files are the truth."""

    return Asker()


@dataclass(frozen=True)
class Shared:
    """What every trial is given."""

    problems: pl.DataFrame
    test: pl.DataFrame | None
    folder: str


def _work(config: dict[str, Any], shared: Shared) -> None:
    """A trial, in its actor. What goes wrong in it is written down, and the actor serves the next one."""
    import torch
    from ray import tune

    from tune.trial import run_trial

    torch.set_num_threads(1)  # an actor is given one core
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
        write_outcome(file, {}, "failed", " ".join(str(error).split())[:500] or type(error).__name__)
    else:
        write_outcome(file, figures)
    shutil.rmtree(folder, ignore_errors=True)


def _watcher(sweep: Sweep, end: float | None, on_end: Callable[[Outcome], object]) -> Any:
    from ray.tune import Callback

    class Watcher(Callback):  # type: ignore[misc]
        """Hears of trials that end, also of those that could not write down how."""

        def __init__(self, tell: Callable[..., None]) -> None:
            self.tell = tell

        def __getstate__(self) -> dict[str, Any]:
            return {}  # Ray keeps callbacks in a file of its own, which nobody reads

        def on_trial_complete(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
            self.tell(trial)

        def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
            self.tell(trial, died=True)

    return Watcher(partial(_tell, sweep, end, on_end))


def _tell(
    sweep: Sweep,
    end: float | None,
    on_end: Callable[[Outcome], object],
    ended: Any,
    died: bool = False,
) -> None:
    """A trial of Ray's has ended. One without figures died, or was stopped: by ASHA, or as time was up."""
    trial = next(one for one in sweep.plan if one.name == _name(ended))
    last = ended.last_result or {}
    file = sweep.file(trial)
    if not file.exists():
        if died:
            write_outcome(file, {}, "failed", "The process of the trial died.")
        elif "epoch" in last and (end is None or time.monotonic() < end):
            figures = {"epochs": last["epoch"], "reached": last["reached"], "seconds": last["time_total_s"]}
            write_outcome(file, figures, "stopped")
            shutil.rmtree(file.with_suffix(""), ignore_errors=True)
    outcome = read_outcome(file, trial)
    if outcome is not None:
        on_end(outcome)


@contextmanager
def _quiet(verbose: bool) -> Iterator[None]:
    """Tune announces itself on the output and warns in the log whatever its verbosity."""
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
