"""Every number of the solvers that are networks as a key."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from toolkit.config import Section
from toolkit.nn.pretrained import PretrainedEncoder, read_pretrained

MANY = 10_000  # problems
BATCHES = 750  # of a training: after fewer a network has not learnt what so few problems teach
FEWEST_EPOCHS, MOST_EPOCHS = 50, 200  # of few problems
ANY_PROBLEMS = {"retrieval": 0.0}
FEW_PROBLEMS = {
    "members": 4,
    "hidden": 128,
    "dropout": 0.4,
    "decoder_dropout": 0.4,
    "word_dropout": 0.1,
    "lr": 2e-3,
}
MANY_PROBLEMS = {
    "members": 2,
    "hidden": 256,
    "epochs": 20,
    "dropout": 0.3,
    "decoder_dropout": 0.0,
    "word_dropout": 0.05,
    "lr": 1.5e-3,
}


class SolverConfig(Section):
    """A solver of networks. Keys that are null depend on the number of problems: below 10,000, or more."""

    encoder: str | PretrainedEncoder | None = Field(
        None, description="a folder with a pretrained BERT that reads the text; null: a GRU from scratch"
    )
    encoder_lr: float = Field(
        1e-4, gt=0, le=100, description="learning rate of what is pretrained; lr is that of the rest"
    )
    embedding: int = Field(128, ge=1, le=4_096)
    hidden: int | None = Field(
        None, ge=1, le=4_096, description="null: 128, of many problems 256; Xie and Sun: 512"
    )
    layers: int = Field(2, ge=1, le=16)
    number_features: bool = Field(True, description="a number is read with its kind and its rank")
    repeat_features: bool = Field(True, description="a word is read with whether it comes before or again")
    dropout: float | None = Field(
        None, ge=0, lt=1, description="in the encoder; null: 0.4, of many problems 0.3; Xie and Sun: 0.5"
    )
    decoder_dropout: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="of states, goals and contexts; null: 0.4, of many problems 0; Xie and Sun: 0.5",
    )
    word_dropout: float | None = Field(
        None, ge=0, lt=1, description="share of words unknown in training; null: 0.1, of many problems 0.05"
    )
    max_tokens: int = Field(31, ge=3, le=1_000, description="longest prefix; longer equations are not learnt")
    epochs: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="null: 50, of less than 480 problems up to 200, of many 20; Xie and Sun: 80",
    )
    later_epochs: int = Field(
        8, ge=1, le=1_000_000, description="epochs of a training that starts from another solver"
    )
    batch: int = Field(32, ge=1, le=1_000_000, description="Xie and Sun: 64")
    lr: float | None = Field(
        None, gt=0, le=100, description="null: 0.002, of many problems 0.0015; Xie and Sun: 0.001"
    )
    warm_up: float = Field(
        0.03, ge=0, lt=1, description="share of the steps until lr is reached; then it falls to zero"
    )
    average: float = Field(0.999, ge=0, lt=1, description="of the weights over steps; 0: the last ones")
    held_out: float = Field(
        0.05,
        ge=0,
        le=0.5,
        description="share of the problems that choose the best epoch, and teach how to rank beams",
    )
    patience: int = Field(
        0, ge=0, le=1_000_000, description="epochs without a better one that end training; 0: none do"
    )
    weight_decay: float = Field(1e-5, ge=0, le=100)
    clip: float = Field(5.0, gt=0, le=1e9)
    beam: int = Field(10, ge=1, le=1_000, description="beams at test time; Xie and Sun: 5")
    ranking: Literal["probability", "plausible", "learnt"] = Field(
        "learnt",
        description="of beams: by probability, by values and numbers as well, or as held-out problems teach",
    )
    target: Literal["best", "posterior"] = Field(
        "posterior", description="learn a problem's likeliest class, or all of them weighted by posterior"
    )
    forms: Literal["canonical", "written", "commuted"] = Field(
        "canonical", description="one order of sums and products, as written, or with operands exchanged too"
    )
    threshold: float = Field(0.0, ge=0, le=1, description="classes below this posterior are left out")
    min_count: int = Field(2, ge=1, le=1_000_000_000)
    joined: int = Field(
        5,
        ge=0,
        le=1_000_000_000,
        description="words of several Chinese characters are learnt that are seen so often; 0: none",
    )
    members: int | None = Field(
        None,
        ge=1,
        le=32,
        description="networks that vote; null: 4, of many problems 2, of math-en 3; Xie and Sun: 1",
    )
    retrieval: float | None = Field(
        None,
        ge=0,
        le=1,
        description="a learnt problem so alike gives its equation; 0: none; null: 0, of dns and t-rnn 0.7",
    )

    def sized(self, problems: int, defaults: Mapping[str, object] | None = None) -> "SizedConfig":
        """The configuration for so many problems: nothing is null. `defaults` are those of a solver.

        The encoder, if there is one, is described by its sizes.
        """
        by_size = MANY_PROBLEMS if problems >= MANY else FEW_PROBLEMS | {"epochs": self._epochs(problems)}
        given = {name: value for name, value in self.model_dump().items() if value is not None}
        if isinstance(self.encoder, str):
            given["encoder"] = read_pretrained(self.encoder)
        return SizedConfig.model_validate(ANY_PROBLEMS | by_size | dict(defaults or {}) | given)

    def _epochs(self, problems: int) -> int:
        """Of few problems: as many as make enough batches."""
        return min(MOST_EPOCHS, max(FEWEST_EPOCHS, -(-BATCHES * self.batch // max(problems, 1))))


class SizedConfig(SolverConfig):
    """The configuration of a network."""

    encoder: PretrainedEncoder | None = None
    hidden: int
    epochs: int
    dropout: float
    decoder_dropout: float
    word_dropout: float
    lr: float
    members: int
    retrieval: float
