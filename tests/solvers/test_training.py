"""A training of a solver that is stopped, killed, resumed, or spread over processes."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from toolkit.cli import main
from toolkit.cli.hints import with_hint
from toolkit.data import ProblemSet, read_problems, write_table
from toolkit.errors import WarmkitError
from toolkit.solvers import Solver, SolverInput, SolverProgress, fit_solver, load_solver
from toolkit.solvers.neural import member, processes, train
from toolkit.solvers.neural.folder import training_folder
from toolkit.solvers.published import Gts
from toolkit.storage.folder import training_in

TINY = {"hidden": 8, "embedding": 8, "epochs": 3, "members": 1, "max_tokens": 9, "batch": 8}


@cache
def problems_of(size: int) -> ProblemSet:
    return read_problems("bundled:en").take(range(size))


def fit(problems: ProblemSet, settings: dict[str, object] | None = None, **options: object) -> Solver:
    return fit_solver(problems, settings=TINY | (settings or {}), **options)


class Stopped(Exception):
    pass


def stop_after(done: int):
    def on_progress(now: SolverProgress) -> None:
        if now.done >= done:
            raise Stopped

    return on_progress


def assert_same_networks(solver: Solver, other: Solver) -> None:
    assert len(solver.networks) == len(other.networks)
    for network, same in zip(solver.networks, other.networks, strict=True):
        for name, tensor in network.state_dict().items():
            assert tensor.equal(same.state_dict()[name]), name


@pytest.mark.parametrize("epochs", [1, 2, 4, 5])
def test_a_training_that_is_stopped_and_resumed_ends_as_if_it_was_not(tmp_path, epochs):
    """There are three epochs of three batches for each of the two networks."""
    problems, settings = problems_of(24), {"members": 2}
    with pytest.raises(Stopped):
        fit(problems, settings, folder=tmp_path, on_progress=stop_after(3 * epochs))
    seen: list[SolverProgress] = []
    resumed = fit(problems, settings, folder=tmp_path, resume=True, on_progress=seen.append)
    assert 3 * epochs not in {now.done for now in seen}  # what is done is not done again
    assert (seen[-1].done, seen[-1].total) == (18, 18)
    assert_same_networks(resumed, fit(problems, settings))
    resumed.save(tmp_path)
    assert not training_folder(tmp_path).exists()
    assert_same_networks(load_solver(tmp_path), resumed)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"settings": {"lr": 0.1}}, "lr"),
        ({"settings": {"epochs": 4}}, "epochs"),
        ({"seed": 1}, "the seed"),
        ({"problems": 23}, "the data"),
        ({"solver": "graph2tree"}, "the kind of solver"),
    ],
)
def test_a_training_of_something_else_is_not_resumed(tmp_path, change, name):
    with pytest.raises(Stopped):
        fit(problems_of(24), folder=tmp_path, on_progress=stop_after(3))
    problems = problems_of(change.pop("problems", 24))
    with pytest.raises(WarmkitError, match=f"{name} changed since it was started: not resumed"):
        fit(problems, folder=tmp_path, resume=True, **change)


def test_a_damaged_state_is_a_sentence(tmp_path):
    with pytest.raises(Stopped):
        fit(problems_of(24), folder=tmp_path, on_progress=stop_after(3))
    (state,) = training_folder(tmp_path).rglob("*.safetensors")
    state.write_bytes(state.read_bytes()[:-100])
    with pytest.raises(WarmkitError, match=r"training\.safetensors: it can't be read"):
        fit(problems_of(24), folder=tmp_path, resume=True)
    (training_folder(tmp_path) / "training.json").write_text("{}", encoding="utf-8")
    with pytest.raises(WarmkitError, match="not a training that this version reads"):
        fit(problems_of(24), folder=tmp_path, resume=True)


def test_a_fit_that_is_killed_before_any_of_its_writes_loses_at_most_an_epoch(tmp_path):
    script = Path(__file__).with_name("killed_fit.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(
        [sys.executable, script, tmp_path / "killed"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["epochs"] == sorted(told["epochs"])
    assert told["kills"] >= 6  # what is trained, three epochs, weights and description
    killed, whole = load_solver(tmp_path / "killed"), fit(problems_of(24))
    assert_same_networks(killed, whole)


def test_networks_in_processes_are_those_of_one_process(tmp_path, monkeypatch):
    problems, settings = problems_of(24), {"members": 2}
    monkeypatch.setattr(train, "WORTH_A_PROCESS", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    seen: list[SolverProgress] = []
    with_processes = fit(problems, settings, on_progress=seen.append)
    assert (seen[-1].done, seen[-1].total) == (18, 18)
    assert [now.done for now in seen] == sorted(now.done for now in seen)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    assert_same_networks(with_processes, fit(problems, settings))


def test_a_process_that_is_killed_is_a_sentence_and_its_training_goes_on(tmp_path, monkeypatch):
    problems, settings = problems_of(24), {"members": 2, "epochs": 100}
    monkeypatch.setattr(train, "WORTH_A_PROCESS", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    started: list[subprocess.Popen[str]] = []
    start = processes._start

    def recorded(*given):
        started.append(start(*given))
        return started[-1]

    monkeypatch.setattr(processes, "_start", recorded)
    with pytest.raises(
        WarmkitError, match=r"the process that trained network \d ended with exit code -9"
    ) as caught:
        fit(problems, settings, folder=tmp_path, on_progress=lambda now: started[0].kill())
    assert "--resume" in with_hint(caught.value)
    assert all(process.returncode is not None for process in started)  # nobody goes on alone
    resumed = fit(problems, settings, folder=tmp_path, resume=True)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    assert_same_networks(resumed, fit(problems, settings))


def test_ctrl_c_ends_the_processes_too(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "WORTH_A_PROCESS", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    started: list[subprocess.Popen[str]] = []
    start = processes._start

    def recorded(*given):
        started.append(start(*given))
        return started[-1]

    def interrupt(now: SolverProgress) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "_start", recorded)
    with pytest.raises(KeyboardInterrupt):
        fit(problems_of(24), {"members": 2, "epochs": 400}, on_progress=interrupt)
    assert [process.returncode for process in started] == [-9, -9]


def test_the_best_epoch_of_the_held_out_answers_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(member, "LEAST_HELD_OUT", 10)
    seen: list[SolverProgress] = []
    settings = {
        "held_out": 0.25,
        "epochs": 12,
        "hidden": 32,
        "lr": 0.01,
        "dropout": 0.0,
        "decoder_dropout": 0.0,
    }
    solver = fit(problems_of(120), settings, on_progress=seen.append)
    shares = [now.right for now in seen if now.right is not None]
    assert max(shares) > 0
    problems = problems_of(120)
    lessons = member.make_lessons(
        Gts, train.SolverInput(problems, problems.gold_templates, None, solver.config)
    )
    assert len(lessons.held_out) == 30
    (learnt,) = lessons.parts(["length"])
    assert len(learnt) == lessons.count == 90
    assert member._held_out_answers(type(solver), solver.networks[0], lessons) == max(shares)


def test_a_problem_is_held_out_whichever_others_have_equations(monkeypatch):
    monkeypatch.setattr(member, "LEAST_HELD_OUT", 5)
    problems, config = problems_of(60), Gts.Config(**TINY, held_out=0.25)
    fewer = dict(list(problems.gold_templates.items())[10:])
    every, some = (
        member.make_lessons(Gts, SolverInput(problems, known, None, config))
        for known in (problems.gold_templates, fewer)
    )
    assert len(every.held_out) == 15 and every.count == 45
    assert some.held_out.ids == tuple(name for name in every.held_out.ids if name in fewer)


def test_training_ends_if_no_epoch_is_better_for_some_time():
    history = [{"right": share} for share in (0.1, 0.5, 0.4, 0.5)]
    assert [member._has_settled(history[:count], 2) for count in range(5)] == [
        False,
        False,
        False,
        False,
        True,
    ]
    assert not member._has_settled(history, 0)
    assert not member._has_settled([{"right": None}] * 9, 2)


def test_the_rate_rises_and_falls_to_almost_zero():
    rates = [member._rate(step, 100, 0.1) for step in range(1, 101)]
    assert rates[:10] == pytest.approx([step / 10 for step in range(1, 11)])
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert 0 < rates[-1] < 0.02
    assert member._rate(1, 1, 0.0) == 1.0


def test_the_command_goes_on_only_if_it_is_told_to(tmp_path):
    data, out = tmp_path / "data.jsonl", tmp_path / "solver"
    write_table(problems_of(24).table, data)
    with pytest.raises(Stopped):
        fit(read_problems(data), folder=out, on_progress=stop_after(3))
    sets = [part for key, value in TINY.items() for part in ("--set", f"{key}={value}")]

    def run(*arguments: object):
        return CliRunner().invoke(
            main, ["solver", "fit", str(data), "--out", str(out), *sets, *map(str, arguments)]
        )

    refused = run()
    assert refused.exit_code == 1
    assert "there is an unfinished training here. Go on with --resume" in refused.output
    assert run("--resume", "--seed", 5).exit_code == 1
    assert run("--resume").exit_code == 0
    assert_same_networks(load_solver(out), fit(read_problems(data)))
    assert "there is a solver already" in run("--resume").output


def warm_input(start: Path | None) -> SolverInput:
    problems = problems_of(24)
    return SolverInput(problems, problems.gold_templates, None, Gts.Config(**TINY), 0, start)


def test_a_training_may_start_from_the_networks_of_another_solver(tmp_path):
    first = tmp_path / "first"
    scratch: list[SolverProgress] = []
    Gts.fit(warm_input(None), on_progress=scratch.append).save(first)
    seen: list[SolverProgress] = []
    further = Gts.fit(warm_input(first), on_progress=seen.append)
    assert seen[0].loss < scratch[0].loss
    with pytest.raises(Stopped):
        Gts.fit(warm_input(first), folder=tmp_path / "stopped", on_progress=stop_after(3))
    for path in first.iterdir():  # what it started from is kept beside its state
        path.unlink()
    resumed = Gts.fit(warm_input(None), folder=tmp_path / "stopped", resume=True)
    assert_same_networks(resumed, further)


def test_processes_start_from_the_networks_of_another_solver_too(tmp_path, monkeypatch):
    Gts.fit(warm_input(None)).save(tmp_path)
    alone = Gts.fit(warm_input(tmp_path))
    monkeypatch.setattr(train, "_processes", lambda *arguments: 2)
    assert_same_networks(Gts.fit(warm_input(tmp_path)), alone)


def test_a_solver_of_another_size_or_of_other_problems_is_no_start(tmp_path):
    fit(problems_of(24), {"hidden": 9}).save(tmp_path / "sizes")
    fit(problems_of(30)).save(tmp_path / "problems")
    for name in ("sizes", "problems"):
        with pytest.raises(WarmkitError, match=f"{name}: this solver has other words, constants or sizes"):
            Gts.fit(warm_input(tmp_path / name))


def test_two_trainings_in_one_folder_are_one_too_many(tmp_path):
    data, out = tmp_path / "data.jsonl", tmp_path / "solver"
    write_table(problems_of(24).table, data)
    sets = [part for key, value in TINY.items() for part in ("--set", f"{key}={value}")]
    command = ["solver", "fit", str(data), "--out", str(out), *sets]
    with training_in(out):
        refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 1
    assert f"{out}: process {os.getpid()} trains in this folder. Name another one." in refused.output
    assert not training_folder(out).exists()
    assert CliRunner().invoke(main, command).exit_code == 0


def test_the_command_tells_every_epoch_with_the_time_left(tmp_path):
    data = tmp_path / "data.jsonl"
    write_table(problems_of(24).table, data)
    sets = [part for key, value in TINY.items() for part in ("--set", f"{key}={value}")]
    told = CliRunner().invoke(main, ["solver", "fit", str(data), "--out", str(tmp_path / "solver"), *sets])
    lines = [line for line in told.stderr.splitlines() if line.startswith("Training ensemble: ")]
    assert [re.sub(r"\d+\.\d{3}|\d+:\d\d", "…", line) for line in lines] == [
        "Training ensemble: 33.3 %, loss …",
        "Training ensemble: 66.7 %, loss …, about … left",
        "Training ensemble: 100.0 %, loss …, about … left",
    ]
