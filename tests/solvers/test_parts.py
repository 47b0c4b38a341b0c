"""Solvers that learn from problems in parts."""

import json
from pathlib import Path

import polars as pl
import pytest
import torch
from click.testing import CliRunner
from commands import sets, together
from safetensors.torch import load_file

from toolkit.cli import main
from toolkit.config import load_config
from toolkit.data import preparing, read_candidates, read_problems, sorted_candidates, write_table
from toolkit.data.prepared import known_share
from toolkit.data.preparing import Preparation, prepare
from toolkit.data.schema import CANDIDATES
from toolkit.equations import parse_constant, parse_template, search, show
from toolkit.errors import WarmkitError
from toolkit.nn.workers import WorkerGroup
from toolkit.solvers import SolverInput, load_solver
from toolkit.solvers.neural import member, train
from toolkit.solvers.neural import prepare as lessons
from toolkit.solvers.neural.prepare import prepare_lessons
from toolkit.solvers.published import Dns, Gts

CONSTANTS = (parse_constant("1"), parse_constant("π"))
TINY = ("hidden=8", "embedding=8", "epochs=2", "members=1", "max_tokens=9", "batch=8", "held_out=0.25")
WORKER = """
import json, sys
from pathlib import Path
import torch, torch.distributed as dist
from toolkit.config import load_config
from toolkit.equations import parse_constant
from toolkit.nn.workers import WorkerGroup
from toolkit.solvers.base import PreparedLessons
from toolkit.solvers.published import Gts

rank, size, group, out, folder, digest, *settings = sys.argv[1:]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{group}", rank=int(rank), world_size=int(size))
constants = parse_constant("1"), parse_constant("π")
data = PreparedLessons(Path(folder), digest, constants, load_config(Gts.Config, None, settings))
Gts.fit_prepared(data, folder=Path(out) / rank, workers=WorkerGroup(int(rank), int(size)))
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def problems():
    return read_problems("bundled:en", constants=CONSTANTS).take(range(60))


@pytest.fixture
def small(monkeypatch):
    """Parts of 16 problems, runs of 50 candidates, and enough problems that are held out."""
    monkeypatch.setattr(preparing, "PART", 16)
    monkeypatch.setattr(sorted_candidates, "RUN", 50)
    monkeypatch.setattr(member, "LEAST_HELD_OUT", 5)


@pytest.fixture
def parts(problems, tmp_path, small):
    """The problems in two files."""
    write_table(problems.table[:25], tmp_path / "parts" / "a.parquet")
    write_table(problems.table[25:], tmp_path / "parts" / "b.jsonl")
    return tmp_path / "parts"


@pytest.fixture(scope="module")
def found(problems):
    """Candidates, with some of problems that nobody asks about."""
    reached = search(problems.numbers, problems.answers, 2, CONSTANTS)
    rows = [
        (name, "?", show(candidate.template), candidate.klass, -1.0, 1 / (place + 2), 1, "search")
        for name, candidates in zip(problems.ids, reached, strict=True)
        for place, candidate in enumerate(candidates[:4])
    ]
    return pl.DataFrame([*rows, ("elsewhere", "?", "N7", 1, -1.0, 1.0, 1, "warm")], CANDIDATES, orient="row")


@pytest.fixture
def candidates(found, tmp_path):
    """The candidates in three files, of which the last problems come first, and none in its order."""
    ids = found["problem_id"].unique(maintain_order=True)
    order = {name: (7 * place) % 61 for place, name in enumerate(ids.reverse())}
    mixed = found.sort(pl.col("problem_id").replace_strict(order), maintain_order=True)
    for number, rows in enumerate((mixed[:70], mixed[70:71], mixed[71:])):
        write_table(rows, tmp_path / "candidates" / f"part-{number}.parquet")
    return tmp_path / "candidates"


def in_parts(parts, candidates=None, use_gold=True, settings=TINY, solver=Gts, annotated=None, **more):
    root = parts.parent / "prepared"
    config = load_config(solver.Config, None, settings)
    ready = prepare(parts, Preparation(root, CONSTANTS))
    known = known_share(ready, float(use_gold), 0, annotated)
    return prepare_lessons(solver, ready, known, candidates, config, root=root, **more)


def in_memory(problems, candidates=None, use_gold=True, settings=TINY, solver=Gts, more=()):
    known = (problems.gold_templates if use_gold else {}) | dict(more)
    table = None if candidates is None else read_candidates(candidates, problems)
    return SolverInput(problems, known, table, load_config(solver.Config, None, settings))


def assert_same(solver, other):
    for network, same in zip(solver.networks, other.networks, strict=True):
        for name, tensor in network.state_dict().items():
            assert tensor.equal(same.state_dict()[name]), name
    assert solver.vocabulary == other.vocabulary
    assert solver.ranker.weights == other.ranker.weights
    assert solver.ranker.coherence.ratios == other.ranker.coherence.ratios
    assert solver.ranker.plausibility.counts == other.ranker.plausibility.counts
    assert solver.learnt == other.learnt


@pytest.mark.parametrize("given", ["gold", "candidates", "both"])
def test_parts_teach_what_problems_in_memory_teach_bit_for_bit(problems, parts, candidates, given):
    given = (None if given == "gold" else candidates), given != "candidates"
    here, there = Gts.fit(in_memory(problems, *given)), Gts.fit_prepared(in_parts(parts, *given))
    assert_same(here, there)


def test_annotations_and_other_settings_teach_the_same_from_parts(problems, parts, candidates):
    agreed = {problems.ids[row]: parse_template("N0 + N1 + 1") for row in (3, 30)}
    settings = (*TINY, "forms=commuted", "target=best", "threshold=0.3", "joined=0", "word_dropout=0")
    here = Gts.fit(in_memory(problems, candidates, False, settings, more=agreed))
    assert_same(here, Gts.fit_prepared(in_parts(parts, candidates, False, settings, annotated=agreed)))


def test_words_of_several_characters_are_learnt_from_parts(tmp_path, small):
    problems = read_problems("bundled:zh", constants=CONSTANTS).take(range(40))
    write_table(problems.table, tmp_path / "parts" / "zh.parquet")
    settings = (*TINY, "joined=2", "epochs=1")
    there = Gts.fit_prepared(in_parts(tmp_path / "parts", settings=settings))
    assert any(len(word) > 1 and not word.isascii() for word in there.vocabulary.words)
    assert_same(Gts.fit(in_memory(problems, settings=settings)), there)


def test_a_solver_that_retrieves_holds_texts_up_to_a_bound(problems, parts, monkeypatch):
    settings = (*TINY, "epochs=1")
    there = Dns.fit_prepared(in_parts(parts, settings=settings, solver=Dns))
    assert there.learnt
    assert_same(Dns.fit(in_memory(problems, settings=settings, solver=Dns)), there)
    monkeypatch.setattr(lessons, "MOST_RETRIEVED", 59)
    with pytest.raises(WarmkitError, match=r"retrieval 0\.7: .* there are 60 problems; at most 59 are held"):
        in_parts(parts, settings=settings, solver=Dns)


def test_two_workers_come_to_the_networks_of_one(problems, parts, candidates, tmp_path):
    settings = (*TINY, "dropout=0", "decoder_dropout=0", "word_dropout=0.1", "lr=0.001")
    data = in_parts(parts, candidates, True, settings)
    Gts.fit_prepared(data, folder=tmp_path / "one")
    together(2, tmp_path, WORKER, str(tmp_path / "all"), str(data.folder), data.data, *settings)
    state = "training/network-1/training.safetensors"
    single, shared = (load_file(folder / state) for folder in (tmp_path / "one", tmp_path / "all" / "0"))
    for name, tensor in shared.items():
        torch.testing.assert_close(tensor, single[name], atol=1e-5, rtol=1e-4, msg=name)
    assert not (tmp_path / "all" / "1" / state).exists()  # rank zero saves


def test_a_rank_holds_its_lessons_alone(problems, parts):
    data = in_parts(parts)
    shards = [member.make_lessons(Gts, data, WorkerGroup(rank, 2)).shard for rank in range(2)]
    whole = member.make_lessons(Gts, data).shard
    assert [len(shard.tensors) for shard in shards] == [23, 22]
    assert len(whole.tensors) == len(shards[0].lengths) == 45
    for row in range(45):
        own, own_row = shards[row % 2], torch.tensor([row // 2])
        assert own.tensors.batch(own_row).tokens.equal(whole.tensors.batch(torch.tensor([row])).tokens)
        assert own.equations.of(own_row)[0] == whole.equations.of(torch.tensor([row]))[0]


class Stopped(Exception):
    pass


def test_a_training_on_parts_that_is_stopped_goes_on_bit_for_bit(parts, candidates, tmp_path):
    def stop(now):
        if now.epochs:
            raise Stopped

    data = in_parts(parts, candidates)
    with pytest.raises(Stopped):
        Gts.fit_prepared(data, folder=tmp_path / "stopped", on_progress=stop)
    resumed = Gts.fit_prepared(in_parts(parts, candidates), folder=tmp_path / "stopped", resume=True)
    assert_same(resumed, Gts.fit_prepared(data))


def test_a_training_is_not_resumed_on_parts_that_changed(parts, candidates, tmp_path):
    def stop(now):
        raise Stopped

    with pytest.raises(Stopped):
        Gts.fit_prepared(in_parts(parts, candidates), folder=tmp_path / "stopped", on_progress=stop)
    (candidates / "part-1.parquet").unlink()
    with pytest.raises(WarmkitError, match="the data changed since it was started: not resumed"):
        Gts.fit_prepared(in_parts(parts, candidates), folder=tmp_path / "stopped", resume=True)


def test_networks_in_processes_learn_from_parts_too(parts, monkeypatch):
    data = in_parts(parts, settings=(*TINY, "members=2", "epochs=1"))
    alone = Gts.fit_prepared(data)
    monkeypatch.setattr(train, "_processes", lambda *arguments: 2)
    assert_same(Gts.fit_prepared(data), alone)


def test_lessons_are_made_once_and_not_taken_if_they_changed(parts, candidates):
    done = []

    def run(preparation, given):
        for part in given:
            done.append(part.number)
            yield preparation(part)

    data = in_parts(parts, candidates, run=run)
    assert done == [0, 1, 2, 3, 4]
    assert in_parts(parts, candidates, run=run) == data and len(done) == 5
    assert in_parts(parts, candidates, settings=(*TINY, "lr=0.5"), run=run).folder == data.folder
    assert in_parts(parts, candidates, settings=(*TINY, "forms=written"), run=run).folder != data.folder
    assert not list(data.folder.glob("candidates-*"))
    path = data.folder / "part-000002.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(WarmkitError, match=r"part-000002\.parquet: it is not what was prepared"):
        in_parts(parts, candidates)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"template": "N0 +"}, "row 2: its template can't be read"),
        (
            {"template": "N0 + N63"},
            "row 2: the candidate of problem .* uses a number that its problem does not",
        ),
        ({"posterior": 1.5}, "row 2: the candidate of problem .* a posterior that is not between 0 and 1"),
        ({"log_prob": float("nan")}, "row 2: the candidate of problem .* a log_prob that is not a number"),
        ({"equation": None}, "row 2: the candidate of problem .* has an empty field"),
        ({"template": "N0 - N0 - 1"}, ": problem .*: N0 - N0 - 1 does not give its answer"),
    ],
)
def test_a_candidate_that_can_not_be_one_is_named(problems, parts, found, candidates, change, message):
    row = {**found.row(0, named=True), "problem_id": problems.ids[40], **change}
    last = found.filter(pl.col("problem_id") == "elsewhere")
    write_table(pl.concat([last, pl.DataFrame([row], CANDIDATES)]), candidates / "a.parquet")
    with pytest.raises(WarmkitError, match=rf"a\.parquet(, )?{message}"):
        in_parts(parts, candidates)
    assert not list((parts.parent / "prepared").glob("lessons-*"))


def test_candidates_of_other_problems_and_no_equations_are_sentences(parts, found, tmp_path):
    write_table(found.with_columns(problem_id="x" + pl.col("problem_id")), tmp_path / "other.parquet")
    with pytest.raises(WarmkitError, match=r"other\.parquet: none of its problems is in the problem set"):
        in_parts(parts, tmp_path / "other.parquet")
    write_table(found.clear(), tmp_path / "none.parquet")
    with pytest.raises(WarmkitError, match=r"none\.parquet: this candidates table is empty"):
        in_parts(parts, tmp_path / "none.parquet")
    for nowhere in ("nowhere.parquet", "parts"):
        with pytest.raises(WarmkitError, match=rf"{nowhere}.*: "):
            in_parts(parts, tmp_path / nowhere)
    with pytest.raises(WarmkitError, match="no equation to learn from"):
        in_parts(parts, use_gold=False)


def test_the_command_learns_from_parts(problems, parts, candidates, tmp_path):
    def run(data: Path, out: str, *more: object):
        arguments = [
            "solver",
            "fit",
            data,
            "--candidates",
            candidates,
            "--gold",
            "--out",
            tmp_path / out,
            *more,
        ]
        return CliRunner().invoke(main, [*map(str, arguments), *sets(TINY), "--json"])

    one = tmp_path / "one.parquet"
    write_table(problems.table, one)
    results = [run(one, "here"), run(parts, "there", "--test", parts)]
    assert [result.exit_code for result in results] == [0, 0], [result.output for result in results]
    assert_same(load_solver(tmp_path / "here"), load_solver(tmp_path / "there"))
    here, there = (json.loads(result.stdout) for result in results)
    assert here["problems"] == there["problems"] == 60 and here["loss"] == there["loss"]
    assert 0 <= there["answer_accuracy"] <= 1
    assert not (tmp_path / "there" / "training").exists()
    assert (tmp_path / "there" / "prepared").is_dir() and not (tmp_path / "here" / "prepared").exists()


def test_the_command_takes_the_constants_of_candidates_in_parts(parts, found, candidates, tmp_path):
    row = found.with_columns(template=pl.col("template") + " + 7 - 7").row(0, named=True)
    write_table(pl.DataFrame([row], CANDIDATES), candidates / "a.parquet")
    arguments = ["solver", "fit", parts, "--candidates", candidates, "--out", tmp_path / "out"]
    result = CliRunner().invoke(main, [*map(str, arguments), *sets((*TINY, "epochs=1"))])
    assert result.exit_code == 0, result.output
    assert list(map(show, load_solver(tmp_path / "out").constants)) == ["1", "7", "π"]
    refused = CliRunner().invoke(
        main, [*map(str, arguments[:-1]), str(tmp_path / "no"), "--constants", "1,π"]
    )
    assert refused.exit_code == 1
    assert "uses 7" in refused.output and "no constant here" in refused.output
