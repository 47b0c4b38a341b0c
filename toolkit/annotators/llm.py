"""The settings of a language model that annotates: the section `llm` of a run.

The key is no setting. It comes from the environment, or from a file for its owner alone
(`annotation.llm.key`).
"""

from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from toolkit.annotators.account import Spent
from toolkit.config import Section

_NAME = "llm "


def annotator_name(model: str) -> str:
    """The name under which a model annotates."""
    return _NAME + model


def is_program(annotator: str) -> bool:
    """Whether an annotator is a model, whose time is nobody's."""
    return annotator.startswith(_NAME)


class Budget(Section):
    """What a run may spend; what is on its way when it is spent still counts. null: no limit."""

    requests: int | None = Field(None, ge=0, le=10**12)
    tokens: int | None = Field(None, ge=0, le=10**15, description="of questions and replies")
    money: float | None = Field(None, ge=0, le=1e12, description="in the currency of price")


class Price(Section):
    """Of a million tokens."""

    question: float = Field(0.0, ge=0, le=1e9)
    reply: float = Field(0.0, ge=0, le=1e9)


class LlmConfig(Section):
    """A language model behind the OpenAI chat protocol. Nothing is sent unless there is a url."""

    url: str | None = Field(None, description="of the server, with /v1 if it has one; null: none is asked")
    model: str = Field("default", max_length=200, description="the server's name of the model")
    temperature: float = Field(0.7, ge=0, le=10)
    samples: int = Field(3, ge=1, le=100, description="replies to a problem, at most")
    agree: int = Field(2, ge=1, le=100, description="replies of one class that settle a problem")
    concurrency: int = Field(4, ge=1, le=256, description="requests at a time")
    demonstrations: int = Field(4, ge=0, le=50, description="solved problems of D_s shown with a problem")
    show_answer: bool = Field(False, description="tell the model the answer; then it proves less")
    structured: Literal["schema", "object", "words"] = Field(
        "schema", description="ask for JSON of a schema, for any JSON object, or for JSON in words alone"
    )
    max_tokens: int = Field(256, ge=1, le=1_000_000, description="of a reply")
    timeout: float = Field(120.0, gt=0, le=86_400, description="seconds until the next byte of a reply")
    propose: int = Field(
        0, ge=0, le=1_000_000_000, description="uncertain problems of a round for which it adds candidates"
    )
    budget: Budget = Budget()
    price: Price = Price()

    @model_validator(mode="after")
    def _can_agree(self) -> Self:
        if self.agree > self.samples:
            context = {"agree": self.agree, "samples": self.samples}
            raise PydanticCustomError("agree", "{agree} of {samples} replies can't agree", context)
        return self

    def money(self, spent: Spent) -> float | None:
        """What was spent, in money; None if the model has no price."""
        price = self.price
        if not price.question and not price.reply:
            return None
        return (price.question * spent.question_tokens + price.reply * spent.reply_tokens) / 1e6
