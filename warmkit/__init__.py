"""warmkit: equations for math word problems, learnt from their answers, with people in the loop.

    import warmkit

    problems = warmkit.read_problems("bundled:en")
    model = warmkit.train(problems, settings={"train.epochs": 5})
    candidates = warmkit.generate(model, problems)
    solver = warmkit.fit_solver(problems, candidates)

docs/api.md shows each name in a few lines. A name is loaded when it is first used, so importing warmkit is
quick: torch is loaded by what trains or solves.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotation.annotator import LabelStudio as LabelStudio
    from annotation.read import read_annotations as read_annotations
    from toolkit.active.acquire import STRATEGIES as STRATEGIES
    from toolkit.active.acquire import Choice as Choice
    from toolkit.active.acquire import Pool as Pool
    from toolkit.active.acquire import Strategy as Strategy
    from toolkit.annotators.file import FileAnnotator as FileAnnotator
    from toolkit.annotators.oracle import Oracle as Oracle
    from toolkit.annotators.questions import Annotator as Annotator
    from toolkit.annotators.questions import Question as Question
    from toolkit.annotators.questions import Response as Response
    from toolkit.annotators.terminal import Terminal as Terminal
    from toolkit.data import Candidates as Candidates
    from toolkit.data import ProblemSet as ProblemSet
    from toolkit.data import find_numbers as find_numbers
    from toolkit.data import read_candidates as read_candidates
    from toolkit.data import read_problems as read_problems
    from toolkit.data.constants import choose_constants as choose_constants
    from toolkit.equations import klass as klass
    from toolkit.equations import parse as parse
    from toolkit.equations import search as search
    from toolkit.equations import show as show
    from toolkit.equations import verify as verify
    from toolkit.errors import WarmkitError as WarmkitError
    from toolkit.loop.generation import generate as generate
    from toolkit.loop.loop import Loop as Loop
    from toolkit.loop.run import Run as Run
    from toolkit.loop.run import load_run as load_run
    from toolkit.methods import METHODS as METHODS
    from toolkit.methods import StepOne as StepOne
    from toolkit.methods import load_model as load_model
    from toolkit.methods import train as train
    from toolkit.solvers import SOLVERS as SOLVERS
    from toolkit.solvers import Solver as Solver
    from toolkit.solvers import fit_solver as fit_solver
    from toolkit.solvers import load_solver as load_solver
    from toolkit.solvers.answer import answer as answer
    from toolkit.solvers.evaluate import evaluate_solver as evaluate_solver

_NAMES = {
    "annotation.annotator": ["LabelStudio"],
    "annotation.read": ["read_annotations"],
    "toolkit.active.acquire": ["STRATEGIES", "Choice", "Pool", "Strategy"],
    "toolkit.annotators.file": ["FileAnnotator"],
    "toolkit.annotators.oracle": ["Oracle"],
    "toolkit.annotators.questions": ["Annotator", "Question", "Response"],
    "toolkit.annotators.terminal": ["Terminal"],
    "toolkit.data": ["Candidates", "ProblemSet", "find_numbers", "read_candidates", "read_problems"],
    "toolkit.data.constants": ["choose_constants"],
    "toolkit.equations": ["klass", "parse", "search", "show", "verify"],
    "toolkit.errors": ["WarmkitError"],
    "toolkit.loop.generation": ["generate"],
    "toolkit.loop.loop": ["Loop"],
    "toolkit.loop.run": ["Run", "load_run"],
    "toolkit.methods": ["METHODS", "StepOne", "load_model", "train"],
    "toolkit.solvers": ["SOLVERS", "Solver", "fit_solver", "load_solver"],
    "toolkit.solvers.answer": ["answer"],
    "toolkit.solvers.evaluate": ["evaluate_solver"],
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__version__: str
__all__ = [*sorted(_MODULES)]  # made of the table above


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("warmkit")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
