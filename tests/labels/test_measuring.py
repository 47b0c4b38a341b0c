"""Pieces are loops with the oracle, measured once."""

import html
import json
import pickle
from dataclasses import replace

import pytest
from labels.tiny_labels import PROTOCOL, TINY, measure, plan_of, worker_of, write_data, write_start

from toolkit.data import ProblemSet, read_problems
from toolkit.errors import WarmkitError
from toolkit.labels.pieces import Files, Piece
from toolkit.labels.plan import results_of
from toolkit.labels.sets import SUBSETS, load_sets
from toolkit.labels.write import as_dict


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Random and margin of two methods, and what each method learns from the labels of the other."""
    folder = tmp_path_factory.mktemp("labels")
    plan = plan_of(write_data(folder / "data"), successor="lbf")
    return plan, folder / "out", *measure(plan, folder / "out")


def curves_of(measured):
    plan, out, _, _ = measured
    results = results_of(plan, Files(out))
    return {(piece.method, piece.strategy, piece.successor): results[piece.name] for piece in plan.order}


def test_random_runs_until_everything_is_annotated_and_a_strategy_to_the_highest_goal(measured):
    curves = curves_of(measured)
    random, margin = curves["warm", "random", None], curves["warm", "margin", None]
    assert [point.labels for point in random.points] == [0, 8, 16]
    assert random.points[-1].pool == 1 and len(set(random.asked)) == 16
    assert margin.points[-1].pool >= 0.98 or margin.points[-1].labels == 16
    assert all(point.pool < 0.98 or point.labels < 3 for point in margin.points[:-1])


def test_strategies_of_a_seed_start_from_the_same_model(measured):
    curves = curves_of(measured)
    random, margin = curves["warm", "random", None].points[0], curves["warm", "margin", None].points[0]
    assert random == margin and random.seconds == 0
    assert len(random.confidence) == len(random.right) == len(random.single) <= 6


def test_the_oracle_is_never_asked_about_the_others(measured):
    plan = measured[0]
    sample = plan.sets["allarith"].sample(0, 16, 6)
    assert len(sample.problems) == 22 and sample.given.table["equation"].count() == 16
    pool = set(sample.problems.ids[:16])
    assert all(set(curve.asked) <= pool for curve in curves_of(measured).values())


def test_pieces_can_begin_with_a_model_that_learnt_the_answers_of_the_whole_file(measured, tmp_path):
    data = write_data(tmp_path / "data")
    starts = write_start(tmp_path / "starts", data)
    plan = replace(measured[0], sets=load_sets(["allarith"], data, starts), successor="warm")
    assert not {piece.name for piece in plan.order} & {piece.name for piece in measured[0].order}
    _, results = measure(plan, tmp_path / "out")
    assert results.counts == {"measured": 4, "failed": 0, "left": 0}
    random, margin, *moved = (results.curves[piece.name] for piece in plan.order)
    assert random.points[0] == margin.points[0] != curves_of(measured)["warm", "random", None].points[0]
    assert all(curve.points[0].labels == PROTOCOL.transferred for curve in moved)
    assert "AllArith: all seeds begin with a model that learnt 40 answers." in render(tmp_path / "out")


def test_a_model_to_begin_with_that_is_not_there_is_named(tmp_path):
    with pytest.raises(WarmkitError, match=r"allarith.model\.json"):
        load_sets(["allarith"], write_data(tmp_path), tmp_path)


def test_perfect_asks_about_what_is_wrong(measured, tmp_path):
    plan = replace(measured[0], strategies=["perfect"], successor=None)
    measure(plan, tmp_path / "out")
    results = results_of(plan, Files(tmp_path / "out"))
    random, perfect = (results[piece.name] for piece in plan.order)
    assert 16 * (1 - perfect.points[0].pool) <= 8  # so many are wrong: one batch has all of them
    assert perfect.points[1].pool == 1 > random.points[1].pool


def test_seconds_grow_with_what_is_asked(measured):
    seconds = [point.seconds for point in curves_of(measured)["warm", "random", None].points]
    assert seconds[0] == 0 and seconds[1] >= 8 * 5 and seconds[2] > seconds[1]


def test_another_method_learns_from_the_first_labels_that_were_chosen(measured):
    curves = curves_of(measured)
    for method, successor in (("warm", "lbf"), ("lbf", "warm"), ("warm", "warm")):
        moved = curves[method, "margin", successor]
        assert moved.asked == curves[method, "margin", None].asked[: PROTOCOL.transferred]
        assert [point.labels for point in moved.points] == [PROTOCOL.transferred]
        assert 0 <= moved.points[0].pool <= 1


def test_what_is_there_is_not_measured_again_and_what_is_deleted_comes_out_the_same(measured):
    plan, out, ended, _ = measured
    assert ended == [piece.name for piece in plan.order] and len(ended) == 12
    assert measure(plan, out, resume=True)[0] == []
    path = Files(out).result(plan.order[0])
    before = json.loads(path.read_bytes())["curve"]
    path.unlink()
    assert measure(plan, out, resume=True)[0] == [plan.order[0].name]
    again = json.loads(path.read_bytes())["curve"]
    assert before | {"seconds": 0} == again | {"seconds": 0}


def test_the_page_and_the_markdown_say_the_same(measured):
    _, out, _, results = measured
    page, markdown = (
        html.unescape((out / f"labels.{kind}").read_text(encoding="utf-8")) for kind in ("html", "md")
    )
    assert "<script" not in page and "python bench/active.py --data 'my data'" in page
    assert "12 of 12" in page and "AllArith, batches of 8" in page
    rows = [line for line in markdown.splitlines() if line.startswith("| AllArith")]
    assert len(rows) == 2 + 2 + 4  # labels and confidence of two methods, and four transfers
    for row in rows:
        assert all(cell.strip() in page for cell in row.strip("|").split("|"))
    assert {len(figures["labels"]) for figures in as_dict(results)["comparisons"]} == {3}


def test_a_piece_that_fails_is_told_and_measured_again(tmp_path):
    data, out = write_data(tmp_path / "data"), tmp_path / "out"
    plan = plan_of(data, strategies=[], protocol=PROTOCOL.__class__(asked=60, settings=TINY))
    _, results = measure(plan, out)
    assert results.counts == {"measured": 0, "failed": 1, "left": 0}
    assert "it has 40 problems for AllArith whose equation can be used, and 110 are wanted" in render(out)
    assert len(measure(plan, out, resume=True)[0]) == 1


def render(out):
    return (out / "labels.html").read_text(encoding="utf-8")


def test_a_damaged_result_is_named_with_what_to_do(tmp_path):
    plan, files = plan_of(write_data(tmp_path / "data")), Files(tmp_path / "out")
    path = files.result(plan.order[0])
    path.parent.mkdir(parents=True)
    for curve in ("", '{"points": 3}', '{"points": []}', '{"points": [{"labels": 1}]}'):
        start = '{"format": "warmkit-labels-1", "digest": "", "error": "", "curve": '
        path.write_text(f"{start}{curve}}}", encoding="utf-8")
        with pytest.raises(WarmkitError, match=r"allarith-warm-random.*damaged.*Delete the file"):
            results_of(plan, files)


def test_settings_data_and_coordinates_make_other_pieces(tmp_path):
    plan = plan_of(write_data(tmp_path))
    (data,) = plan.sets.values()
    piece = Piece("allarith", "warm", "margin", 8, 0, 0.0)
    names = {
        Piece.of(other, data, plan.protocol).name
        for other in (
            piece,
            piece.with_seed(1),
            Piece("allarith", "warm", "margin active.random_share=0", 8, 0, 0.0),
            Piece("allarith", "warm", "margin", 8, 0, 0.05),
            Piece("allarith", "warm", "margin", 8, 0, 0.0, "lbf"),
        )
    }
    assert len(names) == 5
    assert Piece.of(piece, data, plan.protocol).config(plan.protocol).active.strategy == "margin"


def test_the_worker_can_be_sent_elsewhere(tmp_path):
    plan = plan_of(write_data(tmp_path))
    worker = pickle.loads(pickle.dumps(worker_of(plan, Files(tmp_path))))
    first, again = (one.sets["allarith"].sample(3, 10, 5).problems.ids for one in (plan, worker))
    assert first == again


def test_the_subsets_of_math23k():
    texts = ("3 个 4 元 5 角", "原价 50 元，打 80% 折", "(2/5) 的 10 是多少", "3 加 4")
    problems = ProblemSet(
        read_problems("bundled:zh").table.head(4).with_columns(text=_series(texts), lang=_series(["zh"] * 4))
    )
    kept = {
        name: [row for row in range(4) if SUBSETS[name].keeps(problems, row)]
        for name in ("allarith", "numbers", "parts")
    }
    assert kept == {"allarith": [0, 1, 2, 3], "numbers": [0], "parts": [1, 2]}


def _series(values):
    import polars as pl

    return pl.Series(values)


def test_a_set_without_its_file_is_named(tmp_path):
    with pytest.raises(WarmkitError, match=r"math23k\.jsonl"):
        load_sets(["numbers"], tmp_path)
