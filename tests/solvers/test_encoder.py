"""A solver that reads with a pretrained encoder."""

import shutil

import pytest
from pretrained import save_bert

from toolkit.data import read_problems
from toolkit.errors import WarmkitError
from toolkit.solvers import SolverProgress, fit_solver, load_solver

TINY = {"hidden": 8, "epochs": 3, "members": 1, "max_tokens": 9, "batch": 8}


@pytest.fixture(scope="module")
def problems():
    return read_problems("bundled:en").take(range(24))


@pytest.fixture
def encoder(tmp_path, problems):
    words = sorted({token for masked in problems.masked for token in masked.tokens if token.isalpha()})
    return save_bert(tmp_path / "bert", ["1", "##s", ".", "?", ",", *words])


def test_a_solver_that_is_stopped_goes_on_bit_for_bit_and_does_not_need_the_folder_in_the_end(
    tmp_path, problems, encoder
):
    settings, folder = TINY | {"encoder": str(encoder)}, tmp_path / "solver"

    def stop(now: SolverProgress) -> None:
        if now.epochs == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_solver(problems, settings=settings, folder=folder, on_progress=stop)
    resumed = fit_solver(problems, settings=settings, folder=folder, resume=True)
    whole = fit_solver(problems, settings=settings)
    for name, tensor in whole.networks[0].state_dict().items():
        assert tensor.equal(resumed.networks[0].state_dict()[name]), name
    resumed.save(folder)
    shutil.rmtree(encoder)
    assert load_solver(folder).solve(problems, 2) == resumed.solve(problems, 2)


def test_what_is_pretrained_changes_more_slowly_than_the_rest(problems, encoder):
    def moved(**rates: float) -> dict[str, float]:
        settings = TINY | {"encoder": str(encoder), "epochs": 1, "average": 0.0, "weight_decay": 0.0}
        before, after = (
            fit_solver(problems, settings=settings | rates | {"lr": lr}).networks[0].state_dict()
            for lr in (1e-12, 0.01)
        )
        names = ("encoder.layers.0.inner.weight", "decoder.merge.both.weight")
        return {name: float((after[name] - before[name]).abs().max()) for name in names}

    slow, decoder = moved(encoder_lr=1e-12).values()
    assert slow < 1e-6 and decoder > 1e-3


def test_a_solver_with_encoders_of_its_own_takes_none(problems, encoder):
    with pytest.raises(WarmkitError, match="has an encoder of its own"):
        fit_solver(problems, solver="math-en", settings=TINY | {"encoder": str(encoder), "members": 3})
