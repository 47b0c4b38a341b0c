"""A small problem set and a small model, trained once for all tests of this folder."""

from pathlib import Path

import pytest

from toolkit.config import load_config
from toolkit.data import ProblemSet, read_problems
from toolkit.methods import FitInput
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig

SMALL = ("model.hidden=32", "model.embedding=32", "model.max_steps=4", "train.epochs=4", "train.batch=32")


@pytest.fixture(scope="session")
def problems() -> ProblemSet:
    bundled = read_problems("bundled:en")
    short = bundled.table["equation"].str.len_chars() < 12
    return bundled.take(short.arg_true().to_list()[:150])


@pytest.fixture(scope="session")
def config() -> WarmConfig:
    return load_config(WarmConfig, None, SMALL)


@pytest.fixture(scope="session")
def trained(problems, config, tmp_path_factory) -> tuple[Warm, Path]:
    folder = tmp_path_factory.mktemp("model")
    return Warm.fit(FitInput(problems, {}, config), folder), folder
