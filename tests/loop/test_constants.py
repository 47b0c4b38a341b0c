"""Constants of a run: a list, or chosen when it begins."""

import polars as pl
import pytest
import yaml
from kinds import everyday, made, percentage
from tiny import TINY

import warmkit
from toolkit.config import load_config
from toolkit.data import PROBLEMS, ProblemSet
from toolkit.errors import WarmkitError
from toolkit.loop.config import LoopConfig
from toolkit.loop.loop import Loop
from toolkit.loop.run import create_run, open_run
from toolkit.loop.summary import summary
from tune.trial import run_trial


@pytest.fixture(scope="module")
def problems() -> ProblemSet:
    return made({everyday: 60, percentage: 16}, 0)


def config(*settings: str) -> LoopConfig:
    return load_config(LoopConfig, None, settings)


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("auto", "auto"),
        ("[1, π]", ("1", "π")),
        ("['1', 100, 0.5]", ("1", "100", "0.5")),
        ("1, π", ("1", "π")),
        ("[]", ()),
    ],
)
def test_constants_are_a_list_or_auto(written, names):
    assert config(f"constants={written}").constants == names


@pytest.mark.parametrize("written", ["5", "null", "{1: 2}", "[[1]]", "[true]"])
def test_anything_else_is_refused_in_one_sentence(written):
    with pytest.raises(
        WarmkitError, match=r"^configuration: constants: write auto, or a list such as"
    ) as one:
        config(f"constants={written}")
    assert "\n" not in str(one.value)


def test_a_constant_that_is_no_number_is_refused_before_anything_is_written(problems, tmp_path):
    with pytest.raises(WarmkitError, match="constants: one is not a number or π"):
        create_run(tmp_path, "a", config("constants=[one]"))
    assert not list(tmp_path.iterdir())


def test_a_run_chooses_from_its_pool_alone_and_remembers_why(problems, tmp_path):
    test = problems.take(range(10))
    begun = create_run(tmp_path, "a", config(), (problems.take(range(10, len(problems))), test))
    assert begun.config.constants == ("1", "100", "π")
    assert begun.problems.constants == begun.test.constants == begun.constants
    choice = begun.constant_choice
    assert choice is not None and choice.problems == len(problems) - 10
    begun.ledger.close()
    again = open_run(tmp_path, "a", config("constants=auto"))
    assert again.config.constants == ("1", "100", "π") and again.constant_choice == choice
    again.ledger.close()


def test_a_run_looks_only_at_equations_that_training_may_use(tmp_path):
    rows = [
        (f"d{i}", f"A shelf has {i} dozens of eggs and {i + 2} pans.", 144.0 * i, f"{i}*144", "en", None)
        for i in range(3, 13)
    ]
    few = ProblemSet(
        pl.concat([made({everyday: 30}, 0).table, pl.DataFrame(rows, schema=PROBLEMS, orient="row")])
    )
    for annotator, known, names in (
        ("oracle", "null", ("1", "π")),
        ("file", "null", ("1", "144", "π")),
        ("file", "0", ("1", "π")),
    ):
        settings = config(f"annotator.name={annotator}", f"known={known}")
        resolved, _ = settings.with_chosen_constants(few)
        assert resolved.constants == names


def test_given_constants_have_no_reason(problems, tmp_path):
    run = create_run(tmp_path, "a", config("constants=[1, 7]"), (problems, problems.take([0])))
    assert run.config.constants == ("1", "7") and run.constant_choice is None
    run.ledger.close()


def test_a_trial_of_a_sweep_chooses_too(problems, tmp_path):
    run_trial(problems, None, config("method=search"), tmp_path)
    assert [*map(warmkit.show, warmkit.load_model(tmp_path).constants)] == ["1", "100", "π"]


def test_python_programs_have_the_same_choice(problems, tmp_path):
    model = warmkit.train(problems.table, "search", folder=tmp_path)
    assert model.constants == warmkit.choose_constants(problems).constants
    assert (tmp_path / "constants.json").exists()
    candidates = warmkit.generate(model, problems)
    tiny = {"epochs": 1, "members": 1, "hidden": 8, "embedding": 8}
    assert warmkit.fit_solver(problems, candidates, settings=tiny).constants == model.constants
    with pytest.raises(WarmkitError, match="100"):
        warmkit.fit_solver(problems, candidates, constants=["1", "π"], settings=tiny)
    assert warmkit.fit_solver(problems, settings=tiny).constants == model.constants  # of gold equations
    fixed = warmkit.train(problems, "search", constants=["1", "7"])
    assert [*map(warmkit.show, fixed.constants)] == ["1", "7"]
    known = {"p0": warmkit.parse("N0 * 7")}
    assert [*map(warmkit.show, warmkit.train(problems, "search", known=known).constants)] == [
        *("1", "7", "100", "π")
    ]


ROOMS = [
    (f"r{i}", f"A room is {i + 6} by {i + 3} metres. How long are its walls?", 4.0 * i + 18, None, "en", None)
    for i in range(20)
]


class Builder:
    """Writes the perimeter as people do."""

    name, location, warnings = "builder", "", ()

    def submit(self, questions):
        self.asked = questions

    def collect(self):
        return [
            warmkit.Response(
                *(one.problem_id, one.round, "equation", "2*({} + {})".format(*one.numbers), None, "ravi"),
                *(f"{one.round}:{one.problem_id}:{one.attempt}", "2026-01-01T00:00:00+00:00", 7.0),
            )
            for one in self.asked
        ]

    def waits(self):
        return False


def rooms(folder, **settings) -> Loop:
    table = pl.DataFrame(ROOMS, schema=PROBLEMS, orient="row")
    tiny = dict(setting.split("=", 1) for setting in TINY if not setting.startswith("limit"))
    keys = {key: yaml.safe_load(value) for key, value in tiny.items()} | {"stop.rounds": 2, **settings}
    return Loop.new(folder, table.head(16), table.tail(4), annotator=Builder(), settings=keys)


def test_a_constant_that_people_use_joins_from_the_next_round_on(tmp_path):
    loop = rooms(tmp_path / "a")
    assert loop.run().rule == "rounds"
    run = loop.state.run
    assert {*map(warmkit.show, loop.state.known(2).values())} == {"2 * (N0 + N1)"}
    names = [[*map(warmkit.show, run.constants_in(round_))] for round_ in (1, 2, 3)]
    assert names == [["1", "π"], ["1", "2", "π"], ["1", "2", "π"]]
    models = [warmkit.load_model(run.round_folder(round_) / "model").constants for round_ in (1, 2, 3)]
    assert models == [run.constants_in(round_) for round_ in (1, 2, 3)]
    assert warmkit.load_solver(run.folder / "solver").constants == run.constants_in(3)
    assert summary(run)["constants"] == ["1", "2", "π"]
    assert "2 joined before round 2: ravi used it, in 4 equations." in run.report.read_text()
    assert loop.state.problems.constants == run.constants  # what judges is the same in all rounds


def test_fixed_constants_stay_as_they_are(tmp_path):
    loop = rooms(tmp_path / "a", fixed_constants=True)
    loop.run()
    assert not loop.state.known(2)
    assert {resolution.verdict for resolution in loop.state.resolutions().values()} == {"rejected"}
    assert summary(loop.state.run)["constants"] == ["1", "π"]
