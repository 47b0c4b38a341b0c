"""The batch of a round: what the strategy needs to know of each problem, its choice, and what is shown."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from toolkit.active.acquire import Pool, Votes, choose, find_strategy
from toolkit.active.candidates import candidates_table
from toolkit.active.confidence import Floats
from toolkit.active.cost import fit_seconds, predicted_seconds
from toolkit.data.candidates import by_class
from toolkit.loop.knowledge import Knowledge, digest
from toolkit.loop.ledger import Asked
from toolkit.warm.checkpoint import Trained
from toolkit.warm.generate import encoder_states, generate


def choose_batch(knowledge: Knowledge, round_: int, trained: Trained) -> list[Asked]:
    """The problems to ask about in this round, as the strategy of the run chooses them."""
    config, settings = knowledge.config, knowledge.config.active
    names, table = knowledge.askable(round_), knowledge.candidates(round_)
    batch = settings.batch
    if config.stop.budget is not None:
        batch = min(batch, config.stop.budget - knowledge.answered(round_))
    chosen = choose(
        settings.strategy,
        _pool(knowledge, round_, trained, names, table),
        batch,
        np.random.default_rng([config.seed, round_]),
        unsolved_quota=settings.unsolved_quota,
        random_share=settings.random_share,
    )
    return [
        Asked(round_, names[one.row], one.why, one.kind, _shown(knowledge, round_, names[one.row], table))
        for one in chosen
    ]


def _shown(knowledge: Knowledge, round_: int, name: str, table: pl.DataFrame) -> tuple[str, ...]:
    """The likeliest equations, in an order that says nothing of the model's favourite."""
    best = table.filter(pl.col("problem_id") == name)["equation"].head(knowledge.config.annotator.candidates)
    return tuple(sorted(best, key=lambda equation: digest(knowledge.config.seed, round_, name, equation)))


def _pool(
    knowledge: Knowledge, round_: int, trained: Trained, names: Sequence[str], table: pl.DataFrame
) -> Pool:
    needs = find_strategy(knowledge.config.active.strategy).needs
    rows = [knowledge.row[name] for name in names]
    problems = knowledge.problems[rows]
    columns: dict[str, Any] = {}
    if "states" in needs:
        labelled = knowledge.problems.filter(pl.col("id").is_in(list(knowledge.known(round_))))
        columns["states"] = encoder_states(trained, problems).numpy()
        columns["labelled_states"] = encoder_states(trained, labelled).numpy() if len(labelled) else None
    if "checkpoint_votes" in needs:
        rounds = range(max(1, round_ - knowledge.config.active.members + 1), round_ + 1)
        columns["checkpoint_votes"] = [_votes(knowledge.candidates(r), names) for r in rounds]
    if "dropout_votes" in needs:
        columns["dropout_votes"] = _dropout_votes(knowledge, trained, problems)
    if "seconds" in needs:
        columns["seconds"] = _seconds(knowledge, names, table)
    posteriors = [np.array(list(shares.values())) for shares in _votes(table, names)]
    operands = np.array([len(knowledge.numbers[row]) for row in rows], dtype=np.int64)
    return Pool(posteriors, operands, **columns)


def _votes(table: pl.DataFrame, names: Sequence[str]) -> list[dict[int, float]]:
    """The posterior of each problem's classes, likeliest first; of none where nothing was found."""
    found = by_class(table, "posterior")
    return [found.get(name, {}) for name in names]


def _dropout_votes(knowledge: Knowledge, trained: Trained, problems: pl.DataFrame) -> Votes:
    names, width = problems["id"].to_list(), knowledge.config.generate.width
    draws = (
        generate(trained, problems, width=width, dropout_seed=draw)
        for draw in range(knowledge.config.active.members)
    )
    return [_votes(candidates_table(draw, problems, 1.0), names) for draw in draws]


def _seconds(knowledge: Knowledge, names: Sequence[str], table: pl.DataFrame) -> Floats:
    """Predicted from what the annotators of this run took so far."""
    counts = dict(table.group_by("problem_id").len().iter_rows())
    most = knowledge.config.annotator.candidates

    def terms(of: Sequence[str]) -> tuple[list[int], list[int], list[int]]:
        words = [len(knowledge.problems["text"][knowledge.row[name]].split()) for name in of]
        operands = [len(knowledge.numbers[knowledge.row[name]]) for name in of]
        return words, operands, [min(most, counts.get(name, 0)) for name in of]

    seen = {name: one.seconds for name, one in knowledge.standings().items() if one.seconds is not None}
    weights = fit_seconds(*terms(list(seen)), list(seen.values()))
    return predicted_seconds(*terms(names), weights)
