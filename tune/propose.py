"""The next setting of a sweep that learns as it goes: Optuna's TPE (Bergstra et al. 2011).

Only the results are kept between two proposals. Each proposal is made from them alone, so a sweep that was
killed continues as if it had not been. A trial that failed or that ASHA stopped has no figure to learn from.
"""

import importlib.util
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from toolkit.config import MAX_SEED
from toolkit.errors import WarmkitError
from tune.config import Span, TuneConfig
from tune.plan import Trial, apply, canonical, draws
from tune.results import TrialResult, settings

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

ASKED = 20  # proposals of TPE; if all of them were tried before, random draws follow
DRAWN = 1000  # random draws at most
AT_FIRST = 10  # random settings to learn from; fewer if only a few are tried


def need_optuna(config: TuneConfig) -> None:
    if config.search == "tpe" and importlib.util.find_spec("optuna") is None:
        raise WarmkitError("search: tpe needs Optuna: pip install optuna, or set search: random.")


def propose(
    config: TuneConfig, plan: Sequence[Trial], results: Sequence[TrialResult]
) -> dict[str, Any] | None:
    """A setting that is not in the plan yet; None if there seems to be none left."""
    known = {canonical(apply(config.base, trial.keys)) for trial in plan}
    seed = (config.seed + len(plan)) % (MAX_SEED + 1)
    by_chance = draws(config.space, np.random.default_rng(seed))
    asked = itertools.islice(_likely(config, results, seed), ASKED)
    for keys in itertools.chain(asked, itertools.islice(by_chance, DRAWN)):
        if canonical(apply(config.base, keys)) not in known:
            return keys
    return None


def _likely(config: TuneConfig, results: Sequence[TrialResult], seed: int) -> Iterator[dict[str, Any]]:
    """Settings that may be better than those tried, without end."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    at_first = min(AT_FIRST, max(2, config.draws // 3))
    study = optuna.create_study(
        direction="maximize" if config.mode == "max" else "minimize",
        sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=at_first),
    )
    space = {key: _distribution(span) for key, span in config.space.items()}
    for setting in settings(results):
        value = setting.mean(config.metric)
        if value is not None:
            params = _params(config.space, setting.keys)
            study.add_trial(optuna.create_trial(params=params, distributions=space, value=value))
    while True:
        params = study.ask(space).params
        yield {
            key: params[key] if span.is_range else span.choice[params[key]]
            for key, span in config.space.items()
        }


def _distribution(span: Span) -> "BaseDistribution":
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not span.is_range:
        return CategoricalDistribution(range(len(span.choice)))  # indices: a value may be a list
    if isinstance(span.low, int) and isinstance(span.high, int):
        return IntDistribution(span.low, span.high, log=span.log)
    assert span.low is not None and span.high is not None
    return FloatDistribution(span.low, span.high, log=span.log)


def _params(space: Mapping[str, Span], keys: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: keys[key] if span.is_range else list(span.choice).index(keys[key]) for key, span in space.items()
    }
