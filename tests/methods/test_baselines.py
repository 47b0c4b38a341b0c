import math

import pytest
import torch
from answered import easy, problem_set

from toolkit.config import load_config
from toolkit.data import ProblemSet, build_vocabulary, read_problems
from toolkit.data.schema import MAX_NUMBERS
from toolkit.equations import DEFAULT_CONSTANTS, count_operators, from_prefix, reaches, show, to_prefix
from toolkit.equations.tree import references
from toolkit.methods import FitInput, FitOptions, GenerateConfig
from toolkit.methods.random_sampling.paths import OPERATORS, random_paths, sample_templates
from toolkit.methods.seq2seq import Seq2Seq
from toolkit.methods.seq2seq.config import Seq2SeqConfig
from toolkit.methods.seq2seq.network import (
    LONGEST,
    Drawn,
    Seq2SeqNetwork,
    draw,
    rewarded,
    sequence_log_prob,
    to_template,
)
from toolkit.methods.seq2seq.train import batch_losses
from toolkit.methods.warm.paths import Layout
from toolkit.nn.batches import to_tensors

SOME = read_problems("bundled:en").take(range(60))
NONE = SOME.take(range(0))
LAYOUT = Layout(DEFAULT_CONSTANTS, OPERATORS)
TOKENS = [*OPERATORS, *(show(constant) for constant in DEFAULT_CONSTANTS), *(f"N{j}" for j in range(64))]


IMPOSSIBLE = problem_set(("Ann has 2 pears and 3 plums", math.sqrt(2) * 1e7))
TWO_SIZES = problem_set(("Ann has 2 pears", 4), ("Ann has 2 pears, 3 plums, 5 figs and 7 dates", 17))


def sample_random(problems: ProblemSet, *, paths: int = 5, length: int = 40, seed: int = 0):
    """The shortest template that was sampled for each problem."""
    found = sample_templates(problems, paths=paths, length=length, seed=seed)
    return [templates[0] if templates else None for templates in found]


def train_seq2seq(problems: ProblemSet, *settings: str, seed: int = 0, on_epoch=lambda epoch: None):
    """The likeliest template of each problem, after training."""
    config = load_config(Seq2SeqConfig, None, settings)
    model = Seq2Seq.fit(FitInput(problems, {}, config, seed), None, FitOptions(on_epoch=on_epoch))
    generated = model.candidates(problems, GenerateConfig(width=config.beams))
    return [found.scored[0].template if found.scored else None for found in generated]


def reached(templates) -> set[int]:
    return {i for i, template in enumerate(templates) if template is not None}


def assert_all_reach(problems, templates):
    for values, answer, template in zip(problems.numbers, problems.answers, templates, strict=True):
        assert template is None or reaches(template, values, answer)


def model_of(problems: ProblemSet):
    torch.manual_seed(0)
    data = to_tensors(problems, build_vocabulary([], numbers=MAX_NUMBERS))
    model = Seq2SeqNetwork(2 + MAX_NUMBERS, problems.constants, Seq2SeqConfig(hidden=16, embedding=16))
    return model.eval(), data.all


def drawn_from(problems: ProblemSet, width: int, seed: int | None = 0):
    model, batch = model_of(problems)
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    operands = len(DEFAULT_CONSTANTS) + batch.counts
    encoded = model.encode(batch).detach()
    return model, batch, encoded, operands, draw(model, encoded, operands, width=width, generator=generator)


def written(tokens: torch.Tensor) -> list[str]:
    return [TOKENS[token] for token in tokens.tolist() if token >= 0]


# Random equation sampling


def test_every_template_that_was_sampled_reaches_its_answer():
    templates = sample_random(SOME)
    assert len(reached(templates)) > len(SOME) / 4
    assert_all_reach(SOME, templates)


def test_sampling_with_the_same_seed_gives_the_same_templates_and_another_seed_others():
    assert sample_random(SOME, seed=3) == sample_random(SOME, seed=3) != sample_random(SOME, seed=4)


def test_sampling_gives_nothing_for_an_answer_that_is_out_of_reach():
    assert sample_random(IMPOSSIBLE) == [None]


def test_sampling_takes_an_empty_table():
    assert sample_random(NONE) == []


@pytest.mark.parametrize("more", [{"paths": 12}, {"length": 80}, {"paths": 7, "length": 50}])
def test_more_or_longer_paths_reach_the_same_problems_and_others(more):
    assert reached(sample_random(SOME)) < reached(sample_random(SOME, **more))


def test_a_sampled_template_has_no_needless_steps_and_no_number_that_the_problem_has_not():
    templates = sample_random(TWO_SIZES, paths=400)
    assert [count_operators(template) for template in templates] == [1, 2]  # 2 * 5 + 7
    assert references(templates[0]) <= {0}


def test_a_path_that_reached_the_answer_ends_there():
    batch = to_tensors(SOME, build_vocabulary([], numbers=MAX_NUMBERS)).all
    generator = torch.Generator().manual_seed(0)
    problem, paths = random_paths(batch, LAYOUT, paths=5, length=40, generator=generator)
    assert len(problem) == len(paths) > 0
    there = paths[..., 0] >= 0
    assert (there[:, 1:] <= there[:, :-1]).all(), "steps stand without gaps"
    assert (there.sum(1) < 40).any()


def test_division_by_zero_and_huge_results_are_no_operands():
    problems = problem_set(("Ann has 0 pears and 999999999999 plums", 10.0**12))
    for template in sample_random(problems, paths=200):
        assert template is not None and "/ N0" not in show(template)


# Seq2seq


def test_seq2seq_learns_easy_problems_and_its_loss_stays_finite():
    problems, epochs = easy(8), []
    templates = train_seq2seq(problems, "epochs=50", "hidden=32", "batch=16", on_epoch=epochs.append)
    assert_all_reach(problems, templates)
    assert len(reached(templates)) >= 0.75 * len(problems)
    assert [figures.epoch for figures in epochs] == list(range(1, 51))
    assert all(math.isfinite(figures.loss) and 0 <= figures.reached <= 1 for figures in epochs)
    assert epochs[-1].reached > epochs[0].reached


def test_seq2seq_with_the_same_seed_gives_the_same_run_and_leaves_torch_as_it_was():
    runs = []
    before = torch.random.get_rng_state()
    for seed in (1, 1, 2):
        losses: list[float] = []
        templates = train_seq2seq(
            SOME,
            "epochs=2",
            "hidden=16",
            seed=seed,
            on_epoch=lambda figures, to=losses: to.append(figures.loss),
        )
        assert_all_reach(SOME, templates)
        runs.append((losses, templates))
    assert runs[0] == runs[1] and runs[0][0] != runs[2][0]
    assert torch.equal(before, torch.random.get_rng_state())


def test_seq2seq_gives_nothing_for_an_answer_that_is_out_of_reach():
    assert train_seq2seq(IMPOSSIBLE, "epochs=2", "hidden=16") == [None]


def test_seq2seq_takes_an_empty_table():
    model = Seq2Seq.fit(FitInput(easy(1), {}, Seq2SeqConfig(hidden=16, epochs=1)))
    assert model.candidates(NONE, GenerateConfig()) == []


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_prefixes_are_complete_and_different_and_have_only_numbers_of_their_problem(seed):
    _, _, _, _, drawn = drawn_from(TWO_SIZES, 200, seed)
    assert drawn.log_prob.isfinite().all()
    for tokens, count in zip(drawn.tokens, (1, 4), strict=True):
        prefixes = [written(prefix) for prefix in tokens]
        trees = [from_prefix(prefix) for prefix in prefixes]
        assert len({tuple(prefix) for prefix in prefixes}) == 200
        assert all(count_operators(tree) >= 1 and len(to_prefix(tree)) <= LONGEST for tree in trees)
        assert set().union(*map(references, trees)) == set(range(count))


def test_a_prefix_that_was_drawn_has_the_same_probability_when_it_is_scored():
    model, _, encoded, operands, drawn = drawn_from(TWO_SIZES, 20)
    for beam in range(20):
        again = sequence_log_prob(model, encoded, operands, drawn.tokens[:, beam])
        torch.testing.assert_close(again, drawn.log_prob[:, beam], rtol=1e-4, atol=1e-4)


def test_single_prefixes_are_drawn_as_often_as_they_are_probable():
    model, batch = model_of(problem_set(("Ann has 2 pears", 4)))
    many = 20_000
    encoded, operands = model.encode(batch).detach().expand(many, -1), (2 + batch.counts).expand(many)
    generator = torch.Generator().manual_seed(0)
    drawn = draw(model, encoded, operands, width=2, generator=generator)
    probable = draw(model, encoded[:1], operands[:1], width=3, generator=None)
    for tokens, log_prob in zip(probable.tokens[0], probable.log_prob[0].tolist(), strict=True):
        # The beam is sorted by its perturbed log-probability: its first is a plain sample.
        share = (drawn.tokens[:, 0] == tokens).all(-1).double().mean().item()
        p = math.exp(log_prob)
        assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / many)


def test_prefixes_are_rewarded_if_and_only_if_their_template_reaches_the_answer():
    problems = problem_set(
        ("Ann has 2 pears, 3 plums and 0 figs", 1),
        ("Ann has 3 pears", 2),
        ("Ann has 1,000,000,000 pears and 2 plums", 1e9 + 1),
    )
    _, batch, _, _, drawn = drawn_from(problems, 400)
    rewards = rewarded(drawn, batch, DEFAULT_CONSTANTS)
    for i, answer in enumerate(problems.answers):
        templates = [to_template(tokens.tolist(), DEFAULT_CONSTANTS) for tokens in drawn.tokens[i]]
        assert [show(t) for t in templates] == [show(from_prefix(written(t))) for t in drawn.tokens[i]]
        # 1 / (N0 - N0) is infinite to a float, so that 1 / (1 / 0) would be 0.
        expected = [reaches(template, problems.numbers[i], answer) for template in templates]
        assert rewards[i].tolist() == expected and any(expected)


def test_a_reward_makes_a_prefix_likelier_and_a_failure_makes_it_less_likely():
    for problems, sign in ((problem_set(("Ann has 2 pears", 4)), 1), (IMPOSSIBLE, -1)):
        model, batch = model_of(problems)
        generator = torch.Generator().manual_seed(0)
        nothing_known = torch.full((len(problems), LONGEST), -1)
        config = Seq2SeqConfig(beams=300, penalty=0.1)
        losses, found = batch_losses(model, batch, nothing_known, config, generator)
        assert found.tolist() == [sign > 0]
        assert (losses * sign > 0).all()


def test_the_best_prefix_is_the_most_probable_of_the_wanted_ones():
    drawn = Drawn(torch.zeros(1, 3, LONGEST), torch.tensor([[-1.0, -3.0, -2.0]]))
    assert drawn.best(torch.tensor([[False, True, True]])).tolist() == [2]
