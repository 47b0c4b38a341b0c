"""The batch of a round: the features that the strategy needs, its choice, and the candidates shown."""

from typing import Any

import numpy as np
import polars as pl

from toolkit.active.acquire import Pool, Strategy, Votes, choose
from toolkit.active.confidence import Floats
from toolkit.active.cost import fit_seconds, predicted_seconds
from toolkit.annotators.llm import is_program
from toolkit.annotators.questions import ShownCandidate
from toolkit.annotators.wording import shown_candidates
from toolkit.data import Candidates, ProblemSet
from toolkit.errors import WarmkitError
from toolkit.loop.found import Ints
from toolkit.loop.generation import candidates_of
from toolkit.loop.gold import choose_gold
from toolkit.loop.ledger import GOLD, BatchItem
from toolkit.loop.state import RunState, digest
from toolkit.methods import StepOne

GOLD_REASON = "gold question: the equation is known"


def choose_batch(state: RunState, round_: int, model: StepOne, strategy: Strategy) -> list[BatchItem]:
    """The problems to ask about in this round, as the strategy chooses them."""
    config, settings = state.config, state.config.active
    rows, found = state.askable(round_), state.found(round_)
    size = settings.batch
    if config.stop.budget is not None:
        size = min(size, config.stop.budget - state.answered(round_))
    chosen = choose(
        strategy,
        _pool(state, round_, model, strategy, rows),
        size,
        np.random.default_rng([config.seed, round_]),
        unsolved_quota=settings.unsolved_quota,
        random_share=settings.random_share,
    )
    ids = state.stored.ids
    picked = [(str(ids[int(rows[choice.row])]), choice.why, str(choice.kind)) for choice in chosen]
    gold = choose_gold(state.given, state.stored, config, state.ledger.batch(), len(picked), found)
    if picked and gold:  # nobody is to know which they are
        places = np.random.default_rng([config.seed, round_, len(gold)])
        for problem_id in gold:
            picked.insert(int(places.integers(len(picked) + 1)), (problem_id, GOLD_REASON, GOLD))
    candidates = state.found_for(round_, {problem_id for problem_id, _, _ in picked}).candidates
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
    problems, most = state.stored.few({problem_id}), state.config.annotator.candidates
    shown = shown_candidates(problems, problem_id, rows["template"][:most])
    return tuple(
        sorted(shown, key=lambda candidate: digest(state.config.seed, round_, problem_id, *candidate))
    )


def _pool(state: RunState, round_: int, model: StepOne, strategy: Strategy, rows: Ints) -> Pool:
    """What the strategy looks at: columns of the askable rows; their problems only if it needs them."""
    found = state.found(round_)
    columns: dict[str, Any] = {}
    if strategy.needs & {"states", "dropout_votes"}:
        problems = state.problems.take(rows.tolist())
        if "states" in strategy.needs:
            columns["states"] = _states(model, problems)
            if known := state.known(round_):
                few = state.stored.few(known)
                columns["labelled_states"] = _states(model, few.take([few.row[name] for name in known]))
        if "dropout_votes" in strategy.needs:
            columns["dropout_votes"] = _dropout_votes(state, model, problems)
    if "seconds" in strategy.needs:
        columns["seconds"] = _seconds(state, round_, rows)
    operands = found.tops("numbers")["numbers"].cast(pl.Int64).to_numpy()[rows]
    return Pool(found.posteriors().take(rows), operands, **columns)


def _states(model: StepOne, problems: ProblemSet) -> Floats:
    states = model.states(problems) if len(problems) else np.zeros((0, 1))
    if states is None:
        raise WarmkitError(f"The method {model.name} has no encoder states, which the strategy needs.")
    return states


def _dropout_votes(state: RunState, model: StepOne, problems: ProblemSet) -> Votes:
    votes = []
    for seed in range(state.config.active.members):
        drawn = model.draw(problems, state.config.generate, seed)
        if drawn is None:
            raise WarmkitError(f"The method {model.name} has no dropout, which the strategy needs.")
        posteriors = candidates_of(drawn, problems, 1.0).posteriors
        votes.append([posteriors.get(problem_id, {}) for problem_id in problems.ids])
    return votes


def _seconds(state: RunState, round_: int, rows: Ints) -> Floats:
    """The seconds that a response takes, predicted from the annotators of this run so far."""
    found, most = state.found(round_), state.config.annotator.candidates

    def terms(tops: pl.DataFrame) -> tuple[pl.Series, pl.Series, pl.Series]:
        return tops["words"], tops["numbers"], tops["classes"].clip(upper_bound=most)

    times = [
        (response.problem_id, response.seconds)
        for response, _ in state.team().judged
        if response.seconds is not None and not is_program(response.annotator)
    ]
    seen = pl.DataFrame(times, schema={"problem_id": pl.String, "seconds": pl.Float64}, orient="row")
    seen = seen.join(found.tops_of(seen["problem_id"].to_list()), on="problem_id", maintain_order="left")
    weights = fit_seconds(*terms(seen), seen["seconds"])
    return predicted_seconds(*terms(found.tops("words", "numbers", "classes")[rows]), weights)
