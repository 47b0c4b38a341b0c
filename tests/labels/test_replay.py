"""Asking on candidates that are there."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from toolkit.data import read_candidates, read_problems, write_table
from toolkit.labels.replay import cases_of, replay, samples, way_of
from toolkit.loop.generation import generate
from toolkit.methods import METHODS, FitInput

SCRIPT = Path(__file__).parents[2] / "bench" / "replay.py"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Problems, and what plain search finds for them with two operators at most: the rest is unsolved."""
    folder = tmp_path_factory.mktemp("replay")
    problems = read_problems("bundled:en").take(range(200))
    method = METHODS["search"]
    model = method.fit(FitInput(problems, {}, method.Config(operators=2)))
    write_table(generate(model, problems), folder / "candidates.parquet")
    write_table(problems.table, folder / "problems.parquet")
    return folder / "problems.parquet", folder / "candidates.parquet"


@pytest.fixture(scope="module")
def cases(files):
    problems = read_problems(files[0])
    return cases_of(read_candidates(files[1], problems), problems)


def curve_of(cases, name, goal=1.0, least=0):
    pool, others = next(samples(cases, 100, 100, 1))
    return replay(pool, others, way_of(name), 10, goal, np.random.default_rng(0), least)


def test_perfect_needs_as_many_labels_as_equations_are_wrong(cases):
    pool, _ = next(samples(cases, 100, 100, 1))
    wrong = int((~pool.right).sum())
    assert 0 < (~pool.solved).sum() < wrong < 90
    points = curve_of(cases, "perfect").points
    assert [point.labels for point in points] == list(range(0, wrong + 10, 10))
    assert points[0].pool == pytest.approx(1 - wrong / 100) and points[-1].pool == 1
    assert points[1].pool == pytest.approx(points[0].pool + 0.1)


def test_a_curve_ends_at_its_goal_and_random_may_need_the_whole_pool(cases):
    margin, random = curve_of(cases, "margin", 0.95), curve_of(cases, "random")
    assert margin.points[-1].pool >= 0.95 > margin.points[-2].pool
    assert random.points[-1].pool == 1 and random.points[0] == margin.points[0]
    assert margin.points[-1].labels < random.points[-1].labels
    assert curve_of(cases, "margin", 0.95, least=90).points[-1].labels == 90  # all seeds are seen there


def test_trust_can_be_left_out(cases):
    plain, point = curve_of(cases, "margin trust=false").points[2], curve_of(cases, "margin").points[2]
    assert plain.confidence == plain.plain == point.plain
    assert all(sure == 1 for sure, single in zip(plain.confidence, plain.single, strict=True) if single)
    assert all(sure < 1 for sure in point.confidence)


def command(*options):
    spec = importlib.util.spec_from_file_location("bench_replay", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return CliRunner().invoke(module.main, list(map(str, options)))


def test_the_command_prints_ratios_to_random(files):
    options = (*files, "--pool", 60, "--others", 60, "--batch", 10, "--seeds", 2, "--strategy", "perfect")
    shown = command(*options)
    assert shown.exit_code == 0 and "labels: random / strategy (200 problems" in shown.stdout, shown.output
    figures = json.loads(command(*options, "--json").stdout)
    goals = figures["strategies"]["perfect"]["labels"]
    assert [goal["goal"] for goal in goals] == [0.9, 0.95, 0.98] and goals[1]["ratio"]["value"] > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--strategy", "margn"), "There is no strategy margn. Did you mean margin?"),
        (("--strategy", "margin trusts=false"), "trust"),
        (("--strategy", "hybrid", "--pool", "10", "--others", "10"), "The strategy hybrid needs the states"),
        (("--pool", "1000"), "200 problems have a gold equation that can be used, and 1500 are wanted."),
        (("--limit", "50"), "50 problems have a gold equation that can be used, and 1000 are wanted."),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(files, options, message):
    result = command(*files, *options)
    assert result.exit_code == 1 and message in result.output and "Traceback" not in result.output
