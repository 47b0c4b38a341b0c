"""What every method of step one does alike; a method that a user writes; what loads torch."""

import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import torch
from commands import LONGEST
from pydantic import Field

from toolkit.config import Section
from toolkit.data import PROBLEMS, ProblemSet, read_problems
from toolkit.data.schema import CANDIDATES
from toolkit.equations import Op, Ref, count_operators, klass, parse, reaches, show
from toolkit.errors import WarmkitError
from toolkit.loop.generation import generate
from toolkit.methods import METHODS, FitInput, GenerateConfig, Generated, find_method, load_model, train
from toolkit.methods.base import Scored, Untrained, nothing
from toolkit.methods.seq2seq.network import to_template
from toolkit.methods.seq2seq.train import gold_tokens
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.paths import Layout
from toolkit.methods.warm.shards import gold_paths

WARM = {
    "model.hidden": 16,
    "model.embedding": 16,
    "model.max_steps": 3,
    "train.epochs": 2,
    "train.batch": 8,
    "train.search": 1,
}
SEQ2SEQ = {"epochs": 8, "lr": 0.01, "hidden": 16, "embedding": 16, "batch": 8, "beams": 40}
LBF = {"epochs": 2, "hidden": 16, "embedding": 16, "batch": 8, "fixes": 10, "max_tokens": 9}
TINY = {
    "warm": WARM,
    "warm_no_beam": WARM,
    "random_sampling": {"paths": 100, "length": 6},
    "seq2seq": SEQ2SEQ,
    "lbf": LBF,
    "search": {"operators": 2},
}
WIDE = GenerateConfig(width=40)


@pytest.fixture(scope="module")
def some() -> ProblemSet:
    bundled = read_problems("bundled:en")
    rows = [row for row, template in enumerate(bundled.gold[:300]) if count_operators(template) == 1]
    return bundled.take(rows[:20])


@pytest.fixture(scope="module", params=list(METHODS))
def fitted(request, some, tmp_path_factory):
    """A model of each method, and its folder."""
    folder = tmp_path_factory.mktemp(request.param)
    return train(some, request.param, settings=TINY[request.param], folder=folder, seed=3), folder


def test_candidates_reach_the_answers_and_the_likeliest_come_first(fitted, some):
    model, _ = fitted
    generated = model.candidates(some, WIDE)
    assert [of.problem_id for of in generated] == list(some.ids)
    assert sum(bool(of.scored) for of in generated) >= 3
    for of, numbers, answer in zip(generated, some.numbers, some.answers, strict=True):
        for scored in of.scored:
            assert reaches(scored.template, numbers, answer), show(scored.template)
            assert scored.klass == klass(scored.template)
            assert scored.origin in METHODS
        assert [s.log_prob for s in of.scored] == sorted((s.log_prob for s in of.scored), reverse=True)


def test_without_beam_exploration_there_is_no_beam_in_generation_either(some):
    """However many beams are asked for, one path is followed."""
    model = train(some, "warm_no_beam", settings=TINY["warm_no_beam"], seed=3)
    alone, wide = (model.candidates(some, GenerateConfig(width=width)) for width in (1, 40))
    assert alone == wide


def test_a_fit_says_what_it_was_shown_and_what_it_reached(fitted, some):
    model, _ = fitted
    assert (model.origin.problems, model.origin.known, model.origin.seed) == (20, 0, 3)
    assert len(model.history) == type(model).epochs(model.config)
    assert 0 < model.history[-1].reached <= 1
    assert model.constants == some.constants


def test_a_saved_model_finds_the_same(fitted, some, tmp_path):
    model, folder = fitted
    model.save(tmp_path / "again")
    for place in (folder, tmp_path / "again"):
        loaded = load_model(place)
        assert type(loaded) is type(model)
        assert loaded.candidates(some, WIDE) == model.candidates(some, WIDE)
        assert (loaded.config, loaded.origin, loaded.history) == (model.config, model.origin, model.history)


def test_the_order_of_the_rows_changes_nothing(fitted, some):
    model, _ = fitted
    shuffled = some.take(random.Random(1).sample(range(20), 20))
    found = {of.problem_id: of for of in model.candidates(shuffled, WIDE)}
    assert list(found) == list(shuffled.ids)
    assert found == {of.problem_id: of for of in model.candidates(some, WIDE)}


def test_the_same_seed_gives_the_same_model(fitted, some):
    model, _ = fitted
    again = train(some, model.name, settings=model.config, seed=3)
    assert again.candidates(some, WIDE) == model.candidates(some, WIDE)


def test_a_run_that_is_done_can_be_resumed_and_stays_as_it_is(fitted, some):
    model, folder = fitted
    again = train(some, model.name, settings=model.config, folder=folder, seed=3, resume=True)
    assert [epoch.reached for epoch in again.history] == [epoch.reached for epoch in model.history]
    assert again.candidates(some, WIDE) == model.candidates(some, WIDE)


@pytest.mark.parametrize("name", ["warm", "lbf"])
def test_a_kill_between_the_state_of_the_last_epoch_and_its_model_loses_nothing(
    name, some, tmp_path, monkeypatch
):
    method, settings = METHODS[name], TINY[name]
    save, saved = method.save, []

    def killed(model, folder):
        saved.append(folder)
        if len(saved) == 2:  # of two epochs
            raise KeyboardInterrupt
        save(model, folder)

    monkeypatch.setattr(method, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        train(some, name, settings=settings, folder=tmp_path, seed=3)
    monkeypatch.setattr(method, "save", save)
    resumed = train(some, name, settings=settings, folder=tmp_path, seed=3, resume=True)
    written = load_model(tmp_path)
    assert len(written.history) == len(resumed.history) == 2
    assert written.candidates(some, WIDE) == resumed.candidates(some, WIDE)


@pytest.mark.parametrize("name", METHODS)
def test_a_folder_of_another_method_is_not_resumed(name, some, tmp_path):
    before = "search" if name != "search" else "random_sampling"
    train(some, before, settings=TINY[before], folder=tmp_path)
    written = (tmp_path / "model.json").read_bytes()
    with pytest.raises(WarmkitError, match=f"this model is of the method {before}: not resumed"):
        train(some, name, settings=TINY[name], folder=tmp_path, resume=True)
    assert (tmp_path / "model.json").read_bytes() == written


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("seed", "count", "what"), [(1, 20, "the seed"), (0, 19, "the data")])
def test_a_fit_is_not_resumed_with_another_seed_or_other_problems(name, some, tmp_path, seed, count, what):
    train(some, name, settings=TINY[name], folder=tmp_path)
    with pytest.raises(WarmkitError, match=f"{what} changed since it was started: not resumed"):
        train(some.take(range(count)), name, settings=TINY[name], folder=tmp_path, seed=seed, resume=True)


@pytest.mark.parametrize("name", METHODS)
def test_an_empty_problem_set_is_told(name, some, tmp_path):
    with pytest.raises(WarmkitError, match="no problems to train on"):
        train(some.take([]), name, settings=TINY[name], folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_sampled_classes_come_in_the_order_of_their_shortest_templates(some, monkeypatch):
    """A class is found by many templates; the longest of them must not decide where it stands."""
    texts = ("N0 + N1", "N0 + N1 * 1", "N0 + N1 + 1 - 1")
    found = [[parse(text) for text in ("N0 * N1", *texts, "N0 - N1 + 1 - 1 + 1 - 1", texts[-1])]]
    sampling = METHODS["random_sampling"]
    model = train(some, sampling, settings=TINY["random_sampling"])
    monkeypatch.setattr("toolkit.methods.random_sampling.paths.sample_templates", lambda *_, **__: found)
    (generated,) = model.candidates(some.take([0]), WIDE)
    assert [show(scored.template) for scored in generated.scored] == [
        "N0 * N1", "N0 + N1", "N0 - N1 + 1 - 1 + 1 - 1",
    ]  # fmt: skip


def test_an_unknown_method_is_answered_with_the_nearest_name(some):
    with pytest.raises(WarmkitError, match=r"no method serch\. Did you mean search\?"):
        train(some, "serch")


def test_a_round_goes_on_from_a_model_for_fewer_epochs():
    assert (
        Warm.warm_started(WarmConfig(), 2).train.epochs
        == Warm.epochs(Warm.warm_started(WarmConfig(), 2))
        == 2
    )
    assert Warm.warm_started(WarmConfig(), 2).model == WarmConfig().model
    assert METHODS["search"].warm_started(METHODS["search"].Config(), 2) is None


# D_s


@pytest.fixture
def twins() -> ProblemSet:
    """Its equation could be N0 - N2 as well as N1 - N2; the first is what binding takes."""
    rows = [
        ("a", "Of 5 plums and 5 pears 3 pears are bad.", 2.0, "5-3", "en", None),
        ("b", "Ann has 5 red and 6 green apples.", 11.0, "5+6", "en", None),
    ]
    return ProblemSet(pl.DataFrame(rows, schema=PROBLEMS, orient="row"))


def test_warm_trains_on_the_templates_of_d_s_not_on_equations_that_are_bound_again(twins):
    assert show(twins.gold_templates["a"]) == "N0 - N2"
    data = FitInput(twins, {"a": parse("N1 - N2")}, WarmConfig())
    layout = Layout(twins.constants, "+-*/")
    paths = gold_paths(data, layout, 3)
    assert show(layout.template(paths[0].tolist())) == "N1 - N2"
    assert paths[0].tolist() == layout.path(parse("N1 - N2"), 3, 3)
    assert (paths[1] == -1).all()  # its equation is not in D_s, so it is not shown
    assert gold_paths(FitInput(twins, {}, WarmConfig()), layout, 3).unique().tolist() == [-1]


def test_seq2seq_trains_on_the_templates_of_d_s_too(twins):
    config = METHODS["seq2seq"].Config()
    tokens = gold_tokens(FitInput(twins, {"a": parse("N1 - N2")}, config))
    assert show(to_template(tokens[0].tolist(), twins.constants)) == "N1 - N2"
    assert (tokens[1] == -1).all()


@pytest.mark.parametrize("name", ["warm", "seq2seq", "lbf"])
def test_what_is_known_changes_what_is_learnt(name, twins):
    learn = {
        "warm": {"train.epochs": 20, "train.lr": 0.02},
        "seq2seq": {"epochs": 25, "lr": 0.02, "beams": 5},
        "lbf": {"epochs": 25, "lr": 0.02},
    }[name]
    tops = []
    for text in ("N1 - N2", "N0 - N2"):
        model = train(twins, name, known={"a": parse(text)}, settings={**TINY[name], **learn})
        assert model.origin.known == 1
        tops.append(show(model.candidates(twins, WIDE)[0].scored[0].template))
    assert tops == ["N1 - N2", "N0 - N2"]


# A method of one's own


class SumsConfig(Section):
    """Sums of the first numbers."""

    most: int = Field(2, ge=2, description="numbers of a sum")


class Sums(Untrained):
    name = "sums"
    section = "sums"
    Config = SumsConfig

    def candidates(self, problems, settings, *, device=None, on_batch=nothing):
        generated = []
        for problem_id, numbers, answer in zip(problems.ids, problems.numbers, problems.answers, strict=True):
            template, scored = Ref(0), []
            for j in range(1, min(self.config.most, len(numbers))):
                template = Op("+", template, Ref(j))
                if reaches(template, numbers, answer):
                    scored.append(Scored(template, klass(template), -float(j), self.name))
            generated.append(Generated(problem_id, tuple(scored)))
        on_batch(len(problems))
        return generated


def test_a_method_of_ones_own_is_trained_and_generates_like_any_other(monkeypatch, twins, tmp_path):
    monkeypatch.setitem(METHODS, Sums.name, Sums)
    frame = pl.DataFrame({"text": ["5 and 6", "1, 2 and 4", "9 less 3"], "answer": [11, 7, 6]})
    model = train(frame, "sums", settings={"most": 3}, folder=tmp_path)
    assert find_method("sums") is Sums
    assert model.history[-1].reached == pytest.approx(2 / 3)
    table = generate(model, frame)
    assert table.schema == CANDIDATES
    assert table.select("problem_id", "equation", "template", "origin").rows() == [
        ("1", "5 + 6", "N0 + N1", "sums"),
        ("2", "1 + 2 + 4", "N0 + N1 + N2", "sums"),
    ]
    assert table["posterior"].is_between(0.9, 0.999).all()  # the only class of a problem may be wrong
    again = load_model(tmp_path)
    assert again.config == SumsConfig(most=3)
    assert generate(again, frame).equals(table)
    with pytest.raises(WarmkitError, match=r"most: Input should be greater than or equal to 2"):
        train(frame, "sums", settings={"most": 1})
    assert train(frame, Sums).config == SumsConfig()  # the class itself will do as well


# What is loaded


@pytest.mark.parametrize("module", ["toolkit.methods", "toolkit.solvers", "toolkit.loop.config", "warmkit"])
def test_names_and_settings_load_neither_torch_nor_ray(module):
    script = f"import sys, {module}; print(*{{'torch', 'ray'}} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST,
    )
    assert done.stdout.split() == []
    assert torch.__version__  # it could be loaded
