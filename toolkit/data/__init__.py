"""Problem sets: schema, readers of public formats, number masking, vocabulary, splits, bundled problems."""

from toolkit.data.candidates import Candidates, as_candidates, read_candidates
from toolkit.data.numbers import Operand, find_numbers
from toolkit.data.problems import ProblemSet, as_problem_set
from toolkit.data.read import read_problems
from toolkit.data.schema import PROBLEMS, BadRow
from toolkit.data.tokens import Masked, mask, number_token, tokenize
from toolkit.data.vocabulary import Vocabulary, build_vocabulary, vocabulary_of
from toolkit.data.write import write_table

__all__ = [
    "PROBLEMS",
    "BadRow",
    "Candidates",
    "Masked",
    "Operand",
    "ProblemSet",
    "Vocabulary",
    "as_candidates",
    "as_problem_set",
    "build_vocabulary",
    "find_numbers",
    "mask",
    "number_token",
    "read_candidates",
    "read_problems",
    "tokenize",
    "vocabulary_of",
    "write_table",
]
