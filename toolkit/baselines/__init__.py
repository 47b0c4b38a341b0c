"""The weakly supervised baselines of the paper (section 5.4), which learn or guess from answers alone."""

from toolkit.baselines.random_sampling import sample_random
from toolkit.baselines.seq2seq import train_seq2seq

__all__ = ["sample_random", "train_seq2seq"]
