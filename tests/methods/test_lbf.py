"""Learning by fixing: trees of a given length, 1-FIX, m-FIX, the buffer, and training."""

import itertools
import math
from fractions import Fraction

import pytest
import torch
from answered import easy, problem_set
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file

from toolkit.config import load_config
from toolkit.data import ProblemSet, vocabulary_of
from toolkit.equations import DEFAULT_CONSTANTS, count_operators, parse, reaches, show
from toolkit.errors import WarmkitError
from toolkit.methods import FitInput, FitOptions, GenerateConfig, load_model
from toolkit.methods.base import Origin
from toolkit.methods.lbf import BUFFER, Lbf
from toolkit.methods.lbf.buffer import Buffer, digests
from toolkit.methods.lbf.config import LbfConfig
from toolkit.methods.lbf.decode import LENGTHS, decode, node_scores, tree_lengths
from toolkit.methods.lbf.m_fix import Proposals, m_fix
from toolkit.methods.lbf.one_fix import (
    INVERSE_LEFT,
    INVERSE_RIGHT,
    RESULT,
    Case,
    Interval,
    computed,
    inverted,
    one_fix,
)
from toolkit.methods.lbf.train import LbfLessons
from toolkit.nn.batches import to_tensors
from toolkit.nn.tokens import Tokens
from toolkit.nn.tree.forest import Forest
from toolkit.nn.tree.gts import GtsNetwork
from toolkit.nn.weights import load_weights

TOKENS = Tokens(DEFAULT_CONSTANTS)
FIRST = TOKENS.first_number
TINY = ("hidden=8", "embedding=8", "fixes=5", "batch=4")


def case(answer: float, *numbers: float | str) -> Case:
    return Case(TOKENS, [Fraction(number) for number in numbers], answer)


def prefix(text: str) -> tuple[int, ...]:
    return tuple(TOKENS.encode(parse(text)) or ())


def even(of: Case, tree: tuple[int, ...]) -> torch.Tensor:
    """The scores of a model that believes in all tokens alike."""
    return torch.full((len(tree), FIRST + len(of.numbers)), -2.0)


def fixed(of: Case, text: str, scores: torch.Tensor | None = None) -> str | None:
    """What 1-FIX makes of a tree."""
    tree = prefix(text)
    found = one_fix(of, tree, (even(of, tree) if scores is None else scores).tolist())
    return None if found is None else show(TOKENS.decode(found))


def config(*overrides: str) -> LbfConfig:
    return load_config(LbfConfig, None, (*TINY, *overrides))


# Inverting operators


@pytest.mark.parametrize("sign", RESULT)
@settings(deadline=None)
@given(left=st.floats(0.5, 50), right=st.floats(0.5, 9))
def test_inverting_an_operator_gives_the_operand_back(sign, left, right):
    if sign == "^" and abs(left - 1) < 0.1:
        return  # 1 to any power is 1
    value = RESULT[sign](left, right)
    assert INVERSE_LEFT[sign](value, right) == pytest.approx(left)
    assert INVERSE_RIGHT[sign](value, left) == pytest.approx(right)


@pytest.mark.parametrize(
    ("sign", "side", "target", "other"),
    [
        ("*", INVERSE_LEFT, 6, 0),  # nothing times 0 is 6
        ("*", INVERSE_RIGHT, 6, 0),
        ("/", INVERSE_LEFT, 6, 0),  # nothing divided by 0 is
        ("/", INVERSE_RIGHT, 6, 0),
        ("^", INVERSE_LEFT, 6, 0),  # nothing to the power of 0 is 6
        ("^", INVERSE_LEFT, -4, 2),
        ("^", INVERSE_RIGHT, 6, 1),
        ("^", INVERSE_RIGHT, 6, -2),
    ],
)
def test_what_no_operand_gives_has_no_inverse(sign, side, target, other):
    assert math.isnan(computed(side[sign], target, other))


def test_an_interval_is_inverted_at_both_ends_whichever_is_larger_then():
    assert inverted(INVERSE_LEFT["*"], Interval(6, 8), 2) == (3, 4)
    assert inverted(INVERSE_LEFT["*"], Interval(6, 8), -2) == (-4, -3)
    assert inverted(INVERSE_RIGHT["-"], Interval(6, 8), 10) == (2, 4)


# 1-FIX


@pytest.mark.parametrize(
    ("answer", "numbers", "wrong", "right"),
    [
        (7, (9, 2), "N0 + N1", "N0 - N1"),
        (7, (9, 2), "N0 - N0", "N0 - N1"),
        (8, (9, 2), "N0 - N1", "N0 - 1"),
        (28, (2, 3, 5), "N2 * (N0 + N1 + N1) - N0", "N2 * (N0 + 1 + N1) - N0"),
        (15, (5, 3), "N0 * π", "N0 * N1"),
        (15.7, (5, 3), "N0 * N1", "N0 * π"),
        (110 / 7, (5, 3), "N0 * N1", "N0 * π"),
        (9, (3, 2), "N0 ^ N1 ^ N1", "N0 ^ N1 ^ 1"),
        (8, (3, 2), "N0 ^ N0", "N1 ^ N0"),
        (3.33, (10, 3), "N0 * N1", "N0 / N1"),
        (3.33, (10, 3), "N1 / N1", "N0 / N1"),
        (0, (9, 2, 0), "N0 / N2", "N0 * N2"),
        (-7, (9, 2), "N1 + N0", "N1 - N0"),
    ],
)
def test_a_tree_that_is_wrong_in_one_token_is_fixed(answer, numbers, wrong, right):
    assert fixed(case(answer, *numbers), wrong) == right


def test_a_tree_that_reaches_the_answer_stays_as_it_is():
    assert fixed(case(7, 9, 2), "N0 - N1") == "N0 - N1"
    assert fixed(case(15.7, 5), "N0 * π") == "N0 * π"  # π is read as 3.14


@pytest.mark.parametrize(
    ("answer", "numbers", "wrong"),
    [
        (100, (9, 2), "N0 + N1"),  # out of reach
        (18, (9, 2, 3), "N2 - N2"),  # N0 * N1: all three tokens
        (5, (0, 0), "N0 / N1"),
    ],
)
def test_a_tree_that_no_token_fixes_is_given_up(answer, numbers, wrong):
    assert fixed(case(answer, *numbers), wrong) is None


def test_of_several_fixes_the_cheapest_wins():
    """6 from 2, 3, 4 and 2 * 4: 2 + 4, or 2 * 3."""
    of, wrong = case(6, 2, 3, 4), prefix("N0 * N2")
    for likely, wanted in ((0, "N0 + N2"), (2, "N0 * N1")):
        scores = even(of, wrong)
        scores[likely, prefix(wanted)[likely]] = -0.5
        assert fixed(of, "N0 * N2", scores) == wanted


def test_a_fix_deep_in_the_tree_wins_if_it_is_cheaper():
    """3 * 4 + 2 is to be 10 instead of 14: 3 * 4 - 2, or 2 * 4 + 2."""
    of, text = case(10, 2, 3, 4), "N1 * N2 + N0"
    for position, token, wanted in ((0, 1, "N1 * N2 - N0"), (2, FIRST, "N0 * N2 + N0")):
        scores = even(of, prefix(text))
        scores[position, token] = -0.1
        assert fixed(of, text, scores) == wanted


numbers = st.lists(st.integers(1, 12), min_size=2, max_size=3)


@settings(deadline=None)
@given(values=numbers, data=st.data())
def test_one_fix_finds_the_best_of_all_single_changes(values, data):
    """Against trying every token everywhere; without powers, of which only positive roots are taken."""
    shape = data.draw(st.sampled_from([(0, 9, 9), (0, 0, 9, 9, 9), (0, 9, 0, 9, 9)]))
    tokens = Tokens(DEFAULT_CONSTANTS, ("+", "-", "*", "/"))
    leaves = st.integers(4, tokens.first_number + len(values) - 1)
    tree = tuple(data.draw(st.integers(0, 3) if token == 0 else leaves) for token in shape)
    of = Case(tokens, [Fraction(value) for value in values], float(data.draw(st.integers(-5, 40))))
    size = (len(tree), tokens.first_number + len(values))
    scores = torch.rand(size, generator=torch.Generator().manual_seed(data.draw(st.integers(0, 99)))).tolist()
    changes = [
        (scores[i][tree[i]] - scores[i][token], (*tree[:i], token, *tree[i + 1 :]))
        for i in range(len(tree))
        for token in of.alternatives(tree[i])
    ]
    right = [(cost, new) for cost, new in changes if of.reached_by(new)]
    wanted = tree if of.reached_by(tree) else min(right)[1] if right else None
    assert one_fix(of, tree, scores) == wanted


# m-FIX


def test_m_fix_solves_what_one_fix_cannot():
    """18 = 9 * 2 has no token in common with 3 - 3."""
    of, wrong = case(18, 9, 2, 3), prefix("N2 - N2")
    scores = even(of, wrong)
    assert one_fix(of, wrong, scores.tolist()) is None
    found = m_fix(of, wrong, scores, 50, torch.Generator().manual_seed(0))
    assert found is not None and reaches(TOKENS.decode(found), of.numbers, 18)
    assert m_fix(of, wrong, scores, 1, torch.Generator().manual_seed(0)) is None  # 1-FIX alone


def test_m_fix_draws_by_its_generator_alone():
    of, wrong = case(18, 9, 2, 3), prefix("N2 - N2")
    scores, seeds = even(of, wrong), (1, 1, *range(9))
    found = [m_fix(of, wrong, scores, 50, torch.Generator().manual_seed(seed)) for seed in seeds]
    assert found[0] == found[1] and len(set(found)) > 1


def test_m_fix_gives_up_where_nothing_reaches_the_answer():
    of, wrong = case(math.sqrt(2) * 1e7, 2, 3), prefix("N0 + N1 * N1")
    assert m_fix(of, wrong, even(of, wrong), 20, torch.Generator().manual_seed(0)) is None


def test_proposals_keep_the_kinds_and_follow_the_model():
    of, tree = case(18, 9, 2, 3), prefix("N0 + N1 * N2")
    scores = even(of, tree)
    scores[0, 1] = 6.0  # a minus
    proposals = Proposals.draw(of, tree, scores.log_softmax(-1), 400, torch.Generator().manual_seed(0))
    every = [proposals.applied(i, tree) for i in range(400)]
    for new in every:
        assert new != tree
        assert [token < 5 for token in new] == [token < 5 for token in tree]
        assert all(token < FIRST + 3 for token in new)
    changed = [sum(a != b for a, b in zip(new, tree, strict=True)) for new in every]
    assert changed.count(1) > 350 and max(changed) > 1  # a few tokens at most
    roots = [new[0] for new in every if new[0] != tree[0]]
    assert roots.count(1) > 0.95 * len(roots)
    assert len(set(every)) > 15  # everywhere else all tokens alike


def test_where_there_is_nothing_else_a_proposal_changes_nothing():
    alone = Case(Tokens((), ("+",)), [Fraction(3)], 9.0)
    tree = (0, 1, 1)
    drawn = Proposals.draw(alone, tree, torch.zeros(3, 2), 20, torch.Generator().manual_seed(0))
    assert {drawn.applied(i, tree) for i in range(20)} == {tree}
    assert m_fix(alone, tree, torch.zeros(3, 2), 10, torch.Generator().manual_seed(0)) is None


# Trees of a given length


def network_of(problems: ProblemSet, *overrides: str):
    vocabulary = vocabulary_of(problems, 1)
    torch.manual_seed(0)
    network = Lbf.new_network(len(vocabulary), problems.constants, config(*overrides)).eval()
    for weight in network.parameters():
        weight.data *= 3.0  # unlike probabilities
    return network, to_tensors(problems, vocabulary).all


SIZES = problem_set(
    ("Ann has 2 pears", 4),
    ("Ann has 2 pears and 3 plums", 6),
    ("Ann has 2 pears, 3 plums, 5 figs and 7 dates", 17),
)


@pytest.mark.parametrize("more", LENGTHS)
def test_a_decoded_tree_has_its_length_and_is_regular(more):
    network, batch = network_of(SIZES)
    lengths = tree_lengths(batch.counts, more, 31)
    assert lengths.tolist() == [max(3, 2 * n + more) for n in (1, 2, 4)]
    decoded = decode(network.decoder, network.source(batch), lengths)
    for row, (length, count) in enumerate(zip(lengths.tolist(), (1, 2, 4), strict=True)):
        tree = decoded.tokens[row, :length].tolist()
        assert (decoded.tokens[row, length:] == -1).all()
        is_operator = [token < 5 for token in tree]
        assert is_operator[0] and not is_operator[-1]
        assert sum(is_operator) == (length - 1) // 2
        for before in range(1, length):
            assert before - sum(is_operator[:before]) <= sum(is_operator[:before])
        assert max(tree) < FIRST + count
        assert count_operators(TOKENS.decode(tree)) == (length - 1) // 2
        for position, token in enumerate(tree):
            scores = decoded.scores[row, position]
            assert scores.exp().sum() == pytest.approx(1, abs=1e-5)
            assert int(scores.argmax()) == token


def test_a_length_is_odd_and_no_longer_than_asked_for():
    counts = torch.tensor([1, 2, 3, 50])
    assert tree_lengths(counts, 3, 9).tolist() == [5, 7, 9, 9]
    assert tree_lengths(counts, 3, 8).tolist() == [5, 7, 7, 7]
    assert tree_lengths(counts, -1, 3).tolist() == [3, 3, 3, 3]


def test_the_scores_of_the_nodes_are_those_of_the_tree():
    network, batch = network_of(SIZES)
    source = network.source(batch)
    trees = [prefix("N0 + N0 * 1"), prefix("N0 / (N1 - N0)"), prefix("N3")]
    padded = torch.full((3, 1, 5), -1)
    for i, tree in enumerate(trees):
        padded[i, 0, : len(tree)] = torch.tensor(tree)
    scores = node_scores(network.decoder, source, padded, 9)
    forest = Forest.of(trees, [0, 1, 2], 5, 9, torch.device("cpu"))
    wanted = network.decoder.log_prob(source, forest)
    for i, tree in enumerate(trees):
        total = sum(float(scores[i, 0, at, token]) for at, token in enumerate(tree))
        assert total == pytest.approx(wanted[i].item(), abs=1e-4)


def test_a_text_may_have_fewer_trees_than_others_and_they_may_be_as_long_as_can_be():
    network, batch = network_of(SIZES)
    longest = prefix("N0" + " + N0" * 4)
    padded = torch.full((3, 2, 9), -1)
    padded[0] = torch.tensor(longest)
    padded[1, 0] = torch.tensor(longest)  # one tree, and none for the third text
    scores = node_scores(network.decoder, network.source(batch), padded, 9)
    assert scores.shape == (3, 2, 9, FIRST + 4)
    assert torch.equal(scores[0, 0], scores[0, 1])
    assert all(scores[1, 0, at, token].isfinite() for at, token in enumerate(longest))


# The buffer


def test_a_buffer_keeps_different_fixes_in_their_order_and_is_restored_as_it_was():
    buffer = Buffer()
    for problem, text in ((7, "N0 + N1"), (7, "N1 + N0"), (-3, "N0 * N0 - 1"), (7, "N0 + N1")):
        buffer.add(problem, prefix(text))
    assert len(buffer) == 3 and buffer.of(7) == [prefix("N0 + N1"), prefix("N1 + N0")] and not buffer.of(1)
    again = Buffer.restored(buffer.tensors, TOKENS, 5)
    assert list(again) == list(buffer)
    again.forget(7)
    assert len(again) == 1
    assert list(Buffer.restored(Buffer().tensors, TOKENS, 5)) == []


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("lengths", [3, 3, 4]),
        ("lengths", [3, 8]),
        ("lengths", [0, 6]),
        ("tokens", [0, 7, 8, 0, 7]),
        ("tokens", [7, 7, 7, 0, 7, 8]),
        ("tokens", [0, 0, 8, 0, 7, 8]),
        ("tokens", [0, 7, 9999, 0, 7, 8]),
        ("tokens", [-1, 7, 8, 0, 7, 8]),
        ("problems", [[1, 2]]),
        ("problems", [1.0, 2.0]),
        ("problems", None),
    ],
)
def test_a_damaged_buffer_is_refused(name, values):
    buffer = Buffer()
    buffer.add(1, prefix("N0 + N1"))
    buffer.add(2, prefix("N0 + N1"))
    tensors = buffer.tensors
    assert len(Buffer.restored(tensors, TOKENS, 5)) == 2
    if values is None:
        del tensors[name]
    else:
        tensors[name] = torch.tensor(values)
    with pytest.raises((ValueError, LookupError, RuntimeError)):
        Buffer.restored(tensors, TOKENS, 5)


def test_a_problem_is_known_by_its_text_and_answer():
    a, b, c, d = digests(problem_set(("2 and 3", 5), ("2 and 3", 6), ("3 and 2", 5), ("2 and 3", 5)))
    assert a == d and len({a, b, c}) == 3


# Training


def fit(problems: ProblemSet, *overrides: str, known=None, folder=None, resume=False, on_epoch=None) -> Lbf:
    options = FitOptions(resume=resume, on_epoch=on_epoch or (lambda epoch: None))
    return Lbf.fit(FitInput(problems, known or {}, config(*overrides), 3), folder, options)


def test_fixes_are_learnt_until_beams_need_no_fixing():
    problems, epochs = easy(8), []
    model = fit(
        problems, "epochs=25", "hidden=32", "lr=0.01", "batch=8", "dropout=0.1", on_epoch=epochs.append
    )
    assert epochs[-1].reached == 1 and epochs[-1].loss < epochs[0].loss
    model.buffer = Buffer()  # what the network has learnt, not what is remembered
    likeliest = [found.scored[0].template for found in model.candidates(problems, GenerateConfig(width=5))]
    right = [
        reaches(template, values, answer) and show(template) in ("N0 + N1", "N1 + N0", "N0 - N1")
        for template, values, answer in zip(likeliest, problems.numbers, problems.answers, strict=True)
    ]
    assert sum(right) >= 14


def lessons_of(network: GtsNetwork, data: FitInput) -> LbfLessons:
    return LbfLessons(Lbf(network, vocabulary_of(data.problems, 1), data.config, Origin.of(data)), data)


def test_the_buffer_grows_and_is_learnt_whole():
    problems = easy(4)
    sizes: dict[str, list[int]] = {}
    for memory in ("buffer", "fresh"):
        settings = config(f"memory={memory}", "dropout=0.5", "fixes=30")
        network, batch = network_of(problems, f"memory={memory}", "dropout=0.5", "fixes=30")
        lessons = lessons_of(network, FitInput(problems, {}, settings))
        generator = torch.Generator().manual_seed(0)
        network.train()
        sizes[memory] = []
        for _ in range(6):
            losses = lessons.losses(batch, generator)
            assert len(losses) == len(lessons.lbf.buffer) > 0 and (losses > 0).all()
            sizes[memory].append(len(losses))
    assert sizes["buffer"] == sorted(sizes["buffer"]) and sizes["buffer"][-1] > sizes["buffer"][0]
    assert max(sizes["fresh"]) <= len(problems)


def test_every_fix_that_is_remembered_reaches_its_answer():
    problems = easy(4)
    model = fit(problems, "epochs=3", "fixes=20")
    row_of = {digest: row for row, digest in enumerate(digests(problems))}
    assert len(model.buffer) >= 4
    for problem, tree in model.buffer:
        row = row_of[problem]
        assert reaches(model.network.tokens.decode(tree), problems.numbers[row], problems.answers[row])


def test_a_problem_of_d_s_learns_its_gold_equation_and_is_not_fixed():
    problems = easy(2)
    settings = config()
    gold = parse("N0 * 1 + N1")
    data = FitInput(problems, {"0": gold, "1": parse("N0 - 7")}, settings)  # 7 is no constant here
    network, batch = network_of(problems)
    lessons = lessons_of(network, data)
    lessons.losses(batch, torch.Generator().manual_seed(0))
    assert [show(network.tokens.decode(tree)) for tree in lessons.of(0)] == ["N0 * 1 + N1"]
    assert not lessons.lbf.buffer.of(lessons.digests[0])
    assert lessons.gold[1] is None


def test_where_nothing_is_found_nothing_is_learnt():
    problems = problem_set(("Ann has 2 pears and 3 plums", math.sqrt(2) * 1e7))
    model = fit(problems, "epochs=2")
    assert [(epoch.loss, epoch.reached) for epoch in model.history] == [(0.0, 0.0)] * 2
    assert model.candidates(problems, GenerateConfig(width=5))[0].scored == ()


def test_candidates_are_what_is_remembered_and_what_fixing_makes_of_beams():
    problems = easy(3)
    model = fit(problems, "epochs=15", "fixes=30", "lr=0.02", "hidden=16")
    remembered = digests(problems)
    for i, found in enumerate(model.candidates(problems, GenerateConfig(width=3))):
        templates = {scored.template for scored in found.scored}
        assert {model.network.tokens.decode(tree) for tree in model.buffer.of(remembered[i])} <= templates
    unseen = problem_set(("Tom had 30 pears and found 11 more", 41))
    (found,) = model.candidates(unseen, GenerateConfig(width=60))
    assert found.scored and {scored.origin for scored in found.scored} == {"lbf"}
    several = problem_set(("Tom had 2 pears and found 2 more", 4))  # N0 + N1, N0 * N1: a beam is one of them
    (found,) = model.candidates(several, GenerateConfig(width=1, search=2))
    assert "search" in {scored.origin for scored in found.scored}
    assert model.candidates(unseen.take([]), GenerateConfig()) == []


def test_a_run_that_was_stopped_ends_with_the_same_weights_and_buffer(tmp_path):
    problems = easy(6)
    settings = ("fixes=10", "dropout=0.3")
    fit(problems, "epochs=4", *settings, folder=tmp_path / "whole")
    fit(problems, "epochs=2", *settings, folder=tmp_path / "stopped")
    fit(problems, "epochs=4", *settings, folder=tmp_path / "stopped", resume=True)
    for name in ("weights.safetensors", "training.safetensors", BUFFER):
        whole, resumed = load_weights(tmp_path / "whole" / name), load_weights(tmp_path / "stopped" / name)
        assert whole.keys() == resumed.keys()
        assert all(torch.equal(whole[key], resumed[key]) for key in whole)


def test_a_checkpoint_whose_fixes_do_not_give_the_answers_is_refused(tmp_path):
    problems = easy(3)
    fit(problems, "epochs=1", "fixes=30", folder=tmp_path)
    tensors = load_weights(tmp_path / "training.safetensors")
    with safe_open(tmp_path / "training.safetensors", "pt") as file:
        metadata = file.metadata()
    tensors["extra.tokens"][-1] = FIRST + 40  # a number that no problem has
    save_file(tensors, tmp_path / "training.safetensors", metadata)
    with pytest.raises(WarmkitError, match="not the state of this training"):
        fit(problems, "epochs=2", "fixes=30", folder=tmp_path, resume=True)


def test_a_model_without_its_buffer_is_not_whole(tmp_path):
    fit(easy(2), "epochs=1", folder=tmp_path)
    (tmp_path / BUFFER).unlink()
    with pytest.raises(WarmkitError, match=r"buffer\.safetensors: there is no such file"):
        load_model(tmp_path)


def test_operators_are_those_that_are_asked_for():
    network, _ = network_of(easy(2), "operators=-+")
    assert network.tokens.operators == ("+", "-")
    model = fit(easy(2), "operators=-+", "epochs=1", "fixes=30")
    signs = set(itertools.chain(*(show(model.network.tokens.decode(tree)) for _, tree in model.buffer)))
    assert not signs & set("*/^")
