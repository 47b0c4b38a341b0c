"""The declarations: what the paper compares, and on what."""

import json

import pytest
from paper.tiny_paper import ONE, SETTINGS, TWO, WARM, plan_of, write_data

from toolkit.config import load_config
from toolkit.errors import WarmkitError
from toolkit.methods import METHODS
from toolkit.paper.cells import is_available
from toolkit.paper.config import PaperConfig
from toolkit.paper.sets import load_set
from toolkit.paper.tables import OURS, SETS, TABLES, System, find_tables, no_beam, warm
from toolkit.solvers import SOLVERS
from toolkit.solvers.neural.solver import NeuralSolver

ENTRIES = [(table, row, entry) for table in TABLES for row in table.rows for entry in row.entries.values()]


def test_the_tables_have_the_rows_and_numbers_of_the_paper():
    assert [len(table.rows) for table in TABLES] == [4, 13, 4, 9, 2, 8]
    numbers = {
        (table.number, row.name, column): entry.paper
        for table in TABLES
        for row in table.rows
        for column, entry in row.entries.items()
    }
    assert numbers[1, "WARM", "HW10K"] == 99.5
    assert numbers[1, "Seq2seq baseline", "Math23K"] == 7.1
    assert numbers[2, "WARM w/o BE (Graph2Tree)", "EW10K"] == 49.8
    assert numbers[2, "Hybrid w/ SNI", "Math23K"] == 64.7
    assert numbers[3, "WARM-S w/o BE", "AllArith + EW10K"] == 92.0
    assert numbers[4, "WARM-S (Graph2Tree)", "AllArith + EW10K"] == 93.6
    assert numbers[5, "without beam exploration", "1.8 %"] == 90.6
    assert numbers[2, "GTS", "EW10K"] is None


def test_every_method_exists_and_every_setting_is_a_key_of_it():
    for _, _, entry in ENTRIES:
        assert entry.set in SETS
        if entry.system is not None and entry.system.step is not None:
            assert entry.system.step.method in METHODS
            PaperConfig().method(entry.system.step, entry.set)


def test_every_solver_that_learns_from_candidates_learns_from_what_warm_finds():
    learns = {name for name, kind in SOLVERS.items() if issubclass(kind, NeuralSolver)}
    systems = {row.name: row.entries["AllArith"].system for row in TABLES[5].rows}
    assert {system.solver for system in systems.values()} == learns
    assert {system.step for system in systems.values()} == {warm()}
    # Cells that table 2 shows as well are measured once.
    shown = {entry.system for table, _, entry in ENTRIES if table.number == 2}
    assert systems["GTS"] in shown and systems["Graph2Tree"] in shown


def test_sets_without_equations_have_no_supervised_system():
    for _, _, entry in ENTRIES:
        if entry.system is None:
            assert entry.set in ("ew10k", "hw10k")
        elif entry.system.from_gold:
            assert entry.set in ("allarith", "math23k")


def test_a_solver_that_warmkit_does_not_have_is_not_available():
    assert is_available(System(warm(), "gts"))
    assert not is_available(System(warm(), "no-such-solver"))
    assert not is_available(System(solver="no-such-solver", from_gold=True))


def test_without_beam_exploration_there_is_no_exhaustive_search():
    settings = PaperConfig().method(no_beam(), "allarith").model_dump()
    assert settings["train"]["search"] == 0 and not settings["explore"]["beam_exploration"]


def test_tables_are_found_by_their_numbers():
    assert [table.number for table in find_tables()] == [1, 2, 3, 4, 5, 6]
    assert [table.number for table in find_tables((4, 1, 4))] == [4, 1]
    with pytest.raises(WarmkitError, match=r"There is no table 7\. Take one of 1, 2, 3, 4, 5, 6\."):
        find_tables((7,))


def test_tables_are_about_the_sets_that_are_named():
    assert [table.number for table in find_tables((), ("allarith-ew10k",))] == [3, 4, 5]
    (solving,) = find_tables((2,), ("ew10k", "hw10k"))
    assert solving.columns == ["EW10K", "HW10K"]
    assert all(entry.set in ("ew10k", "hw10k") for row in solving.rows for entry in row.entries.values())
    with pytest.raises(WarmkitError, match=r"No such table is about hw10k or ew10k\."):
        find_tables((3, 4), ("hw10k", "ew10k"))


def test_rows_are_found_by_their_name_or_by_a_part_of_it():
    def found(*rows: str) -> list[tuple[int, str]]:
        return [(table.number, row.name) for table in find_tables((2, 6), (), rows) for row in table.rows]

    assert found("gts") == [(2, "GTS"), (6, "GTS")]
    assert found("WARM (GTS)", "aligned")[:2] == [(2, "WARM (GTS)"), (2, "Semantically-Aligned")]
    assert found("w/o be") == [(2, "WARM w/o BE (GTS)"), (2, "WARM w/o BE (Graph2Tree)")]
    assert found("ensemble") == [(2, "Ensemble w/ EN"), (2, OURS), (6, OURS), (6, "Ensemble w/ EN")]
    with pytest.raises(WarmkitError, match=r"There is no row 'random' in these tables\. Take one of: W"):
        found("random")


def test_each_fold_of_the_file_is_held_out_in_turn(tmp_path):
    loaded = load_set(SETS["allarith"], write_data(tmp_path, folds=4), 5)
    assert loaded.folds == ["fold0", "fold1", "fold2", "fold3"]
    held_out = [loaded.part(fold, 0).tested.ids for fold in loaded.folds]
    assert sorted(sum(held_out, ())) == sorted(loaded.problems.ids)
    for fold in loaded.folds:
        part = loaded.part(fold, 0)
        assert len(part.learnt) == 30 and len(part.tested) == 10
        assert not set(part.learnt.ids) & set(part.tested.ids)


def test_folds_by_seed_are_the_same_for_a_seed_and_others_for_another(tmp_path):
    loaded = load_set(SETS["ew10k"], write_data(tmp_path, "ew10k", folds=0), 5)
    assert len(loaded.folds) == 5
    first, again, other = (loaded.part("fold0", seed).tested.ids for seed in (0, 0, 1))
    assert first == again != other and len(first) == len(other) == 8


def test_the_train_split_is_learnt_and_valid_is_tested(tmp_path):
    write_data(tmp_path, "math23k", folds=0)
    path = tmp_path / "math23k.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    splits = ["train"] * 30 + ["valid"] * 6 + ["test"] * 4
    written = [line[:-1] + f', "split": "{split}"}}' for line, split in zip(lines, splits, strict=True)]
    path.write_text("\n".join(written), encoding="utf-8")
    loaded = load_set(SETS["math23k"], tmp_path, 5)
    part = loaded.part(*loaded.folds, 0)
    assert (len(part.learnt), len(part.tested)) == (30, 6)


def test_two_sets_become_one_although_their_ids_are_the_same(tmp_path):
    write_data(tmp_path, "allarith")
    write_data(tmp_path, "ew10k", folds=0, equation=None)
    loaded = load_set(SETS["allarith-ew10k"], tmp_path, 5)
    assert len(set(loaded.problems.ids)) == 80
    assert loaded.problems.table["equation"].count() == 40
    assert len(loaded.part("fold0", 0).learnt) == 64


@pytest.mark.parametrize(("name", "what"), [("allarith", "the fold of every problem"), ("math23k", "train")])
def test_a_file_without_its_folds_is_refused_with_its_name(tmp_path, name, what):
    loaded = load_set(SETS[name], write_data(tmp_path, name, folds=0), 5)
    with pytest.raises(WarmkitError, match=rf"{name}\.jsonl: .*{what}"):
        loaded.folds  # noqa: B018


def test_the_cheapest_cells_come_first_and_step_one_before_its_solver(data):
    plan = plan_of(data)
    assert [cell.system.name for cell in plan.order] == [
        *["random_sampling"] * 2,
        *["warm"] * 2,
        *["warm-gts"] * 2,
    ]


def test_tables_share_their_cells(data):
    alone, both = plan_of(data, TWO), plan_of(data, ONE, TWO)
    assert {cell.name for cell in alone.order} < {cell.name for cell in both.order}
    assert len(plan_of(data, ONE, TWO, TWO).order) == len(both.order)
    assert len(alone.shown) == 2 and len(alone.order) == 4  # step one is measured, and not shown


def test_other_data_or_settings_or_seeds_make_other_cells(data, tmp_path):
    def names(**changes):
        return {cell.name for cell in plan_of(data, **changes).order}

    before = names()
    assert names() == before
    assert before < names(seeds=2) and len(names(seeds=2)) == 2 * len(before)
    sampling = {name for name in before if "random_sampling" in name}
    longer = SETTINGS.model_copy(update={"methods": {"warm": WARM | {"train.epochs": 3}}})
    other = names(settings=longer)
    assert other & before == sampling
    write_data(data, answer=5)
    assert not names() & before


def test_a_configuration_holds_for_all_sets_or_for_one():
    config = PaperConfig(
        methods={"warm": {"train": {"epochs": 9}}},
        solvers={"gts": {"members": 1}},
        sets={"math23k": {"methods": {"warm": {"train.epochs": 4}}, "solvers": {"gts": {"hidden": 64}}}},
    )
    epochs = [config.method(warm(), name).model_dump()["train"]["epochs"] for name in ("ew10k", "math23k")]
    assert epochs == [9, 4]
    solvers = [config.solver("gts", name).model_dump() for name in ("ew10k", "math23k")]
    assert [solver["members"] for solver in solvers] == [1, 1]
    assert [solver["hidden"] for solver in solvers] == [None, 64]
    assert config.method(no_beam(), "math23k").model_dump()["train"]["search"] == 0  # what the row says


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"sets": {"mathqa": {}}}, "there is no mathqa: take one of allarith, math23k"),
        ({"solvers": {"gtz": {}}}, "there is no gtz: take one of ensemble, gts"),
        ({"sets": {"ew10k": {"methods": {"wram": {}}}}}, "there is no wram: take one of warm"),
        ({"solvers": {"gts": {"member": 1}}}, "gts: there is no key member. Did you mean members?"),
        ({"held_out": 0}, "greater than or equal to 1"),
    ],
)
def test_a_name_or_key_that_is_not_known_is_said(tmp_path, written, message):
    path = tmp_path / "paper.yaml"
    path.write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(WarmkitError, match=f"paper.yaml: .*{message}"):
        load_config(PaperConfig, path)


def test_so_many_folds_of_a_set_are_held_out(data):
    one = SETTINGS.model_copy(update={"held_out": 1})
    assert {cell.fold for cell in plan_of(data).order} == {"fold0", "fold1"}
    first = plan_of(data, settings=one).order
    assert {cell.fold for cell in first} == {"fold0"}
    assert {cell.name for cell in first} < {cell.name for cell in plan_of(data).order}
