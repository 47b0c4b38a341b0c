"""One request of the OpenAI chat protocol, and what its answer says. Nothing is repeated here.

Whatever a server sends is checked: an answer that is not of the protocol is a failure, and the tokens that it
claims to have used count only as far as the request and the reply can have had them.
"""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from annotation.answers import OddAnswer, printable
from annotation.http import Http, HttpAnswer, HttpRequest
from annotation.keys import clean_url, is_loopback
from annotation.llm.prompt import Message
from annotation.llm.reply import SCHEMA
from toolkit.annotators.llm import LlmConfig
from toolkit.errors import WarmkitError

LONGEST = 100_000  # characters of a reply that are kept
PER_MESSAGE = 16  # tokens that a server may add to each message
_Tokens = Annotated[int, Field(ge=0)]


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message


class _Usage(BaseModel):
    prompt_tokens: _Tokens = 0
    completion_tokens: _Tokens = 0


class _Completion(BaseModel):
    """The part of an answer that is read."""

    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: _Usage | None = None


@dataclass(frozen=True)
class Reply:
    """What a model wrote, and what it cost."""

    text: str
    question_tokens: int
    reply_tokens: int
    seconds: float


@dataclass(frozen=True)
class Failure:
    """A request without a reply. `wait` is how many seconds the server wants to be left alone."""

    reason: str
    wait: float = 0.0


class Refused(WarmkitError):
    """The server refuses such requests: repeating them does not help."""


class Chat:
    """A model behind a URL. One thread uses it: each has its own."""

    def __init__(self, config: LlmConfig, key: str | None) -> None:
        self.config, self._key = config, key
        self.url = chat_url(config)
        self._http = Http(config.timeout, is_loopback(urlsplit(self.url).hostname or ""))

    def close(self) -> None:
        self._http.close()

    def ask(self, messages: Sequence[Message], seed: int) -> Reply | Failure:
        """The reply to a conversation. Raises `Refused`."""
        import httpx

        content = json.dumps(body_of(self.config, messages, seed), ensure_ascii=False)
        begun = time.perf_counter()
        try:
            answer = self._http.send(
                HttpRequest("POST", self.url, content=content),
                None if self._key is None else f"Bearer {self._key}",
            )
        except httpx.HTTPError as error:
            return Failure(f"it can't be reached ({type(error).__name__})")
        except OddAnswer as error:
            return Failure(f"its answer can't be used: {error}")
        seconds = time.perf_counter() - begun
        if answer.is_passing:
            return Failure(f"it answers with status {answer.status}", _wait(answer))
        if answer.status != 200:
            raise Refused(
                f"{self.url} refuses the request with status {answer.status}{self._said(answer.body)}."
            )
        try:
            found = _Completion.model_validate_json(answer.body)
        except ValidationError:
            return Failure("its answer is not of the chat protocol")
        text = printable(found.choices[0].message.content or "")[:LONGEST]
        return Reply(text, *self._tokens(found.usage, content, len(messages), text), seconds)

    def _tokens(self, usage: _Usage | None, sent: str, messages: int, text: str) -> tuple[int, int]:
        """Tokens of the question and of the reply: as claimed, but no more than there can be.

        A token has a byte at least. A server that claims nothing has used a token for every three bytes.
        """
        sent_bytes, text_bytes = len(sent.encode()), len(text.encode())
        if usage is None:
            return math.ceil(sent_bytes / 3), math.ceil(text_bytes / 3)
        most = max(self.config.max_tokens, text_bytes)
        return min(usage.prompt_tokens, sent_bytes + PER_MESSAGE * messages), min(
            usage.completion_tokens, most
        )

    def _said(self, body: bytes) -> str:
        """What the server says about it, if it says something; never the key."""
        try:
            message = json.loads(body)["error"]["message"]
        except (ValueError, LookupError, TypeError, RecursionError):
            return ""
        if not isinstance(message, str) or (self._key is not None and self._key in message):
            return ""
        return f": {printable(message)[:200].strip().rstrip('.')}"


def body_of(config: LlmConfig, messages: Sequence[Message], seed: int) -> dict[str, Any]:
    """The body of a request: everything that its reply depends on, besides the server."""
    body: dict[str, Any] = {
        "model": config.model,
        "messages": list(messages),
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
        "seed": seed,
    }
    if config.structured == "schema":
        schema = {"name": "equation", "schema": SCHEMA, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif config.structured == "object":
        body["response_format"] = {"type": "json_object"}
    return body


def chat_url(config: LlmConfig) -> str:
    """The URL of chat completions; an error if the configuration has no URL."""
    if config.url is None:
        raise WarmkitError("There is no language model to ask: llm.url is not set.", "no-llm")
    url = clean_url(config.url)
    return url if url.endswith("/chat/completions") else f"{url}/chat/completions"


def _wait(answer: HttpAnswer) -> float:
    """Retry-After in seconds: it is a number, or a date."""
    written = answer.headers.get("retry-after", "")
    try:
        seconds = float(written)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(written) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0
