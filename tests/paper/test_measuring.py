"""Cells are measured once, whatever happens in between."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from commands import LONGEST, with_helpers
from paper.tiny_paper import ONE, SETTINGS, TWO, measure, place, plan_of, write_data

from toolkit.errors import WarmkitError
from toolkit.paper.figures import FAILED, MEASURED, NOT_RUN
from toolkit.paper.run import paper_folder
from toolkit.paper.tables import Row, Step, System, Table

SCRIPT = Path(__file__).parent / "tiny_paper.py"


def cells_of(out: Path) -> dict[str, int]:
    return {path.stem: path.stat().st_mtime_ns for path in (out / "cells").glob("*.json")}


def figures_of(out: Path) -> dict[str, tuple[int, int]]:
    found = {path.stem: json.loads(path.read_bytes()) for path in (out / "cells").glob("*.json")}
    return {name: (cell["right"], cell["of"]) for name, cell in found.items()}


def places(written) -> dict[str, str]:
    return {
        row.row.name: place.state
        for shown in written.tables
        for row in shown.rows
        for place in row.places.values()
    }


def test_every_cell_has_its_counts_and_nothing_is_left_behind(measured):
    plan, out, ended, written = measured
    assert ended == [cell.name for cell in plan.order]
    assert written.counts == {"measured": 6, "failed": 0, "left": 0}
    assert set(places(written).values()) == {MEASURED}
    for name, (right, of) in figures_of(out).items():
        assert of == 20 and 0 <= right <= of, name
    assert len(list((out / "candidates").iterdir())) == 4
    assert not any((out / "work").iterdir())
    cell = json.loads((out / "cells" / f"{ended[0]}.json").read_bytes())
    assert {"digest", "seconds", "versions", "system", "constants"} <= set(cell)


def test_reached_is_the_share_of_problems_that_have_a_candidate(measured):
    plan, out, _, _ = measured
    for cell in plan.order:
        if cell.system.solver is None:
            found = pl.read_parquet(out / "candidates" / f"{cell.name}.parquet")["problem_id"].n_unique()
            assert figures_of(out)[cell.name] == (found, 20)


def test_what_is_there_is_not_measured_again(measured):
    plan, out, _, _ = measured
    before = cells_of(out)
    ended, written = measure(plan, out, resume=True)
    assert ended == [] and cells_of(out) == before and written.counts["measured"] == 6


def test_a_paper_that_is_killed_goes_on_and_does_nothing_twice(measured, tmp_path):
    data, out = write_data(tmp_path / "data"), tmp_path / "out"
    done: dict[str, int] = {}
    for kills in range(2):
        command = [sys.executable, SCRIPT, data, out, *(["--resume"] if kills else [])]
        started = subprocess.Popen(command, env=with_helpers(os.environ), stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + LONGEST
        while len(cells_of(out)) <= len(done) or not any((out / "work").glob("*/*")):
            assert started.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        started.send_signal(signal.SIGKILL)
        assert started.wait() == -signal.SIGKILL
        now = cells_of(out)
        assert done.items() <= now.items() and len(now) < 6
        done = now
    plan = plan_of(data)
    ended, written = measure(plan, out, resume=True)
    assert sorted([*ended, *done]) == sorted(cell.name for cell in plan.order)
    assert done.items() <= cells_of(out).items()
    assert written.counts == {"measured": 6, "failed": 0, "left": 0}
    assert figures_of(out) == figures_of(measured[1])


def test_more_tables_and_seeds_add_to_what_is_there(data, tmp_path):
    sampling = Table(1, "Sampling", "reached", (Row("sampling", "", place(System(Step("random_sampling")))),))
    first, _ = measure(plan_of(data, sampling), tmp_path / "out")
    again, written = measure(plan_of(data, sampling, seeds=2), tmp_path / "out", resume=True)
    assert len(first) == len(again) == 2 and not set(first) & set(again)
    (shown,) = written.tables[0].rows[0].places.values()
    assert (shown.done, shown.planned, shown.of) == (4, 4, 80)
    assert shown.share.count == 40  # a second seed does not make the set larger


def test_no_cell_is_begun_when_the_time_is_over(data, tmp_path):
    ended, written = measure(plan_of(data), tmp_path / "out", seconds=0)
    assert ended == []
    assert set(places(written).values()) == {NOT_RUN}
    assert written.counts == {"measured": 0, "failed": 0, "left": 6}


def test_a_cell_that_fails_is_told_and_measured_again(data, tmp_path):
    out = tmp_path / "out"
    (out / "cells").mkdir(parents=True)
    blocker = out / "candidates"
    blocker.write_text("in the place of a folder", encoding="utf-8")
    ended, written = measure(plan_of(data), out, resume=True)
    assert not any("gts" in name for name in ended)  # there is nothing that it could learn from
    assert set(places(written).values()) == {FAILED}
    assert written.counts == {"measured": 0, "failed": 4, "left": 2}
    assert "it can&#x27;t be written" in written.page.read_text(encoding="utf-8")
    blocker.unlink()
    _, written = measure(plan_of(data), out, resume=True)
    assert set(places(written).values()) == {MEASURED}


def test_step_one_is_done_again_if_what_it_found_is_gone_and_a_solver_needs_it(data, tmp_path):
    step = Step("random_sampling")
    sampling = Table(1, "Sampling", "reached", (Row("sampling", "", place(System(step))),))
    solved = Table(2, "Solving", "answers", (Row("sampling", "", place(System(step, "gts"))),))
    out = tmp_path / "out"
    first, second = measure(plan_of(data, sampling), out)[0]
    shutil.rmtree(out / "candidates")
    assert measure(plan_of(data, sampling), out, resume=True)[0] == []  # its figures are there
    ended, _ = measure(plan_of(data, sampling, solved), out, resume=True)
    assert ended[:2] == [first, second] and len(ended) == 4
    shutil.rmtree(out / "candidates")
    assert measure(plan_of(data, sampling, solved), out, resume=True)[0] == []


def test_gold_equations_that_are_shown_are_not_counted_as_found(data, tmp_path):
    system = System(Step("warm", gold=0.25))
    semi = Table(3, "Semi", "reached", (Row("WARM-S", "", place(system)),))
    solved = Table(4, "Semi", "answers", (Row("WARM-S", "", place(System(system.step, "gts"))),))
    _, written = measure(plan_of(data, semi, solved), tmp_path / "out")
    found, answered = (shown.rows[0].places["AllArith"] for shown in written.tables)
    assert (found.gold, found.of) == (5, 30)  # of 20 problems in each of two folds
    assert (answered.gold, answered.of) == (5, 40)


def test_a_supervised_solver_learns_all_gold_equations(data, tmp_path):
    full = Table(2, "Full", "answers", (Row("GTS", "", place(System(solver="gts", from_gold=True))),))
    _, written = measure(plan_of(data, full), tmp_path / "out")
    assert written.tables[0].rows[0].places["AllArith"].gold == 20


def test_a_damaged_result_is_named_with_what_to_do(data, tmp_path):
    plan, out = plan_of(data, ONE), tmp_path / "out"
    (out / "cells").mkdir(parents=True)
    path = out / "cells" / f"{plan.order[0].name}.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(WarmkitError, match=r"random_sampling.*damaged.*Delete the file"):
        measure(plan, out, resume=True)


def test_two_processes_do_not_measure_in_one_folder(data, tmp_path):
    out = tmp_path / "out"
    with paper_folder(out, resume=False):
        command = [sys.executable, SCRIPT, data, out, "--resume"]
        other = subprocess.run(
            command,
            env=with_helpers(os.environ),
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    assert other.returncode != 0 and f"process {os.getpid()} measures in this folder" in other.stderr


def test_the_settings_of_a_row_and_those_given_both_count():
    config = SETTINGS.method(Step("warm", ("train.memory=3",)), "allarith").model_dump()
    assert config["train"]["memory"] == 3 and config["train"]["epochs"] == 2
    assert TWO.columns == ["AllArith"]
