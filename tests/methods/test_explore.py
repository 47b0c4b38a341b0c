import math

import pytest
import torch
from answered import problem_set

from toolkit.config import load_config
from toolkit.data import ProblemSet, vocabulary_of
from toolkit.data.schema import MAX_NUMBERS
from toolkit.equations import klass, parse, reaches, show
from toolkit.methods.warm import Warm
from toolkit.methods.warm.config import WarmConfig
from toolkit.methods.warm.explore import explore, in_codes, path_log_prob
from toolkit.methods.warm.memory import Memory
from toolkit.methods.warm.train import batch_losses
from toolkit.nn.batches import to_tensors

PAPER = (
    "model.pointer=false",
    "model.pairs=0",
    "model.habits=false",
    "model.stop=false",
    "explore.lookahead=false",
)


def build(problems: ProblemSet, *overrides: str):
    config = load_config(
        WarmConfig, None, ("model.hidden=16", "model.embedding=8", "model.max_steps=4", *overrides)
    )
    vocabulary = vocabulary_of(problems)
    torch.manual_seed(0)
    model = Warm.new_network(len(vocabulary), problems.constants, config).eval()
    return config, model, to_tensors(problems, vocabulary)


EDGES = problem_set(
    ("He had 5 and 6 apples", 11.0),
    ("The answer 42 is already here, with 2", 42.0),
    ("Cold: 3 minus 9", -6.0),
    ("5 minus 5", 0.0),
    ("1,000,000 times 1000", 1e9),
    ("1 over 3", 1 / 3),
    ("zero 0 and 7", 7.0),
    ("10 shared by 3", 3.33),
    ("1,000,000,000 and 2", 1e9 + 1),  # one part in a billion from N0 + N1
)


@pytest.mark.parametrize("departures", [(), PAPER], ids=["default", "paper"])
@pytest.mark.parametrize("lookahead", [True, False])
def test_every_found_path_reaches_its_answer(departures, lookahead):
    _, model, data = build(EDGES, *departures)
    batch = data.batch(torch.arange(len(EDGES)))
    generator = torch.Generator().manual_seed(1)
    explored = explore(
        model, model.encode(batch), batch, width=8, lookahead=lookahead, extra_steps=1, generator=generator
    )
    found = in_codes(model, explored.found, batch.n)
    for problem, path in zip(found.problem.tolist(), found.paths.tolist(), strict=True):
        template = model.layout.template(path)
        assert reaches(template, EDGES.numbers[problem], EDGES.answers[problem]), show(template)
    if lookahead:
        assert set(found.problem.tolist()) == set(range(len(EDGES)))


def test_the_distribution_over_triplets_sums_to_one():
    _, model, data = build(EDGES)
    batch = data.batch(torch.arange(len(EDGES)))
    encoded = model.encode(batch)
    joint = model.decoder.joint(model.decoder.start(encoded, 2))
    torch.testing.assert_close(joint.log_prob.flatten(2).exp().sum(-1), torch.ones(len(EDGES), 2))


def test_a_scored_path_has_the_probability_of_its_steps():
    _, model, data = build(EDGES, "model.stop=false")
    batch = data.batch(torch.tensor([0]))
    encoded = model.encode(batch)
    path = torch.tensor([model.layout.path(parse("N0 + N1"), 2, 4)])
    slots = model.layout.to_slots(path, batch.n)
    joint = model.decoder.joint(model.decoder.start(encoded, 1)).log_prob
    op, left, right = slots[0, 0].tolist()
    expected = joint[0, 0, op, left, right]
    torch.testing.assert_close(path_log_prob(model, encoded, torch.tensor([0]), slots)[0], expected)


def test_paths_are_scored_together_as_alone():
    _, model, data = build(EDGES)
    batch = data.batch(torch.arange(len(EDGES)))
    encoded = model.encode(batch)
    texts = ["N0 + N1", "(N0 + N1) * N0 - 1", "N0 - N1", "N0 / N1 / N0"]
    paths = model.layout.to_slots(torch.tensor([model.layout.path(parse(t), 2, 4) for t in texts]), batch.n)
    together = path_log_prob(model, encoded, torch.tensor([0, 2, 3, 5]), paths)
    alone = [
        path_log_prob(model, encoded, torch.tensor([p]), paths[i : i + 1]) for i, p in enumerate([0, 2, 3, 5])
    ]
    torch.testing.assert_close(together, torch.cat(alone))


def test_padding_changes_nothing():
    problems = problem_set(
        ("He had 5 and 6 apples", 11.0), ("a much longer story with 7 and 8 and 9 and 10 things in it", 15.0)
    )
    _, model, data = build(problems)
    path = torch.tensor([model.layout.path(parse("N0 + N1"), 2, 4)])
    scores = []
    for rows in ([0], [0, 1]):
        batch = data.batch(torch.tensor(rows))
        slots = model.layout.to_slots(path, batch.n)
        scores.append(path_log_prob(model, model.encode(batch), torch.tensor([0]), slots)[0])
    torch.testing.assert_close(scores[0], scores[1])


def test_the_same_generator_finds_the_same_paths():
    _, model, data = build(EDGES, *PAPER)
    batch = data.batch(torch.arange(len(EDGES)))
    runs = [
        explore(
            model,
            model.encode(batch),
            batch,
            width=5,
            lookahead=False,
            extra_steps=0,
            generator=torch.Generator().manual_seed(7),
        ).found.paths
        for _ in range(2)
    ]
    assert runs[0].equal(runs[1])


@pytest.mark.parametrize("numbers", [1, 28])
@pytest.mark.parametrize(
    "departures", [(), (*PAPER, "train.memory=0", "train.penalty=1.0")], ids=["default", "paper"]
)
def test_gradients_are_finite_with_small_and_large_opdicts(numbers, departures):
    text = " and ".join(str(7 * i + 3) for i in range(numbers))
    problems = problem_set((text, 4.0), (text, 1e11 + 0.5), (text, 3.0))
    config, model, data = build(problems, *departures)
    model.train()
    memory = Memory(3, 8, 4, torch.device("cpu"))
    nothing_known = torch.full((3, 4, 3), -1)
    losses, reached = batch_losses(
        model,
        data.batch(torch.arange(3)),
        nothing_known,
        config,
        memory,
        torch.Generator().manual_seed(0),
    )
    losses.sum().backward()
    assert losses.isfinite().all()
    assert not reached[1]
    for name, parameter in model.named_parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all(), name


def test_a_word_never_seen_is_unknown_and_harmless():
    _, model, data = build(EDGES)
    batch = data.batch(torch.tensor([0]))
    unknown = batch.tokens.clone()
    unknown[unknown > MAX_NUMBERS + 1] = 1
    encoded = model.encode(type(batch)(**{**batch.__dict__, "tokens": unknown}))
    assert encoded.keys.isfinite().all()


def test_beam_search_finds_the_likeliest_hit_first():
    _, model, data = build(EDGES)
    batch = data.batch(torch.tensor([0]))
    encoded = model.encode(batch)
    found = explore(model, encoded, batch, width=5, lookahead=True, extra_steps=0, generator=None).found
    assert found.log_prob.tolist() == sorted(found.log_prob.tolist(), reverse=True)
    best = in_codes(model, found, batch.n).paths[0].tolist()
    assert klass(model.layout.template(best)) == klass(parse("N0 + N1"))
    assert math.isfinite(found.log_prob[0])
