"""The batch of a round: the features that the strategy needs, its choice, and the candidates shown."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from toolkit.active.acquire import Pool, Strategy, Votes, choose
from toolkit.active.confidence import Floats
from toolkit.active.cost import fit_seconds, predicted_seconds
from toolkit.annotators.llm import is_program
from toolkit.annotators.questions import ShownCandidate
from toolkit.annotators.wording import shown_candidates
from toolkit.data import Candidates, ProblemSet
from toolkit.errors import WarmkitError
from toolkit.loop.generation import candidates_of
from toolkit.loop.gold import choose_gold
from toolkit.loop.ledger import GOLD, BatchItem
from toolkit.loop.state import RunState, digest
from toolkit.methods import StepOne

GOLD_REASON = "gold question: the equation is known"


def choose_batch(state: RunState, round_: int, model: StepOne, strategy: Strategy) -> list[BatchItem]:
    """The problems to ask about in this round, as the strategy chooses them."""
    config, settings = state.config, state.config.active
    problem_ids, candidates = state.askable(round_), state.candidates(round_)
    size = settings.batch
    if config.stop.budget is not None:
        size = min(size, config.stop.budget - state.answered(round_))
    chosen = choose(
        strategy,
        _pool(state, round_, model, strategy, problem_ids, candidates),
        size,
        np.random.default_rng([config.seed, round_]),
        unsolved_quota=settings.unsolved_quota,
        random_share=settings.random_share,
    )
    picked: list[tuple[str, str, str]] = [
        (problem_ids[choice.row], choice.why, choice.kind) for choice in chosen
    ]
    gold = choose_gold(state.problems, config, state.ledger.batch(), len(picked), candidates)
    if picked and gold:  # nobody is to know which they are
        places = np.random.default_rng([config.seed, round_, len(gold)])
        for problem_id in gold:
            picked.insert(int(places.integers(len(picked) + 1)), (problem_id, GOLD_REASON, GOLD))
    return [
        BatchItem(round_, problem_id, why, kind, _shown(state, round_, problem_id, candidates))
        for problem_id, why, kind in picked
    ]


def _shown(
    state: RunState, round_: int, problem_id: str, candidates: Candidates
) -> tuple[ShownCandidate, ...]:
    """The likeliest equations, in an order that does not reveal which one the model prefers."""
    rows = candidates.by_problem.get(problem_id)
    if rows is None:
        return ()
    shown = shown_candidates(
        state.problems, problem_id, rows["template"][: state.config.annotator.candidates]
    )
    return tuple(
        sorted(shown, key=lambda candidate: digest(state.config.seed, round_, problem_id, *candidate))
    )


def _pool(
    state: RunState,
    round_: int,
    model: StepOne,
    strategy: Strategy,
    problem_ids: Sequence[str],
    candidates: Candidates,
) -> Pool:
    problems = state.problems.take([state.problems.row[problem_id] for problem_id in problem_ids])
    columns: dict[str, Any] = {}
    if "states" in strategy.needs:
        columns["states"] = _states(model, problems)
        labelled = [state.problems.row[problem_id] for problem_id in state.known(round_)]
        if labelled:
            columns["labelled_states"] = _states(model, state.problems.take(labelled))
    if "dropout_votes" in strategy.needs:
        columns["dropout_votes"] = _dropout_votes(state, model, problems)
    if "seconds" in strategy.needs:
        columns["seconds"] = _seconds(state, problem_ids, candidates)
    posteriors = [np.array(list(classes.values())) for classes in _votes(candidates, problem_ids)]
    operands = np.array([len(numbers) for numbers in problems.numbers], dtype=np.int64)
    return Pool(posteriors, operands, **columns)


def _states(model: StepOne, problems: ProblemSet) -> Floats:
    states = model.states(problems) if len(problems) else np.zeros((0, 1))
    if states is None:
        raise WarmkitError(f"The method {model.name} has no encoder states, which the strategy needs.")
    return states


def _votes(candidates: Candidates, problem_ids: Sequence[str]) -> list[dict[int, float]]:
    """The posterior of each problem's classes, likeliest first; empty if nothing was found."""
    return [dict(candidates.posteriors.get(problem_id, {})) for problem_id in problem_ids]


def _dropout_votes(state: RunState, model: StepOne, problems: ProblemSet) -> Votes:
    votes = []
    for seed in range(state.config.active.members):
        drawn = model.draw(problems, state.config.generate, seed)
        if drawn is None:
            raise WarmkitError(f"The method {model.name} has no dropout, which the strategy needs.")
        votes.append(_votes(candidates_of(drawn, problems, 1.0), problems.ids))
    return votes


def _seconds(state: RunState, problem_ids: Sequence[str], candidates: Candidates) -> Floats:
    """The seconds that a response takes, predicted from the annotators of this run so far."""
    most = state.config.annotator.candidates

    def terms(ids: Sequence[str]) -> tuple[list[int], list[int], list[int]]:
        rows = [state.problems.row[problem_id] for problem_id in ids]
        words = [len(state.problems.table["text"][row].split()) for row in rows]
        operands = [len(state.problems.numbers[row]) for row in rows]
        return words, operands, [min(most, len(candidates.scores.get(problem_id, ()))) for problem_id in ids]

    times = [
        (response.problem_id, response.seconds)
        for response, _ in state.team().judged
        if response.seconds is not None and not is_program(response.annotator)
    ]
    weights = fit_seconds(*terms([name for name, _ in times]), [seconds for _, seconds in times])
    return predicted_seconds(*terms(problem_ids), weights)
