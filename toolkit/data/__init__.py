"""Problem sets: schema, readers of public formats, number masking, vocabulary, splits, bundled problems."""

from toolkit.data.numbers import Operand, find_numbers
from toolkit.data.read import ProblemSet, read_problems
from toolkit.data.schema import PROBLEMS, BadRow, numbers_of
from toolkit.data.tokens import Masked, mask, number_token, tokenize
from toolkit.data.vocabulary import Vocabulary, build_vocabulary, vocabulary_of
from toolkit.data.write import write_table

__all__ = [
    "PROBLEMS",
    "BadRow",
    "Masked",
    "Operand",
    "ProblemSet",
    "Vocabulary",
    "build_vocabulary",
    "find_numbers",
    "mask",
    "number_token",
    "numbers_of",
    "read_problems",
    "tokenize",
    "vocabulary_of",
    "write_table",
]
