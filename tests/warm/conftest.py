"""A small problem set and a small model, trained once for all tests of this folder."""

from pathlib import Path

import polars as pl
import pytest

from toolkit.config import load_config
from toolkit.data import read_problems
from toolkit.warm.checkpoint import Trained
from toolkit.warm.config import WarmConfig
from toolkit.warm.train import train

SMALL = ("model.hidden=32", "model.embedding=32", "model.max_steps=4", "train.epochs=4", "train.batch=32")


@pytest.fixture(scope="session")
def problems() -> pl.DataFrame:
    return read_problems("bundled:en").problems.filter(pl.col("equation").str.len_chars() < 12).head(150)


@pytest.fixture(scope="session")
def config() -> WarmConfig:
    return load_config(WarmConfig, None, SMALL)


@pytest.fixture(scope="session")
def trained(problems, config, tmp_path_factory) -> tuple[Trained, Path]:
    folder = tmp_path_factory.mktemp("model")
    return train(problems, config, folder), folder
