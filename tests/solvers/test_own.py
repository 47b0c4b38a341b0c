"""Solvers that are no tree decoders: one that a user writes, and one that always gives the same equation."""

import math
from fractions import Fraction

import polars as pl
import pytest
from pydantic import Field

from toolkit.config import Section
from toolkit.data import PROBLEMS, ProblemSet, read_problems
from toolkit.equations import DEFAULT_CONSTANTS, EquationError, Expr, evaluate, parse, parse_template, show
from toolkit.errors import WarmkitError
from toolkit.solvers import SOLVERS, Solution, Solver, SolverProgress, fit_solver, load_solver
from toolkit.solvers.answer import answer
from toolkit.solvers.evaluate import accuracies, evaluate_solver

AREA = parse("π * N0 * N0")
ANSWERS = (78.5, round(25 * math.pi, 10), 22 / 7 * 25)


def value_of(template: Expr, numbers: tuple[Fraction, ...]) -> float | None:
    try:
        return float(evaluate(template, numbers))
    except EquationError:  # its numbers are too few
        return None


class NearestConfig(Section):
    """The nearest neighbour."""

    least: int = Field(1, ge=1, description="words that two problems must share")


class Nearest(Solver):
    """Copies the template of the problem that shares the most words."""

    name = "nearest"
    section = "nearest"
    Config = NearestConfig

    def __init__(self, seen, config, constants):
        super().__init__(config, constants)
        self.seen = [(frozenset(words), template) for words, template in seen]

    @classmethod
    def fit(cls, data, *, device=None, folder=None, resume=False, on_progress=lambda progress: None):
        known = dict(data.known)
        if data.candidates is not None:
            for row in data.candidates.likeliest.iter_rows(named=True):
                known.setdefault(row["problem_id"], parse_template(row["template"]))
        if not known:
            raise WarmkitError("There is no equation to learn from.", "no-equations")
        seen = [(data.problems.masked[data.problems.row[name]].tokens, known[name]) for name in known]
        on_progress(SolverProgress(1, 1, 0.0))
        return cls(seen, data.config, data.problems.constants)

    def solve(self, problems, top=1):
        found = []
        for masked, numbers in zip(problems.masked, problems.numbers, strict=True):
            shared = [(len(words & set(masked.tokens)), template) for words, template in self.seen]
            best = sorted(shared, key=lambda pair: -pair[0])[:top]
            found.append(
                [
                    Solution(template, value_of(template, numbers), count / len(masked.tokens))
                    for count, template in best
                    if count >= self.config.least
                ]
            )
        return found

    def save(self, folder):
        self.describe(folder, seen=[(sorted(words), show(template)) for words, template in self.seen])

    @classmethod
    def load(cls, folder, device=None):
        written, config, constants = cls.described(folder)
        return cls([(words, parse(text)) for words, text in written["seen"]], config, constants)


@pytest.fixture
def nearest(monkeypatch) -> None:
    monkeypatch.setitem(SOLVERS, Nearest.name, Nearest)


def test_a_solver_of_ones_own_is_fitted_saved_loaded_and_measured_like_any_other(nearest, tmp_path):
    problems = read_problems("bundled:en").take(range(60))
    progress: list[SolverProgress] = []
    solver = fit_solver(problems, solver="nearest", settings={"least": 2}, on_progress=progress.append)
    assert progress == [SolverProgress(1, 1, 0.0)]
    assert solver.config == NearestConfig(least=2)
    solver.save(tmp_path)
    loaded = load_solver(tmp_path)
    assert type(loaded) is Nearest and loaded.config == solver.config
    assert loaded.solve(problems, top=3) == solver.solve(problems, top=3)
    found = evaluate_solver(loaded, problems)
    assert found.answers.share > 0.9  # each is its own nearest neighbour, unless another reads alike
    assert found.equations.count == found.answers.count == 60
    assert accuracies(loaded, problems)["answer_accuracy"] == found.answers.share
    (answered,) = answer(loaded, [problems.table["text"][0]])
    assert answered.solutions[0].value == pytest.approx(problems.answers[0])
    assert not answered.unlike_training


def test_a_solver_of_ones_own_learns_from_candidates_and_says_if_there_is_nothing(nearest):
    frame = pl.DataFrame({"id": ["a", "b"], "text": ["5 red plums", "6 of 9 figs"], "answer": [10.0, 54.0]})
    table = pl.DataFrame(
        {
            "problem_id": ["a", "a", "b"],
            "equation": ["5 + 5", "5 * 2", "6 * 9"],
            "template": ["N0 + N0", "N0 / 1 + N0", "N0 * N1"],
            "klass": [1, 2, 3],
            "log_prob": [-1.0, -2.0, -1.0],
            "posterior": [0.7, 0.3, 1.0],
            "steps": [1, 2, 1],
            "origin": ["warm"] * 3,
        }
    )
    solver = fit_solver(frame, table, Nearest)
    assert [show(template) for _, template in sorted(solver.seen, key=lambda seen: show(seen[1]))] == [
        "N0 * N1",
        "N0 + N0",
    ]
    assert evaluate_solver(solver, frame).answers.share == 1.0
    with pytest.raises(WarmkitError, match="no equation to learn from"):
        fit_solver(frame, solver="nearest")


def test_an_unknown_solver_is_answered_with_the_nearest_name(nearest):
    with pytest.raises(WarmkitError, match=r"no solver nearst\. Did you mean nearest\?"):
        fit_solver(pl.DataFrame({"text": ["5 plums"], "answer": [5]}), solver="nearst")


class Always(Solver):
    """Solves every problem with one template."""

    name = "always"
    section = "always"
    Config = Section

    def __init__(self, template: Expr) -> None:
        super().__init__(Section(), DEFAULT_CONSTANTS)
        self.template = template

    def solve(self, problems, top=1):
        return [[Solution(self.template, value_of(self.template, n), 1.0)] for n in problems.numbers]

    @classmethod
    def fit(cls, data, **options):
        raise NotImplementedError

    def save(self, folder):
        raise NotImplementedError

    @classmethod
    def load(cls, folder, device=None):
        raise NotImplementedError


@pytest.mark.parametrize("lang", ["en", "hi", "zh"])
@pytest.mark.parametrize("area", ANSWERS)
def test_an_equation_with_pi_is_right_with_any_reading_of_it(lang, area):
    row = ("a", "A circle has a radius of 5 cm. What is its area?", area, None, lang, None)
    circle = ProblemSet(pl.DataFrame([row], schema=PROBLEMS, orient="row"))
    solver = Always(AREA)
    found = evaluate_solver(solver, circle)
    assert found.answers.share == found.without_question.share == found.by_lang[lang].share == 1.0
    assert accuracies(solver, circle) == {"answer_accuracy": 1.0, "class_accuracy": None}
    wrong = evaluate_solver(Always(parse("π * N0")), circle)
    assert wrong.answers.share == 0.0


def test_gold_with_pi_is_of_the_class_of_the_solution_however_it_was_reckoned():
    rows = [(str(i), "radius 5", area, "π*5*5", "en", None) for i, area in enumerate(ANSWERS)]
    circles = ProblemSet(pl.DataFrame(rows, schema=PROBLEMS, orient="row"))
    assert accuracies(Always(AREA), circles) == {"answer_accuracy": 1.0, "class_accuracy": 1.0}
