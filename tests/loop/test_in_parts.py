"""A round on prepared parts comes to what the round in memory comes to."""

import polars as pl
import pytest
import torch

from toolkit.compute import LocalCompute
from toolkit.data import Candidates, preparing, read_problems, write_table
from toolkit.data.split import chosen_gold
from toolkit.equations import parse_template
from toolkit.loop.in_parts import prepared_round
from toolkit.loop.round import Round


@pytest.fixture
def parts(tmp_path, monkeypatch):
    monkeypatch.setattr(preparing, "PART", 16)
    problems = read_problems("bundled:en").take(range(40))
    write_table(problems.table[:25], tmp_path / "parts" / "a.parquet")
    write_table(problems.table[25:], tmp_path / "parts" / "b.jsonl")
    return tmp_path / "parts"


@pytest.mark.parametrize("gold", [0.0, 0.4])
def test_both_steps_of_a_round_in_parts(tmp_path, parts, tiny, gold):
    config, compute = tiny("solver.max_tokens=9"), LocalCompute(torch.device("cpu"))
    problems = read_problems(parts).with_constants(config.v_const)
    agreed = {problems.ids[row]: parse_template("N0 + N1") for row in (3, 30)}
    known = chosen_gold(problems, gold, config.seed) | agreed

    here = Round(problems, known, config, compute)
    model = here.fit(tmp_path / "here", label="here")
    candidates = here.candidates(here.generate(model))
    solver = here.fit_solver(candidates, label="here")

    there = prepared_round(parts, tmp_path / "prepared", gold, config, compute, annotated=agreed)
    same = there.fit(tmp_path / "there", label="there")
    figures = there.generate(same, problems.parts(16), tmp_path / "candidates")
    other = there.fit_solver(tmp_path / "candidates", tmp_path / "solver", label="there")

    found = pl.concat(pl.read_parquet(path) for path in sorted((tmp_path / "candidates").iterdir()))
    assert figures.known == len(known) and figures.candidates == len(found)
    numbers = ["log_prob", "posterior"]
    assert found.drop(numbers).equals(candidates.table.drop(numbers))
    for column in numbers:  # a batch of another shape rounds otherwise
        assert found[column].to_list() == pytest.approx(candidates.table[column].to_list(), abs=1e-4)
    again = here.fit_solver(Candidates(found), label="again")
    assert solver is not None and other is not None and again is not None
    for network, same_network in zip(other.networks, again.networks, strict=True):
        for name, tensor in network.state_dict().items():
            assert tensor.equal(same_network.state_dict()[name]), name


def test_gold_equations_that_step_one_did_not_see_are_hidden(tmp_path, parts, tiny):
    config, compute = tiny(), LocalCompute(torch.device("cpu"))
    problems = read_problems(parts).with_constants(config.v_const)
    agreed = {problems.ids[7]: parse_template("N0 + N1")}
    work = prepared_round(parts, tmp_path / "prepared", 0.25, config, compute, annotated=agreed)
    own = work.known.only(problems)
    shown = dict(zip(own.ids, own.table["equation"], strict=True))
    chosen = chosen_gold(problems, 0.25, config.seed)
    assert {name for name, equation in shown.items() if equation is not None} == {*chosen, *agreed}
    assert own.gold_templates.keys() >= chosen.keys() and own.ids == problems.ids
    assert shown[problems.ids[7]] == "0.05 + 5000"
    assert work.everything_known().known.count == len(problems.gold_templates)
