"""Suggestions of a run's model for single problems."""

from contextlib import closing

import pytest
import torch
from tiny import TINY

from toolkit.config import load_config
from toolkit.data.problems import texts_as_problems
from toolkit.equations import parse, reaches
from toolkit.loop.annotators import annotator_of
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.run import create_run
from toolkit.loop.suggest import Suggester
from toolkit.methods import GenerateConfig, load_model

SETTINGS = GenerateConfig(width=1)
HARD = "A box has 2 rows of 3 red pens and 5 rows of 7 blue pens. What do they cost at 11 rupees a pen?"
EASY = "Ann had 76 apples and ate 25 of them. How many has she?"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    settings = (*TINY, "stop.rounds=1", "solver_each_round=false")
    run = create_run(tmp_path_factory.mktemp("runs"), "a", load_config(LoopConfig, None, settings))
    with closing(run.ledger):
        Loop(run, annotator_of(run)).rounds()
    return run


def test_what_a_round_would_not_find_is_searched_for(run):
    (found,) = load_model(run.round_folder(1) / "model").candidates(
        texts_as_problems([HARD], ["en"], [451.0]), SETTINGS
    )
    assert not found.scored
    suggester = Suggester(run.folder, SETTINGS, torch.device("cpu"))
    easy, hard, none, nonsense = suggester(
        [EASY, HARD, EASY, "No number at all."], [51.0, 451.0, 0.123456, 1.0]
    )
    assert easy is not None and easy[0] == "76 - 25"
    assert hard is not None and 0 < hard[1] <= 1
    assert reaches(parse(hard[0]), [], 451.0)
    assert none is None and nonsense is None
