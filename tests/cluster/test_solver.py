"""Solvers on the workers of a real Ray session."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
from click.testing import CliRunner
from commands import a_worker, descendants, sets, wait_for_the_end_of, without_ray

from toolkit.cli import main
from toolkit.compute import ClusterCompute
from toolkit.config import load_config
from toolkit.data import read_problems, write_table
from toolkit.data.prepared import known_share
from toolkit.data.preparing import Preparation, prepare
from toolkit.errors import WarmkitError
from toolkit.solvers import SolverInput, SolverProgress, load_solver
from toolkit.solvers.neural.prepare import prepare_lessons
from toolkit.solvers.published import Gts

# The training of a solver on workers, killed in the moment in which it tells its first epoch.
KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from toolkit.cluster.session import ClusterSpec, session
from toolkit.compute import ClusterCompute
from toolkit.config import load_config
from toolkit.data import read_problems
from toolkit.solvers import SolverInput
from toolkit.solvers.published import Gts

data, out, *settings = sys.argv[1:]
problems = read_problems(data)
given = SolverInput(problems, problems.gold_templates, None, load_config(Gts.Config, None, settings))
with session(ClusterSpec(workers=2)) as started:
    ClusterCompute(torch.device("cpu"), started).fit_solver(
        Gts,
        given,
        folder=Path(out),
        resume=False,
        on_progress=lambda now: os.kill(os.getpid(), signal.SIGKILL),
        label="solver",
    )
"""
EPOCHS = 6  # of each of two networks; on workers half a second each at least: time to kill something
EXACT = (
    *(
        "hidden=16",
        "embedding=16",
        "members=2",
        "max_tokens=9",
        "batch=8",
        "dropout=0",
        "decoder_dropout=0",
        f"epochs={EPOCHS}",
    ),
)


def solver_input(problems, settings=EXACT):
    return SolverInput(problems, problems.gold_templates, None, load_config(Gts.Config, None, settings))


def on_workers(session, data, folder, on_progress, resume=False):
    compute = ClusterCompute(torch.device("cpu"), session)
    return compute.fit_solver(
        Gts, data, folder=folder, resume=resume, on_progress=on_progress, label="solver"
    )


@pytest.fixture(scope="module")
def alone(problems):
    """The solver that this process comes to."""
    return Gts.fit(solver_input(problems))


def assert_alike(solver, other):
    for network, same in zip(solver.networks, other.networks, strict=True):
        for name, tensor in network.state_dict().items():
            torch.testing.assert_close(tensor, same.state_dict()[name], atol=1e-5, rtol=1e-4, msg=name)


def test_workers_that_read_stored_lessons_come_to_the_solver_of_one_process_though_one_is_killed(
    session, problems, alone, tmp_path
):
    write_table(problems.table[:10], tmp_path / "parts" / "a.parquet")
    write_table(problems.table[10:], tmp_path / "parts" / "b.parquet")
    ready = prepare(tmp_path / "parts", Preparation(tmp_path / "prepared", problems.constants))
    config = load_config(Gts.Config, None, EXACT)
    data = prepare_lessons(Gts, ready, known_share(ready, 1.0), None, config, root=tmp_path / "prepared")
    told: list[SolverProgress] = []

    def kill_once(now):
        told.append(now)
        if now.epochs == EPOCHS + 1 and len(told) == EPOCHS + 1:  # the first of the second network
            os.kill(a_worker(), signal.SIGKILL)

    trained = on_workers(session, data, tmp_path / "solver", kill_once)
    assert [now.epochs for now in told[: 2 * EPOCHS]] == list(range(1, 2 * EPOCHS + 1))
    assert (told[-1].done, told[-1].total) == (told[0].total, told[0].total)
    assert_alike(trained, alone)
    assert not (tmp_path / "solver" / "ray").exists()
    trained.save(tmp_path / "solver")
    assert_alike(load_solver(tmp_path / "solver"), alone)


def test_a_driver_that_is_killed_goes_on_with_what_the_workers_have_saved(session, problems, alone, tmp_path):
    data, out = tmp_path / "problems.parquet", tmp_path / "solver"
    write_table(problems.table, data)
    command = [sys.executable, "-c", KILLED, str(data), str(out), *EXACT]
    cluster = set()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=without_ray()) as driver:
        while driver.poll() is None:
            cluster.update(descendants(driver.pid))
            time.sleep(0.05)
        assert driver.returncode == -signal.SIGKILL, driver.stderr.read()
    wait_for_the_end_of(cluster)
    given = solver_input(read_problems(data))
    with pytest.raises(WarmkitError, match="there is an unfinished training here"):
        on_workers(session, given, out, lambda now: None)
    with pytest.raises(WarmkitError, match="epochs changed since it was started"):
        on_workers(session, solver_input(given.problems, (*EXACT, "epochs=9")), out, print, resume=True)
    told: list[int] = []
    trained = on_workers(session, given, out, lambda now: told.append(now.epochs), resume=True)
    assert told and 1 not in told
    assert_alike(trained, alone)


def test_the_command_trains_a_solver_in_parts_on_workers(session, problems, alone, tmp_path):
    data, out = tmp_path / "parts", tmp_path / "solver"
    write_table(problems.table[:10], data / "a.parquet")
    write_table(problems.table[10:], data / "b.parquet")
    arguments = ["solver", "fit", str(data), "--kind", "gts", "--out", str(out), "--workers", "2", "--json"]
    result = CliRunner().invoke(main, [*arguments, *sets(EXACT)])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["loss"] > 0
    assert_alike(load_solver(out), alone)
    assert sorted(path.name for path in out.iterdir()) == [
        "lock",
        "prepared",
        "solver.json",
        "weights.safetensors",
    ]
