import pytest

from toolkit.config import load_config
from tune.config import TuneConfig
from tune.plan import trials
from tune.results import TrialResult

TINY = """\
data: bundled:en
limit: 24
warm:
  model: {hidden: 8, embedding: 8, max_steps: 3}
  train: {epochs: 2, search: 0}
generate: {width: 3}
solver: {epochs: 1, members: 1, hidden: 8, embedding: 8, max_tokens: 7}
space:
  gold: [0, 0.5]
  beam_width: [1, 5]
"""


@pytest.fixture
def file(tmp_path):
    """A sweep of four trials of a second."""
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY, encoding="utf-8")
    return path


@pytest.fixture
def config(file):
    def load(*overrides: str) -> TuneConfig:
        return load_config(TuneConfig, file, overrides)

    return load


@pytest.fixture
def outcomes(config):
    """Invented ones: a wider beam and more gold equations are better, a larger seed is a little worse."""

    def invent(*overrides: str) -> tuple[TuneConfig, list[TrialResult]]:
        made = config(*overrides)
        return made, [_invent(trial) for trial in trials(made)]

    return invent


def _invent(trial) -> TrialResult:
    width = trial.config.warm.explore.beam_width if trial.config.warm.explore.beam_exploration else 1
    gold = trial.config.known or 0.0
    share = 0.5 + 0.02 * width + 0.3 * gold - 0.01 * trial.seed
    figures = {
        "gold_equations": round(24 * gold),
        "epochs": 2,
        "loss": 1.0,
        "reached": share,
        "gold_equivalent": share - 0.1,
        "answer_accuracy": share - 0.2,
        "seconds": float(width),
    }
    return TrialResult(trial, figures, "done")
