"""Sweeps that somebody changed: they are opened and their results are written, or they are a sentence."""

import json
import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from tamper import tamper_file, tamper_json, tamper_json_file

from toolkit.config import load_config
from toolkit.errors import WarmkitError
from tune.config import TuneConfig
from tune.results import write_result
from tune.sweep import create_sweep, open_sweep
from tune.write import write_results

SETTINGS = (
    "limit=24",
    'space={"gold": [0.0, 0.5], "warm.explore.beam_width": [1, 5]}',
    "search=tpe",
    "draws=4",
)


@pytest.fixture(scope="session")
def original(tmp_path_factory) -> tuple[Path, TuneConfig]:
    """A sweep of four trials, two of which have ended."""
    pytest.importorskip("optuna")
    config = load_config(TuneConfig, None, SETTINGS)
    sweep = create_sweep(tmp_path_factory.mktemp("sweeps") / "sweep", config)
    for share in (0.5, 0.25):
        (trial,) = sweep.more()
        write_result(sweep.file(trial), {"reached": share, "gold_equivalent": share, "seconds": 1.0})
    write_results(sweep)
    return sweep.folder, config


def tamper(rng: random.Random, folder: Path, others: Path) -> str:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    path = rng.choice(files)
    if path.suffix == ".json" and rng.random() < 0.7:
        return tamper_json_file(rng, path)
    return tamper_file(rng, path, [file for file in others.rglob("*") if file.is_file()])


def test_a_tampered_sweep_works_or_is_a_sentence(original, cases, tmp_path):
    whole, config = original
    for number, rng in enumerate(cases(40)):
        folder = Path(shutil.copytree(whole, tmp_path / str(number)))
        done = tamper(rng, folder, whole)
        try:
            with suppress(WarmkitError):
                sweep = open_sweep(folder, config)
                sweep.left()
                json.dumps(write_results(sweep), allow_nan=False)
        except BaseException as error:
            raise AssertionError(f"{folder}: {done}") from error
        shutil.rmtree(folder)


def test_the_errors_of_a_tampered_sweep_name_its_folder(original, cases, tmp_path):
    whole, config = original
    for number, rng in enumerate(cases(20)):
        folder = Path(shutil.copytree(whole, tmp_path / str(number)))
        path = folder / "proposed.json"
        changed = tamper_json(rng, json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(changed), encoding="utf-8")
        try:
            write_results(open_sweep(folder, config))
        except WarmkitError as error:
            assert str(folder) in str(error), (changed, error)
        shutil.rmtree(folder)
