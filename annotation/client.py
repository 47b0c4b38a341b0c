"""A client of Label Studio whose errors are sentences.

    with Client(find_connection()) as client, client.translated("listing the projects"):
        projects = list(client.sdk.projects.list(request_options=READ))

The SDK repeats reads that fail. It must not repeat writes (a POST whose answer got lost would be done twice):
whoever writes checks afterwards what has arrived. Legacy tokens and personal access tokens both work.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, Self

from annotation.keys import KEY, Connection
from toolkit.errors import WarmkitError

if TYPE_CHECKING:
    import httpx
    from label_studio_sdk import LabelStudio
    from label_studio_sdk.core.request_options import RequestOptions

READ: "RequestOptions" = {"max_retries": 2}
WRITE: "RequestOptions" = {"max_retries": 0}
TIMEOUT = 60.0  # seconds without a byte
LONGEST = 300  # characters of a server's answer that a message quotes

_SECRETS = re.compile(r"\b(?:Token|Bearer)\s+[\w.-]{16,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*")  # headers and JWTs
_MARKUP = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)


class LabelStudioError(WarmkitError):
    """Label Studio did not do what was asked."""


class Unreachable(LabelStudioError):
    """The server is down, too slow or too busy: try again later."""


class Refused(LabelStudioError):
    """The key is wrong or expired, or its user may not do this."""


class Gone(LabelStudioError):
    """What was asked for does not exist, or no longer."""


class Client:
    """The SDK's client of a connection. It is made at its first use: the SDK takes seconds to load."""

    def __init__(self, connection: Connection, timeout: float = TIMEOUT) -> None:
        self.connection = connection
        self._timeout = timeout
        self._http: httpx.Client | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the sockets. The client can still be used again."""
        http, self._http = self._http, None
        if http is not None:
            self.__dict__.pop("sdk", None)
            http.close()

    @property
    def url(self) -> str:
        return self.connection.url

    @cached_property
    def sdk(self) -> "LabelStudio":
        import httpx
        from label_studio_sdk import LabelStudio

        self._http = httpx.Client(
            timeout=self._timeout,
            follow_redirects=False,  # a key is sent to the address that the user named and to no other
            trust_env=not self.connection.is_local,  # no proxy leads to this machine
        )
        with self.translated("reading the key"):
            return LabelStudio(
                base_url=self.url + "/",  # without the slash, a personal token loses the path of the address
                api_key=self.connection.key,
                timeout=self._timeout,
                max_retries=0,
                httpx_client=self._http,
            )

    @contextmanager
    def translated(self, what: str) -> Iterator[None]:
        """Errors of the network, the server and the SDK become sentences that say `what` was being done."""
        import httpx
        from label_studio_sdk.core.api_error import ApiError
        from label_studio_sdk.core.parse_error import ParsingError
        from pydantic import ValidationError

        try:
            yield
        except httpx.LocalProtocolError:  # its text holds the key
            raise Refused(f"{self.url}: {what}: the key can't be sent. Copy it again.") from None
        except httpx.TimeoutException:
            raise Unreachable(
                f"{self.url}: {what}: no answer in {self._timeout:.0f} seconds. Try again later."
            ) from None
        except (httpx.HTTPError, httpx.StreamError) as error:
            start = " Start it with: warmkit annotate serve" if self.connection.is_local else ""
            raise Unreachable(
                f"{self.url}: {what}: the server can't be reached ({self._quote(error)}). "
                f"Is it running, and is the address right?{start}"
            ) from None
        except httpx.InvalidURL as error:
            raise LabelStudioError(f"{self.url}: {what}: {self._quote(error)}.") from None
        except ApiError as error:
            raise self._error(what, error.status_code or 0, error.body, error.headers or {}) from None
        except (ParsingError, ValidationError, JSONDecodeError, UnicodeDecodeError) as error:
            raise LabelStudioError(
                f"{self.url}: {what}: the answer is not from Label Studio ({self._quote(error)}). "
                "Check address and version: warmkit annotate connect URL --check"
            ) from None

    def _error(self, what: str, status: int, body: Any, headers: dict[str, str]) -> LabelStudioError:
        """The error for an answer with such a status."""
        start = f"{self.url}: {what}:"
        detail = self._quote(body)
        quoted = f" ({detail})" if detail else ""
        if status == 401:
            return Refused(
                f"{start} the key is wrong or expired, or it is a legacy token and those are turned off"
                f"{quoted}. Make a new one in Label Studio, Account & Settings, then: "
                f"warmkit annotate connect {self.url}, or set {KEY}."
            )
        if status == 403:
            return Refused(f"{start} the key's user may not do this{quoted}.")
        if status == 404:
            return Gone(f"{start} it does not exist, or was deleted{quoted}.")
        if status == 429:
            return Unreachable(f"{start} the server asks to go slower (429). Try again later.")
        if status == 408 or status >= 500:
            return Unreachable(f"{start} the server failed ({status}). Try again later, or see its log.")
        if 300 <= status < 400:
            target = self._quote({key.lower(): value for key, value in headers.items()}.get("location", ""))
            return LabelStudioError(f"{start} the server redirects to {target}. Connect to that address.")
        if 200 <= status < 300:
            return LabelStudioError(f"{start} the answer is not from Label Studio. Check the address.")
        return LabelStudioError(f"{start} Label Studio answered {status}{quoted}.")

    def _quote(self, quoted: object) -> str:
        """Text of the server for a message of ours: one short line, no markup, no key."""
        if isinstance(quoted, dict):
            quoted = next(
                (quoted[name] for name in ("validation_errors", "detail") if quoted.get(name)), quoted
            )
        text = redacted(str(quoted or ""), self.connection.key)
        text = " ".join(_MARKUP.sub(" ", text).split()).rstrip(".")
        text = "".join(character for character in text if character.isprintable())
        return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def redacted(text: str, key: str) -> str:
    """A text without the key, or anything that looks like one."""
    return _SECRETS.sub("[key]", text.replace(key, "[key]"))
