"""The networks of published solvers: each writes whole equations, and knows how likely they are."""

import pytest
import torch

from toolkit.data import read_problems, vocabulary_of
from toolkit.equations import canonical, commuted, parse
from toolkit.nn.batches import to_tensors
from toolkit.nn.sequence import Form, postfix_of, prefix_of
from toolkit.nn.tokens import Tokens
from toolkit.solvers import SOLVERS
from toolkit.solvers.networks.dns import DnsNetwork
from toolkit.solvers.networks.seq2tree import TreeState, _family, _written
from toolkit.solvers.networks.stack import Stack
from toolkit.solvers.networks.t_rnn import TRnnNetwork
from toolkit.solvers.neural.config import SolverConfig
from toolkit.solvers.neural.solver import NeuralSolver

LONGEST = 9
CONFIG = SolverConfig(hidden=12, embedding=8, dropout=0.0, decoder_dropout=0.0).sized(10)
NETWORKS = {
    solver.network(member)
    for solver in SOLVERS.values()
    if issubclass(solver, NeuralSolver)
    for member in range(solver.sized(SolverConfig(), 0).members)
}
NAMED = sorted(NETWORKS, key=lambda kind: (kind is not DnsNetwork, kind.__name__))
EVERY_NETWORK = pytest.mark.parametrize("kind", NAMED, ids=lambda kind: kind.__name__)


@pytest.fixture(scope="module")
def problems():
    bundled = read_problems("bundled:en")
    short = bundled.table["equation"].str.len_chars() < 14
    return bundled.take(short.arg_true().to_list()[:20])


@pytest.fixture(scope="module")
def tokens(problems):
    return Tokens(problems.constants)


@pytest.fixture(scope="module")
def batch(problems):
    return to_tensors(problems, vocabulary_of(problems, 1, 0)).batch(torch.arange(len(problems)))


def new(kind, problems, tokens):
    torch.manual_seed(1)
    return kind(len(vocabulary_of(problems, 1, 0)), tokens, CONFIG).eval()


def trained(network, batch, prefixes, each=1):
    """The network after some steps with so many equations for each text."""
    owner = [i // each for i in range(len(prefixes))]
    optimizer = torch.optim.Adam(network.train().parameters(), lr=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        (-network.log_prob(batch, prefixes, owner, LONGEST).mean()).backward()
        optimizer.step()
    network.eval()


def test_a_postfix_and_a_prefix_are_inverse(problems, tokens):
    for template in problems.gold:
        prefix = tokens.encode(template)
        assert prefix_of(postfix_of(prefix, 5), 5) == tuple(prefix)
    assert postfix_of([0, 1, 7, 8, 9], 5) == [7, 8, 1, 9, 0]


@pytest.mark.parametrize("is_postfix", [True, False])
def test_only_whole_equations_of_a_length_can_be_written(is_postfix):
    """Whatever is allowed is taken at random: it ends in time, and is an equation."""
    operators, exists = 2, torch.tensor([[True, True, True, False, True]])
    generator = torch.Generator().manual_seed(0)
    for longest in (1, 3, 5, 7):
        for _ in range(50):
            form, written = Form.begin(1, 1, is_postfix, torch.device("cpu")), []
            while not form.done:
                allowed = form.allowed(exists, operators, longest - len(written), is_postfix)[0, 0].float()
                written.append(int(torch.multinomial(allowed, 1, generator=generator)))
                form = form.advance(torch.tensor([[written[-1]]]), operators, 5, is_postfix)
            tokens = written[:-1] if is_postfix else written
            prefix = prefix_of(tokens, operators) if is_postfix else tuple(tokens)
            assert len(prefix) <= longest and 3 not in prefix
            assert prefix_of(postfix_of(prefix, operators), operators) == prefix


@pytest.mark.parametrize("kind", NAMED[1:], ids=lambda kind: kind.__name__)
def test_a_beam_has_the_probability_of_its_equation(kind, problems, tokens, batch):
    """Beam search goes step by step; what is known is scored at once, or with several equations of a text.

    All but DNS, where the numbers that are left out of beam search have a probability too.
    """
    network = new(kind, problems, tokens)
    found = network.beams(batch, 4, LONGEST)
    flat = [(text, beam) for text, beams in enumerate(found) for beam in beams]
    assert all(found)
    known = network.log_prob(batch, [beam.prefix for _, beam in flat], [text for text, _ in flat], LONGEST)
    torch.testing.assert_close(known, torch.tensor([beam.log_prob for _, beam in flat]), atol=1e-4, rtol=1e-4)


@EVERY_NETWORK
def test_beams_are_equations_over_the_numbers_of_the_problem(kind, problems, tokens, batch):
    network = new(kind, problems, tokens)
    for beams, numbers in zip(network.beams(batch, 3, LONGEST), problems.numbers, strict=True):
        assert beams and len({beam.prefix for beam in beams}) == len(beams)
        assert [beam.log_prob for beam in beams] == sorted((beam.log_prob for beam in beams), reverse=True)
        for beam in beams:
            assert len(beam.prefix) <= LONGEST
            assert all(token < tokens.first_number + len(numbers) for token in beam.prefix)
            assert tokens.encode(tokens.decode(beam.prefix)) == list(beam.prefix)


@EVERY_NETWORK
def test_a_network_learns_what_it_is_shown(kind, problems, tokens, batch):
    network = new(kind, problems, tokens)
    prefixes = [tokens.encode(canonical(template)) for template in problems.gold]
    trained(network, batch, prefixes)
    found = network.beams(batch, 2, LONGEST)
    right = sum(beams[0].prefix == tuple(prefix) for beams, prefix in zip(found, prefixes, strict=True))
    assert right >= 18


@EVERY_NETWORK
def test_equations_of_one_text_do_not_touch_each_other(kind, problems, tokens, batch):
    network = new(kind, problems, tokens)
    forms = [[tokens.encode(form) for form in commuted(template, 2)] for template in problems.gold]
    flat = [(text, prefix) for text, prefixes in enumerate(forms) for prefix in prefixes]
    assert len(flat) > len(forms)
    together = network.log_prob(batch, [prefix for _, prefix in flat], [text for text, _ in flat], LONGEST)
    alone = network.log_prob(batch, [prefixes[0] for prefixes in forms], range(len(forms)), LONGEST)
    first = [next(i for i, (text, _) in enumerate(flat) if text == one) for one in range(len(forms))]
    torch.testing.assert_close(together[first], alone, atol=1e-5, rtol=1e-5)


def test_a_stack_holds_operands_and_what_operators_make_of_them():
    stack = Stack.empty(torch.zeros(1, 2, 1), 3)
    vector = torch.tensor([[[2.0], [5.0]]])
    for is_operator, operand in (([False, False], vector), ([False, False], vector + 1)):
        stack = stack.reduced(torch.tensor([is_operator]), operand, operand)
    assert stack.top().flatten().tolist() == [3, 6] and stack.top(1).flatten().tolist() == [2, 5]
    stack = stack.reduced(torch.tensor([[True, False]]), vector, torch.full_like(vector, 9))
    assert stack.top().flatten().tolist() == [9, 5] and stack.height.tolist() == [[1, 3]]
    assert stack.top(1).flatten().tolist() == [0, 6]  # nothing is below a single one


def test_a_tree_knows_what_is_above_and_beside_the_next_token():
    """+ (* a b) c: the states are told apart by the position at which they were written."""
    nothing = torch.zeros(1, 1, 16, 1)
    nobody, depth = nothing[..., 0] > 0, torch.zeros(1, 1).long()
    state = TreeState(*(torch.zeros(1, 1, 1),) * 3, nothing, nothing, nobody, depth)
    seen = []
    for position, is_operator in enumerate((True, True, False, False, False), 1):
        state = state._replace(hidden=torch.full((1, 1, 1), float(position)))
        state = _written(state, torch.tensor([[is_operator]]))
        seen.append(tuple(float(part) for part in _family(state)))
    # after +: below it; after *: below *; after a: beside a; after b: below +, beside *; after c: complete
    assert seen == [(1, 0), (2, 0), (2, 3), (1, 2), (0, 0)]


def test_numbers_that_do_not_matter_are_not_written(problems, tokens, batch):
    network, first = new(DnsNetwork, problems, tokens), tokens.first_number
    prefixes = [tokens.encode(parse("N0 * N0"))] * len(problems)
    trained(network, batch, prefixes)
    text = network.read(batch)
    narrowed = network.narrowed(text).allowed
    assert narrowed[:, : first + 1].all() and not narrowed[:, first + 1 :].any()
    assert text.allowed[:, first + 1 :].any()
    with torch.no_grad():
        network.significance.bias.fill_(-1e6)
    assert network.narrowed(text).allowed.equal(text.allowed)  # if no number mattered, none could be written


def test_beams_have_a_template_with_another_operator_too(problems, tokens, batch):
    network = new(TRnnNetwork, problems, tokens)
    two = [tokens.encode(parse(text)) for text in ("N0 + N1", "N0 - N1")]
    trained(network, batch, two * len(problems), each=2)
    for row, of_text in enumerate(network.beams(batch, 12, LONGEST)):
        prefixes = [beam.prefix for beam in of_text]
        templates = {tuple(network.written(prefix)) for prefix in prefixes}
        assert len(set(prefixes)) == 12 > len(templates)
        if len(problems.numbers[row]) > 1:
            assert {tuple(prefix) for prefix in two} == set(prefixes[:2])
        with torch.no_grad():
            scores = network.log_prob(batch, prefixes, [row] * 12, LONGEST)
        assert scores.tolist() == pytest.approx([beam.log_prob for beam in of_text], abs=1e-3)
        assert scores.tolist() == sorted(scores.tolist(), reverse=True)


def test_a_template_is_open_in_its_operators_and_the_likeliest_are_filled_in(problems, tokens, batch):
    network = new(TRnnNetwork, problems, tokens)
    prefix = tokens.encode(problems.gold[0])
    other = [(token + 1) % 4 if token < 4 else token for token in prefix]
    assert other != prefix and network.written(prefix) == network.written(other)
    with torch.no_grad():
        network.choose.bias.copy_(torch.tensor([0.0, 0.0, 50.0, 0.0, 0.0]))
        beams = network.beams(batch, 3, LONGEST)
    used = {token for of_text in beams for beam in of_text for token in beam.prefix if token < 5}
    assert used == {2}
