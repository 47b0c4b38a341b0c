"""The published solvers as a user has them: learnt, saved, loaded, resumed, each with what is its own."""

import pytest
from answered import easy

from toolkit.data import read_problems
from toolkit.data.tokens import mask
from toolkit.equations import klass, parse, show
from toolkit.errors import WarmkitError
from toolkit.loop.generation import candidates_of
from toolkit.methods import FitInput, GenerateConfig, load_model
from toolkit.methods.lbf.config import LbfConfig
from toolkit.methods.search import Search
from toolkit.solvers import SOLVERS, SolverInput, fit_solver, load_solver
from toolkit.solvers.neural.config import SolverConfig
from toolkit.solvers.neural.retrieval import Learnt, Retrieval
from toolkit.solvers.neural.solver import NeuralSolver
from toolkit.solvers.published import Dns, MathEn

TINY = {"hidden": 12, "embedding": 8, "epochs": 2, "max_tokens": 9}
NEW = ("seq2tree", "t-rnn", "aligned", "math-en", "dns", "lbf")


@pytest.fixture(scope="module")
def problems():
    return read_problems("bundled:en").take(range(40))


class Stopped(Exception):
    pass


def after_an_epoch(now):
    if now.epochs:
        raise Stopped


def templates(solver, problems):
    return [[(show(one.template), one.probability) for one in found] for found in solver.solve(problems, 3)]


@pytest.mark.parametrize("name", NEW)
def test_a_saved_solver_solves_the_same(name, problems, tmp_path):
    solver = fit_solver(problems, solver=name, settings=TINY)
    solver.save(tmp_path)
    assert templates(load_solver(tmp_path), problems) == templates(solver, problems)


@pytest.mark.parametrize("name", NEW)
def test_a_training_that_is_stopped_and_resumed_ends_as_if_it_was_not(name, problems, tmp_path):
    whole = fit_solver(problems, solver=name, settings=TINY, folder=tmp_path / "whole")
    with pytest.raises(Stopped):
        fit_solver(problems, solver=name, settings=TINY, folder=tmp_path / "a", on_progress=after_an_epoch)
    with pytest.raises(WarmkitError, match="there is an unfinished training here"):
        fit_solver(problems, solver=name, settings=TINY, folder=tmp_path / "a")
    resumed = fit_solver(problems, solver=name, settings=TINY, folder=tmp_path / "a", resume=True)
    assert templates(resumed, problems) == templates(whole, problems)


@pytest.mark.parametrize("name", NEW)
def test_a_solver_learns_from_candidates_as_well(name, problems):
    """LBF needs none: it learns from the answers."""
    answers = problems.with_table(problems.table.with_columns(equation=None))
    search = Search.fit(FitInput(answers, {}, Search.Config()))
    found = candidates_of(search.candidates(answers, GenerateConfig()), answers, temperature=1.0)
    solver = fit_solver(answers, found, solver=name, settings=TINY)
    assert all(solutions for solutions in solver.solve(answers))


def test_every_solver_has_the_settings_of_its_paper():
    """Which of the networks votes, and how, and whether equations are retrieved."""
    sizes = {
        name: (sized.members, sized.retrieval)
        for name, solver in SOLVERS.items()
        if issubclass(solver, NeuralSolver)
        for sized in [solver.sized(SolverConfig(), 0)]
    }
    assert sizes["math-en"] == (3, 0) and sizes["dns"] == sizes["t-rnn"] == (4, 0.7)
    assert (
        sizes["ensemble"]
        == sizes["gts"]
        == sizes["graph2tree"]
        == sizes["aligned"]
        == sizes["seq2tree"]
        == (4, 0)
    )
    assert Dns.sized(SolverConfig(retrieval=0, members=1), 0).retrieval == 0
    assert [SolverConfig().sized(problems).members for problems in (500, 20_000)] == [4, 2]


def test_networks_of_four_kinds_vote_by_default_and_a_single_one_is_gts(problems):
    solver = fit_solver(problems, settings=TINY | {"members": 4})
    assert solver.name == "ensemble" and len({type(network) for network in solver.networks}) == 4
    alone = [
        fit_solver(problems, solver=name, settings=TINY | {"members": 1}) for name in ("ensemble", "gts")
    ]
    first, second = (one.solve(problems) for one in alone)
    assert first == second


def test_the_likeliest_output_of_math_en_wins(problems):
    solver = fit_solver(problems, solver="math-en", settings=TINY)
    assert len({type(network) for network in solver.networks}) == 3
    readings = solver.readings(problems, 5)
    for row, solutions in enumerate(solver.solve(problems, 5)):
        assert {len(reading.masses) for reading in readings[row]} == {1}
        assert sum(solution.probability for solution in solutions) <= 1 + 1e-6
    assert MathEn.votes(solver, (0.2, 0.5, 0.1)) == (0.5,)


TEXT = "Neha had 76 red books and gave 25 of the books to her sister. How many are left"
WORDS = mask(TEXT, "en").tokens


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TEXT, "N0 - N1"),
        ("Neha had 76 red pens and gave 25 of the pens to her sister. How many are left", "N0 - N1"),
        ("Neha had 76 red books and gave 25 of the 9 books to her sister. How many are left", None),
        ("A train runs 76 km in 25 minutes. How far does it come in an hour?", None),
        ("Completely different 3 words 4", None),
    ],
)
def test_a_text_that_is_very_much_alike_gives_its_equation(text, found):
    retrieve = Retrieval([Learnt(WORDS, parse("N0 - N1"))], 0.7)
    template = retrieve(mask(text, "en"))
    assert (None if template is None else show(template)) == found


def test_the_most_alike_of_the_near_texts_counts_and_nothing_learnt_gives_nothing():
    near = Learnt((*WORDS[:-2], "were", "there"), parse("N0 + N1"))
    retrieve = Retrieval([near, Learnt(WORDS, parse("N0 - N1")), near], 0.7)
    assert retrieve(mask(TEXT, "en")) == parse("N0 - N1")
    assert Retrieval([], 0.7)(mask("7 and 2", "en")) is None


def test_what_was_learnt_is_retrieved_word_by_word(problems, tmp_path):
    """With networks that know nothing, a solver with retrieval knows all that it was shown; without, nearly
    nothing."""
    known = problems.gold_templates
    for share, least, most in ((1.0, 0.9, 1.0), (0.0, 0.0, 0.5)):
        solver = fit_solver(problems, solver="gts", settings=TINY | {"retrieval": share, "members": 1})
        solver.save(tmp_path / str(share))
        found = load_solver(tmp_path / str(share)).solve(problems)
        right = [
            klass(solutions[0].template) == klass(known[name])
            for name, solutions in zip(problems.ids, found, strict=True)
        ]
        assert least <= sum(right) / len(right) <= most


def test_a_damaged_memory_is_a_sentence(problems, tmp_path):
    fit_solver(problems, solver="dns", settings=TINY | {"members": 1}).save(tmp_path)
    path = tmp_path / "solver.json"
    path.write_text(path.read_text().replace('"N0 ', '"N0 )', 1))
    with pytest.raises(WarmkitError, match=r"solver\.json.*learnt"):
        load_solver(tmp_path)


def test_lbf_is_step_one_and_solver_in_one(tmp_path):
    """From answers alone; what it found is in its folder, as a model."""
    answers = easy(8)
    settings = LbfConfig(
        hidden=32, embedding=8, epochs=40, batch=8, max_tokens=5, lr=0.01, dropout=0.1, min_count=1
    )
    SOLVERS["lbf"].fit(SolverInput(answers, {}, None, settings, 3)).save(tmp_path)
    found = load_solver(tmp_path).solve(answers)
    assert [solutions[0].value for solutions in found] == list(answers.answers)
    model = load_model(tmp_path / "model")
    assert model.name == "lbf"
    assert all(found.scored for found in model.candidates(answers, GenerateConfig()))
