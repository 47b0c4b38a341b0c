"""A team of scripted annotators in a loop: gold questions, who is set aside, and what the report says."""

import polars as pl
import pytest
import yaml
from tiny import TINY

import warmkit
from toolkit.annotators.scripted import Member, ScriptedTeam
from toolkit.data import write_table
from toolkit.errors import WarmkitError
from toolkit.loop.ledger import GOLD
from toolkit.loop.loop import Loop
from toolkit.loop.run import load_run
from toolkit.loop.state import RunState


class Said:
    """A view that keeps what is said."""

    def __init__(self):
        self.lines = []

    def say(self, line):
        self.lines.append(line)

    def __getattr__(self, name):
        return lambda *arguments, **named: None


@pytest.fixture(scope="module")
def problems():
    return warmkit.read_problems("bundled:en").take(range(120))


def begin(folder, problems, members, overlap=1, view=None, **settings) -> Loop:
    tiny = dict(setting.split("=", 1) for setting in TINY if not setting.startswith("limit"))
    keys = {key: yaml.safe_load(value) for key, value in tiny.items()}
    keys |= {
        "method": "search",
        "known": 0.5,
        "active.batch": 20,
        "stop.rounds": 2,
        "plain_search.operators": 2,
    }
    keys |= {"solver_each_round": False, "stop.kappa": None, **settings}
    return Loop.new(
        folder,
        problems.take(range(100)),
        problems.take(range(100, 120)),
        annotator=ScriptedTeam(problems, members, overlap),
        settings=keys,
        view=view,
    )


def test_gold_questions_are_mixed_in_and_are_no_labels(tmp_path, problems):
    loop = begin(tmp_path / "a", problems, [Member("ann", 0.1)])
    assert loop.run().rule == "rounds"
    batch = loop.ledger.batch(1)
    gold = [item for item in batch if item.kind == GOLD]
    assert (len(batch), len(gold)) == (23, 3)
    assert batch[-3:] != gold  # nobody knows by their places
    assert {item.problem_id for item in gold} <= loop.state.known(1).keys()
    later = {item.problem_id for item in loop.ledger.batch(2) if item.kind == GOLD}
    assert len(later) == 1 and later.isdisjoint(item.problem_id for item in gold)
    assert loop.state.answered(2) == 20
    for item in gold:  # whatever the annotator said, D_s keeps what was known
        assert loop.state.known(3)[item.problem_id] == loop.state.problems.gold_templates[item.problem_id]
    (row,) = loop.state.team().rows()
    assert (row.tasks, row.gold_asked) == (44, 4)


def test_who_always_presses_1_is_named_and_others_are_asked(tmp_path, problems):
    view = Said()
    members = [Member("ann"), Member("press", first=True)]
    settings = {"active.batch": 17}  # and three gold questions
    loop = begin(tmp_path / "a", problems, members, overlap=2, view=view, **settings)
    loop.run()
    assert len(loop.ledger.batch(1)) == 20
    assert loop.state.set_aside() == {"press"}
    assert any("The annotator press is not to be trusted" in line for line in view.lines)
    assert not any("ann is not" in line for line in view.lines)
    opened = loop.ledger.result(2, "open")
    assert opened["set_aside"] == ["press"]  # after 20 tasks
    responses = [response for response in loop.ledger.responses() if response.annotator == "press"]
    assert len(responses) == len(loop.ledger.batch())  # all of them are kept
    gold = loop.state.problems.gold_templates
    known = loop.state.known(3)
    assert all(warmkit.klass(known[name]) == warmkit.klass(gold[name]) for name in known)
    report = loop.state.run.report.read_text()
    assert "press is not to be trusted" in report and "What they wrote is set aside" in report
    assert "Krippendorff" in report and "a label" in report
    again = RunState(load_run(tmp_path / "a"))
    assert again.set_aside() == {"press"} and again.resolutions() == loop.state.resolutions()


def test_what_somebody_alone_wrote_who_is_set_aside_is_asked_again(tmp_path, problems):
    loop = begin(tmp_path / "a", problems, [Member("press", first=True)])
    loop.run()
    first, second = ({item.problem_id for item in loop.ledger.batch(round_)} for round_ in (1, 2))
    picked = {one.problem_id for one in loop.ledger.responses() if one.round == 1 and one.template}
    assert loop.state.set_aside() == {"press"} and picked
    assert not loop.state.known(2).keys() - loop.state.known(1).keys()
    assert (
        picked - {item.problem_id for item in loop.ledger.batch(1) if item.kind == GOLD}
        <= set(loop.state.stored.ids[loop.state.askable(2)]) | second
    )
    assert first


def test_nobody_is_set_aside_if_that_is_not_wanted(tmp_path, problems):
    loop = begin(
        tmp_path / "a",
        problems,
        [Member("press", first=True)],
        **{"annotator.set_aside": False, "stop.rounds": 1},
    )
    loop.run()
    assert not loop.state.set_aside() and loop.state.team().unreliable()


def test_no_gold_questions_are_asked_of_the_oracle_or_without_equations(tmp_path, problems):
    for name, settings in (("a", {"annotator.gold": 0}), ("b", {"known": 0})):
        loop = begin(tmp_path / name, problems, [Member("ann")], **{"stop.rounds": 1, **settings})
        loop.run()
        assert {item.kind for item in loop.ledger.batch()}.isdisjoint({GOLD})


def test_gold_questions_come_from_a_file(tmp_path, problems):
    others = warmkit.read_problems("bundled:en").take(range(200, 210))
    path = tmp_path / "gold.jsonl"
    write_table(others.table, path)
    everybody = warmkit.ProblemSet(pl.concat([problems.table, others.table]))
    settings = {"known": 0, "annotator.gold_file": str(path), "stop.rounds": 1}
    loop = begin(tmp_path / "a", everybody, [Member("ann")], **settings)
    loop.run()
    gold = {item.problem_id for item in loop.ledger.batch() if item.kind == GOLD}
    assert len(gold) == 3 and gold <= set(others.ids)
    assert set(loop.state.known(1)) == set(others.ids)
    write_table(problems.table.head(3), path)
    with pytest.raises(WarmkitError, match=r"gold\.jsonl: problem .* Gold questions need ids of their own"):
        begin(tmp_path / "b", problems, [Member("ann")], **settings)
    write_table(others.table.with_columns(equation=pl.lit(None, pl.String)), path)
    with pytest.raises(WarmkitError, match="none of its problems has an equation"):
        begin(tmp_path / "c", problems, [Member("ann")], **settings)


def test_weighted_votes_settle_what_two_disagree_about(tmp_path, problems):
    members = [Member("ann"), Member("bob", 0.6, seed=3)]
    sizes = {}
    for votes in ("majority", "weighted"):
        settings = {"annotator.votes": votes, "annotator.gold": 0.5, "annotator.set_aside": False}
        loop = begin(tmp_path / votes, problems, members, overlap=2, **settings)
        loop.run()
        known, gold = loop.state.known(3), loop.state.problems.gold_templates
        right = [warmkit.klass(known[name]) == warmkit.klass(gold[name]) for name in known]
        sizes[votes] = (len(known), sum(right) / len(right))
    assert sizes["weighted"][0] > sizes["majority"][0]
    assert sizes["weighted"][1] > 0.95


def test_the_report_says_what_a_label_costs(tmp_path, problems):
    loop = begin(tmp_path / "a", problems, [Member("ann")], **{"annotator.price": 36.0, "stop.rounds": 1})
    loop.run()
    report = loop.state.run.report.read_text()
    seconds = sum(response.seconds for response in loop.ledger.responses())
    labels = sum(resolution.template is not None for resolution in loop.state.resolutions().values())
    assert f"{seconds / labels:.0f} s ({seconds / labels / 100:.2f}) a label" in report
    assert "problems without a label would take" in report
