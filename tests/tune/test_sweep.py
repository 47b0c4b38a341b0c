"""What Ray tells of trials, without Ray."""

from types import SimpleNamespace

import pytest

from toolkit.errors import WarmkitError
from toolkit.loop.run import locked
from toolkit.loop.sets import read_sets
from tune.results import write_result
from tune.sweep import _on_trial_end, create_sweep, open_sweep, run_sweep
from tune.write import write_results


@pytest.fixture
def sweep(config, tmp_path):
    return create_sweep(tmp_path / "sweep", config())


def tell(sweep, at, *, end=None, died=False, **last):
    heard = []
    trial = sweep.plan[at]
    ended = SimpleNamespace(config={"trial": trial.name}, last_result=last)
    _on_trial_end(sweep, end, heard.append, ended, died)
    return heard


def test_a_trial_whose_process_died_is_a_failed_one_and_is_run_again(sweep):
    (outcome,) = tell(sweep, 0, died=True)
    assert (outcome.state, outcome.error) == ("failed", "The process of the trial died.")
    assert sweep.results() == [outcome]
    assert len(sweep.open_trials()) == 4


def test_a_trial_that_asha_stopped_has_ended(sweep):
    (sweep.folder / "trials" / "trial-002").mkdir(parents=True)
    (outcome,) = tell(sweep, 1, epoch=1, reached=0.25, time_total_s=3.0)
    assert (outcome.state, outcome.figures["reached"]) == ("stopped", 0.25)
    assert [trial.number for trial in sweep.open_trials()] == [1, 3, 4]
    assert not (sweep.folder / "trials" / "trial-002").exists()


def test_a_trial_whose_time_was_up_is_left_for_later(sweep):
    assert tell(sweep, 1, end=0.0, epoch=1, reached=0.25, time_total_s=3.0) == []
    assert tell(sweep, 2) == []  # it had not begun
    assert len(sweep.open_trials()) == 4


def test_a_trial_that_wrote_its_figures_is_done_whatever_ray_says(sweep):
    write_result(sweep.file(sweep.plan[0]), {"reached": 0.5})
    (outcome,) = tell(sweep, 0, died=True)
    assert outcome.state == "done"


def test_two_can_not_work_on_a_sweep(sweep):
    with locked(sweep), pytest.raises(WarmkitError, match=r"process \d+ works on this run"):
        run_sweep(sweep, print)


def test_a_sweep_that_another_process_begins_meanwhile_is_not_begun_twice(config, tmp_path, monkeypatch):
    def slow(settings):
        """Reading takes long enough for another process to begin a sweep of that name."""
        monkeypatch.undo()
        create_sweep(tmp_path / "sweep", config("seed=1"))
        return read_sets(settings)

    monkeypatch.setattr("tune.sweep.read_sets", slow)
    with pytest.raises(WarmkitError, match="this sweep exists already"):
        create_sweep(tmp_path / "sweep", config("seed=2"))
    assert open_sweep(tmp_path / "sweep", config("seed=1")).config.seed == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sweep", "tiny.yaml"]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("config.yaml", "", "config.yaml: the key data is missing: the file is not whole"),
        ("config.yaml", "data: bundled:en\n", "config.yaml: the key test is missing: the file is not whole"),
        ("trials/trial-001.json", '{"state": "odd", "error": null, "figures": {}}', "it can't be read"),
        ("trials/trial-001.json", '{"state": "done", "error": null, "figures": [1]}', "it can't be read"),
        ("problems.parquet", "PAR1", "it can't be read"),
        ("test.parquet", None, "there is no such file"),
    ],
)
def test_a_damaged_sweep_is_a_sentence_with_the_file(sweep, name, content, problem):
    (sweep.folder / "trials").mkdir(exist_ok=True)
    if content is None:
        (sweep.folder / name).unlink()
    else:
        (sweep.folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(WarmkitError, match=f"{sweep.folder}/.*{problem}"):
        write_results(open_sweep(sweep.folder, sweep.config))
