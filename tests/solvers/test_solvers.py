import json
from xml.etree import ElementTree

import polars as pl
import pytest
import torch
from click.testing import CliRunner
from commands import sets
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from trees import references, trees

from toolkit.cli import main
from toolkit.cli.hints import with_hint
from toolkit.config import load_config
from toolkit.data import Candidates, ProblemSet, read_problems, write_table
from toolkit.data.problems import texts_as_problems
from toolkit.data.schema import CANDIDATES, PROBLEMS
from toolkit.equations import DEFAULT_CONSTANTS, EquationError, evaluate, klass, parse, show
from toolkit.errors import WarmkitError
from toolkit.nn.batches import to_tensors
from toolkit.nn.tokens import Tokens
from toolkit.nn.tree.beam import GrowingTrees, beam_search
from toolkit.nn.tree.decoder import TreeDecoder
from toolkit.nn.tree.forest import Forest
from toolkit.solvers import Solver, SolverInput, find_solver, load_solver
from toolkit.solvers.evaluate import evaluate_solver, without_question
from toolkit.solvers.networks.graph2tree import cell_graph, comparison_graph
from toolkit.solvers.neural.config import SolverConfig
from toolkit.solvers.neural.examples import make_examples
from toolkit.solvers.published import Gts

TOKENS = Tokens(DEFAULT_CONSTANTS)
SMALL = (
    "hidden=48",
    "embedding=32",
    "epochs=40",
    "batch=32",
    "lr=0.008",
    "dropout=0.1",
    "decoder_dropout=0.1",
    "max_tokens=9",
    "members=1",
)


@pytest.fixture(scope="module")
def problems() -> ProblemSet:
    bundled = read_problems("bundled:en")
    short = bundled.table["equation"].str.len_chars() < 10
    return bundled.take(short.arg_true().to_list()[:120])


def fit(name: str, problems: ProblemSet, config: SolverConfig) -> Solver:
    """A solver that learnt from all gold equations."""
    return find_solver(name).fit(SolverInput(problems, problems.gold_templates, None, config))


def one_problem(text: str, answer: float, equation: str) -> ProblemSet:
    row = ("a", text, answer, equation, "en", None)
    return ProblemSet(pl.DataFrame([row], schema=PROBLEMS, orient="row"))


@pytest.fixture(scope="module", params=["gts", "graph2tree"])
def solver(request, problems) -> Solver:
    return fit(request.param, problems, load_config(SolverConfig, None, SMALL))


def test_tokens_and_templates_are_inverse():
    for text in ("N0 - N1", "π * N0 * N0", "(N0 + 1) / N12"):
        assert TOKENS.decode(TOKENS.encode(parse(text))) == parse(text)
    assert TOKENS.encode(parse("N0 * 100")) is None


def _source(decoder: TreeDecoder, count: int = 1, hidden: int = 4):
    return decoder.source(
        torch.randn(count, 3, hidden),
        torch.zeros(count, 3).bool(),
        torch.randn(count, hidden),
        torch.randn(count, 16, hidden),
        torch.ones(count, 16).bool(),
    )


def test_trees_are_scored_together_as_alone(solver, problems):
    some = problems.take(range(12))
    known = SolverInput(some, some.gold_templates, None, solver.config)
    examples = make_examples(known, solver.config, solver.networks[0].tokens)
    data = to_tensors(some, solver.vocabulary)
    network = solver.networks[0]

    def score(rows):
        owner = list(range(len(rows)))
        prefixes = [examples.prefixes[i] for i in rows]
        forest = Forest.of(prefixes, owner, 5, solver.config.max_tokens, torch.device("cpu"))
        return network.decoder.log_prob(network.source(data.batch(examples.row[rows])), forest)

    with torch.no_grad():
        together = score(range(len(examples.row)))
        alone = [score([i]) for i in range(len(examples.row))]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-4, atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.lists(trees(references, size=8), min_size=1, max_size=4))
def test_level_by_level_gives_the_probability_that_step_by_step_does(templates):
    """Training computes levels of known trees, beam search positions of growing ones: one model, two ways."""
    torch.manual_seed(len(templates))
    prefixes = [TOKENS.encode(template) for template in templates]
    decoder, longest = TreeDecoder(4, 5, 0.0), 15
    source = _source(decoder, 2)
    owner = [i % 2 for i in range(len(prefixes))]  # a text may have several trees
    with torch.no_grad():
        by_level = decoder.log_prob(source, Forest.of(prefixes, owner, 5, longest, torch.device("cpu")))
        by_step = torch.zeros(len(prefixes))
        for i, prefix in enumerate(prefixes):
            state = GrowingTrees(decoder, source.rows(torch.tensor([owner[i]])), 1, longest)
            for token in prefix:
                assert not state.done[0]
                by_step[i] += state.next_scores()[0, 0, token]
                state.advance(torch.tensor([[0]]), torch.tensor([[token]]))
            assert state.done[0]
            assert int(state.missing[0]) == 0
    torch.testing.assert_close(by_level, by_step, rtol=1e-4, atol=1e-4)


def test_a_beam_has_the_probability_of_its_tree_however_often_beams_changed_places():
    torch.manual_seed(0)
    decoder, longest = TreeDecoder(8, 5, 0.0), 9
    for weight in decoder.parameters():
        weight.data *= 2.0  # unlike probabilities: texts finish at different positions
    source = _source(decoder, 6, hidden=8)
    with torch.no_grad():
        found = beam_search(decoder, source, 12, longest)
        for row, beams in enumerate(found):
            assert len({beam.prefix for beam in beams}) == len(beams) > 1
            assert [beam.log_prob for beam in beams] == sorted((b.log_prob for b in beams), reverse=True)
            prefixes = [beam.prefix for beam in beams]
            forest = Forest.of(prefixes, [0] * len(prefixes), 5, longest, torch.device("cpu"))
            expected = decoder.log_prob(source.rows(torch.tensor([row])), forest)
            torch.testing.assert_close(
                torch.tensor([b.log_prob for b in beams]), expected, rtol=1e-4, atol=1e-4
            )


def test_a_solver_learns_what_it_is_shown(solver, problems):
    found = evaluate_solver(solver, problems)
    assert found.answers.share > 0.6
    assert found.equations.share <= found.answers.share
    assert found.answers.low <= found.answers.share <= found.answers.high
    assert sum(share.count for share in found.by_steps.values()) == len(problems)


def test_solutions_are_whole_trees_over_the_numbers_of_the_problem(solver, problems):
    for solutions, text in zip(solver.solve(problems, top=3), problems.table["text"], strict=True):
        assert 1 <= len(solutions) <= 3, text
        assert [s.probability for s in solutions] == sorted((s.probability for s in solutions), reverse=True)
        assert len({show(s.template) for s in solutions}) == len(solutions)


def test_a_saved_solver_solves_the_same(solver, problems, tmp_path):
    solver.save(tmp_path)
    assert load_solver(tmp_path).solve(problems) == solver.solve(problems)


def test_the_same_seed_gives_the_same_solver(problems):
    config = load_config(SolverConfig, None, (*SMALL, "epochs=1", "members=2"))
    once, again = (fit("gts", problems, config) for _ in range(2))
    for network, same in zip(once.networks, again.networks, strict=True):
        for name, tensor in network.state_dict().items():
            assert tensor.equal(same.state_dict()[name]), name
    first, second = (network.state_dict() for network in once.networks)
    assert any(not tensor.equal(second[name]) for name, tensor in first.items())


def candidates(*rows: tuple[str, str, float]) -> Candidates:
    full = [
        (name, "", template, klass(parse(template)), -1.0, share, 1, "warm") for name, template, share in rows
    ]
    return Candidates(pl.DataFrame(full, schema=CANDIDATES, orient="row"))


@pytest.mark.parametrize(
    ("overrides", "gold", "expected"),
    [
        ((), False, [("N0 + N1", 0.7), ("N0 * N1", 0.3)]),
        (("target=best",), False, [("N0 + N1", 0.7)]),
        (("threshold=0.5",), False, [("N0 + N1", 0.7)]),
        ((), True, [("N0 - N1", 1.0)]),
    ],
)
def test_candidates_are_weighted_by_posterior_and_gold_comes_first(overrides, gold, expected):
    problems = one_problem("5 and 3", 2.0, "5-3")
    table = candidates(("a", "N0 + N1", 0.7), ("a", "N0 * N1", 0.3), ("elsewhere", "N0", 1.0))
    config = load_config(SolverConfig, None, overrides)
    known = problems.gold_templates if gold else {}
    examples = make_examples(SolverInput(problems, known, table, config), config, TOKENS)
    found = [
        (show(TOKENS.decode(prefix)), pytest.approx(weight))
        for prefix, weight in zip(examples.prefixes, examples.weight.tolist(), strict=True)
    ]
    assert found == expected


def test_without_anything_to_learn_from_it_says_so(problems):
    with pytest.raises(WarmkitError, match="no equation to learn from"):
        Gts.fit(SolverInput(problems, {}, None, SolverConfig()))


def test_graphs_join_numbers_with_their_words_and_with_smaller_numbers(solver):
    problems = texts_as_problems(["aa bb 9 cc dd ee ff gg hh 4 ii"], ["en"])
    batch = to_tensors(problems, solver.vocabulary).batch(torch.tensor([0]))
    cells, larger = cell_graph(batch)[0] > 0, comparison_graph(batch)[0] > 0
    nine, four = batch.positions[0].tolist()
    assert cells[nine].nonzero().flatten().tolist() == [0, 1, 2, 3, 4, 5]
    assert larger[nine, four]
    assert not larger[four, nine]
    torch.testing.assert_close(cell_graph(batch).sum(-1), torch.ones(1, batch.tokens.shape[1]))


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        ("Tom has 5.5 apples. He eats 2. How many are left?", "Tom has 5.5 apples. He eats 2."),
        ("राम के पास 5 आम हैं। उसने 2 खाए। कितने बचे?", "राम के पास 5 आम हैं। उसने 2 खाए।"),
        ("How many are 5 and 6?", "How many are 5 and 6?"),
    ],
)
def test_the_question_can_be_left_out(text, shorter):
    assert without_question(text) == shorter


def run(*arguments: object, stdin: str | None = None):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_fit_solve_and_evaluate_from_the_command_line(problems, tmp_path):
    data, folder = tmp_path / "data.jsonl", tmp_path / "solver"
    write_table(problems.table.head(40), data)
    settings = sets((*SMALL, "epochs=3"))
    fitted = json.loads(
        run("solver", "fit", data, "--out", folder, "--test", data, *settings, "--json").stdout
    )
    described = json.loads((folder / "solver.json").read_text(encoding="utf-8"))
    assert (described["config"]["epochs"], fitted["problems"]) == (3, 40)
    assert 0 <= fitted["class_accuracy"] <= fitted["answer_accuracy"] <= 1
    assert run("solver", "fit", data, "--out", folder).exit_code == 1
    solved = json.loads(run("solve", "--model", folder, "Tom had 12 apples and ate 5.", "--json").stdout)
    template = parse(solved["template"])
    try:
        value = float(evaluate(template, [12, 5]))
    except EquationError:
        value = None
    assert solved["answer"] == (pytest.approx(value) if value is not None else None)
    lines = "5 and 6\n\n7 and 8\n"
    many = run("solve", "--model", folder, "--json", stdin=lines).stdout.splitlines()
    assert [json.loads(line)["text"] for line in many] == ["5 and 6", "7 and 8"]
    (tmp_path / "lines.txt").write_text(lines, encoding="utf-8")
    assert (
        run("solve", "--model", folder, "--json", "--file", tmp_path / "lines.txt").stdout.splitlines()
        == many
    )
    assert "confidence" in run("solve", "--model", folder, "Tom had 12 apples and ate 5.").output
    nothing = run("solve", "--model", folder, "no number here")
    assert nothing.exit_code == 1
    assert "no number" in nothing.output
    long = run("solve", "--model", folder, "word 5 " * 5_000)
    assert (long.exit_code, "characters; at most" in long.output) == (1, True)
    strange = json.loads(run("solve", "--model", folder, "zorp 5 blip 6 quux frob", "--json").stdout)
    assert strange["unlike_training"]
    evaluated = json.loads(run("evaluate", "--model", folder, data, "--json").stdout)
    assert evaluated["problems"] == evaluated["answers"]["count"] == 40
    assert evaluated["answer_accuracy"] == evaluated["answers"]["share"] == fitted["answer_accuracy"]
    assert evaluated["class_accuracy"] == fitted["class_accuracy"]
    assert sum(sum(row.values()) for row in evaluated["confusion"].values()) == 40
    plot = tmp_path / "confusion.svg"
    assert "answers without the question" in run("evaluate", "--model", folder, data, "--plot", plot).output
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")
    assert run("solve", "--model", tmp_path / "none", "5 and 6").exit_code == 1


def test_equations_may_be_learnt_in_canonical_or_commuted_forms():
    problems = one_problem("5 and 3 and 2", 16.0, "2*(3+5)")

    def learnt(forms: str) -> dict[str, float]:
        config = load_config(SolverConfig, None, (f"forms={forms}",))
        known = SolverInput(problems, problems.gold_templates, None, config)
        examples = make_examples(known, config, TOKENS)
        return {
            show(TOKENS.decode(prefix)): weight
            for prefix, weight in zip(examples.prefixes, examples.weight.tolist(), strict=True)
        }

    assert learnt("written") == {"N2 * (N1 + N0)": 1.0}
    assert learnt("canonical") == {"(N0 + N1) * N2": 1.0}
    commuted = learnt("commuted")
    assert set(commuted.values()) == {0.25}
    assert set(commuted) == {"N2 * (N1 + N0)", "N2 * (N0 + N1)", "(N1 + N0) * N2", "(N0 + N1) * N2"}


def test_candidates_with_unknown_constants_are_named(problems):
    table = candidates((problems.ids[0], "N0 * 100", 1.0))
    with pytest.raises(
        WarmkitError, match=r"the candidate N0 \* 100 uses 100, which is no constant"
    ) as caught:
        Gts.fit(SolverInput(problems, {}, table, SolverConfig()))
    assert "--constants 1,π,100" in with_hint(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize("damage", ["truncated", "foreign", "not json", "other format"])
def test_a_damaged_solver_is_a_sentence(solver, tmp_path, damage):
    solver.save(tmp_path)
    weights, described = tmp_path / "weights.safetensors", tmp_path / "solver.json"
    if damage == "truncated":
        weights.write_bytes(weights.read_bytes()[:1000])
    elif damage == "foreign":
        save_file({"x": torch.zeros(2)}, weights)
    elif damage == "not json":
        described.write_text("{", encoding="utf-8")
    else:
        described.write_text("[]", encoding="utf-8")
    with pytest.raises(WarmkitError, match=str(tmp_path)):
        load_solver(tmp_path)


def test_members_vote_by_the_class_of_their_equations(problems):
    config = load_config(SolverConfig, None, (*SMALL, "epochs=2", "members=2", "ranking=probability"))
    both = fit("gts", problems, config)
    some = problems.take([0])
    votes: dict[int, float] = {}
    for network in both.networks:
        alone = Gts([network], both.vocabulary, both.ranker, config, both.constants)
        for solution in alone.solve(some, top=10)[0]:
            its_class = klass(solution.template)
            votes[its_class] = votes.get(its_class, 0.0) + solution.probability / 2
    best = both.solve(some)[0][0]
    assert best.probability == pytest.approx(max(votes.values()))
    assert votes[klass(best.template)] == max(votes.values())


def test_what_is_not_given_depends_on_the_number_of_problems(problems):
    few, many = SolverConfig().sized(9_999), SolverConfig().sized(10_000)
    assert (few.hidden, few.epochs, many.hidden, many.epochs) == (128, 50, 256, 20)
    assert [SolverConfig().sized(problems).epochs for problems in (0, 100, 300, 480)] == [200, 200, 80, 50]
    assert SolverConfig(batch=8).sized(300).epochs == 50
    assert SolverConfig(hidden=8, dropout=0.0).sized(10_000).hidden == 8
    assert SolverConfig(hidden=8, dropout=0.0).sized(10_000).dropout == 0.0
    solver = fit("gts", problems.take(range(8)), load_config(SolverConfig, None, ("epochs=1", "members=1")))
    assert solver.config.hidden == 128
